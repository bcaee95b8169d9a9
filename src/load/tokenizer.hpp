// GPT-2's byte-level BPE: text to token ids and back. A text is cut into pieces (`pretokenize`), each piece
// merged from its bytes (`byte_pairs`), and each symbol that is left has an id.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/merges.hpp"
#include "load/vocabulary.hpp"
#include "trace/token.hpp"

namespace onehead {

class Tokenizer {
public:
    // Reads merges.txt of the folder; vocab.json only where its ids do not follow from the merges. Throws an
    // Error that names the file, and for merges.txt the line, where one is not what it should be.
    explicit Tokenizer(std::filesystem::path const& folder);

    // The ids of a text. Throws a UsageError that names the byte where the text is not valid UTF-8.
    // No special token is recognised: "<|endoftext|>" is seven tokens, as any other text.
    std::vector<int> encode(std::string_view text) const;

    std::string bytes(int id) const;  // throws a UsageError if the vocabulary has no such id
    std::string decode(std::vector<int> const& ids) const;
    int size() const;             // 50257
    std::size_t longest() const;  // the bytes of the longest token

private:
    Merges merges_;
    std::optional<Vocabulary>
        vocabulary_;  // none: a symbol's number is its id, and one special token follows
};

}  // namespace onehead
