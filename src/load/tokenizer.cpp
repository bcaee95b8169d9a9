// In GPT-2 the ids are the numbers of the symbols: the bytes, then one for each merge, then <|endoftext|>.
// Whether a folder holds GPT-2's own two files is told by their content; any others are checked and read in
// full.
#include "load/tokenizer.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "error.hpp"
#include "load/byte_pairs.hpp"
#include "load/byte_symbols.hpp"
#include "load/known_file.hpp"
#include "load/pretokenize.hpp"
#include "trace/utf8.hpp"

namespace onehead {

namespace {

constexpr KnownFile gpt2_merges{456318, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"};
constexpr KnownFile gpt2_vocabulary{1042301,
                                    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"};

void require_utf8(std::string_view text) {
    std::size_t const at = find_invalid_utf8(text);
    if (at == std::string_view::npos) return;
    throw UsageError(fmt::format("text, byte {}: expected UTF-8, found {}; save or pass the text as UTF-8",
                                 at, label(text.substr(at, 1))));
}

}  // namespace

Tokenizer::Tokenizer(std::filesystem::path const& folder) : merges_(folder / "merges.txt") {
    std::filesystem::path const vocabulary = folder / "vocab.json";
    if (is_known(merges_.text(), gpt2_merges) && is_known(vocabulary, gpt2_vocabulary)) return;
    merges_.check();
    vocabulary_ = read_vocabulary(vocabulary, merges_);
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
    require_utf8(text);
    BytePairs byte_pairs(merges_);
    std::vector<int> tokens;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = piece_length(text, at);
        byte_pairs.encode(text.substr(at, length), tokens);
        at += length;
    }
    if (!vocabulary_) return tokens;
    for (int& token : tokens) token = vocabulary_->ids[static_cast<std::size_t>(token)];
    return tokens;
}

int Tokenizer::size() const {
    return vocabulary_ ? vocabulary_->size() : merges_.size() + 1;
}

std::size_t Tokenizer::longest() const {
    std::size_t longest = 0;
    for (int id = 0; id < size(); ++id) longest = std::max(longest, bytes(id).size());
    return longest;
}

std::string Tokenizer::bytes(int id) const {
    if (id < 0 || id >= size()) {
        throw UsageError(
            fmt::format("token id {}: expected one from 0 to {}; choose an id of this model's vocabulary", id,
                        size() - 1));
    }
    if (vocabulary_) return vocabulary_->bytes[static_cast<std::size_t>(id)];
    if (id == merges_.size()) return "<|endoftext|>";
    return bytes_of(merges_.characters(id)).value();
}

std::string Tokenizer::decode(std::vector<int> const& ids) const {
    std::string text;
    for (int const id : ids) text += bytes(id);
    return text;
}

}  // namespace onehead
