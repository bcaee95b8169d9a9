// GPT-2's byte-level BPE: text to token ids and back. A text is cut into pieces (words with the space before
// them, numbers, other signs, white space); each piece begins as its bytes, and the two neighbours whose
// merge was learned first become one symbol, again and again. Each symbol that is left has an id.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/trace/trace.hpp"

namespace onehead {

class Tokenizer {
public:
    // Reads merges.txt and vocab.json of the folder, or tokenizer.json where they are not there. Further
    // tokens come from added_tokens.json and tokenizer_config.json. Throws an Error that names the file, and
    // for merges.txt the line, where one is not what it should be.
    explicit Tokenizer(std::filesystem::path const& folder);
    ~Tokenizer();
    Tokenizer(Tokenizer const&) = delete;
    Tokenizer(Tokenizer&&) = delete;
    Tokenizer& operator=(Tokenizer const&) = delete;
    Tokenizer& operator=(Tokenizer&&) = delete;

    // The ids of a text. Throws a UsageError that names the byte where the text is not valid UTF-8, or holds
    // a byte that this vocabulary lacks. No special token is recognised: "<|endoftext|>" is seven tokens, as
    // any other text, and no token is put in front.
    std::vector<int> encode(std::string_view text) const;

    std::string bytes(int id) const;  // throws a UsageError if the vocabulary has no such id
    std::string decode(std::vector<int> const& ids) const;
    Token token(int id) const;  // of any id; without bytes where the vocabulary has no such id

    int size() const;                      // 50257: one more than the largest id
    std::size_t longest() const;           // the bytes of the longest token
    std::optional<int> id_of_end() const;  // of <|endoftext|>
    bool adds_space() const;               // tokenizer_config.json has add_prefix_space

private:
    struct Parts;
    std::unique_ptr<Parts const> parts_;
};

// Throws a UsageError about that field of a request, which names the byte, where its text is not valid UTF-8.
void expect_utf8(std::string const& field, std::string_view text);

// A folder's tokenizer, read when it is first asked for: a run that is given token ids needs none.
class LazyTokenizer {
public:
    explicit LazyTokenizer(std::filesystem::path folder) : folder_(std::move(folder)) {}

    Tokenizer const& get() const {
        std::call_once(once_, [this] { tokenizer_.emplace(folder_); });
        return *tokenizer_;
    }

private:
    std::filesystem::path folder_;
    mutable std::once_flag once_;
    mutable std::optional<Tokenizer> tokenizer_;
};

// GPT-2's alphabet. Its files write each of the 256 bytes as one visible character, so that text files can
// hold them: the 188 visible characters of Latin-1 stand for themselves, the other bytes are moved to U+0100
// and up: a space is U+0120.
std::string in_alphabet(std::string_view bytes);

// The bytes that a text in the alphabet stands for; nothing if a character is not of the alphabet.
std::optional<std::string> bytes_of(std::string_view characters);

}  // namespace onehead
