// merges.txt: what training a byte pair encoding leaves behind. Each line names two symbols that become one
// where they meet; earlier lines go first. Symbols are numbered: the 256 bytes, then one for each line.
// Encoding asks one question all the time, whether two neighbours merge, and that is to look up a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/trace/trace.hpp"

namespace onehead {

class Merges {
public:
    // Throws an Error if the file cannot be read, or is none that one could work with. What its lines say
    // is left to `check`.
    explicit Merges(std::filesystem::path const& file);

    // Throws an Error that names the line unless each line is two symbols with a space between them, each a
    // byte or made by an earlier line, and comes once.
    void check() const;

    std::string_view text() const { return text_; }  // as it was read, with LF alone at the end of every line
    int size() const;                                // 256 + the number of lines

    // The characters of a symbol, in GPT-2's alphabet.
    std::string characters(int symbol) const;

    // The symbol that two neighbours become, both given in GPT-2's alphabet; none if they do not merge.
    std::optional<int> merged(std::string_view left, std::string_view right) const;

private:
    static constexpr int n_bytes = 256;

    std::size_t n_lines() const { return begins_.size() - 1; }
    void insert(std::uint64_t hash);
    std::optional<std::size_t> find(std::string_view wanted) const;  // the index of a line
    std::string_view line(std::size_t index) const;

    std::filesystem::path file_;
    std::size_t first_line_ = 1;  // 2 after a line "#version: ..."
    std::string text_;
    std::vector<std::uint32_t>
        begins_;  // where each line begins in the text, and one more where the text ends
    std::vector<std::uint32_t> slots_;  // hash table of the lines: index of a line plus 1, or 0
};

// vocab.json: the id of each symbol. GPT-2's own follows from its merges alone, so this is read only for a
// model whose vocabulary is another.

struct Vocabulary {
    std::vector<std::string> bytes;  // by id
    std::vector<int> ids;            // by symbol

    int size() const { return static_cast<int>(bytes.size()); }
};

// Throws an Error unless the file is one JSON object that gives each symbol of the merges, and perhaps
// further tokens, an id of its own, counting from 0 without a gap.
Vocabulary read_vocabulary(std::filesystem::path const& file, Merges const& merges);

// GPT-2's byte-level BPE: text to token ids and back. A text is cut into pieces (`pretokenize`), each piece
// merged from its bytes (`byte_pairs`), and each symbol that is left has an id.

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
// and up: a space is U+0120. In the vocabulary the single bytes come in that order too, visible ones first.

struct ByteSymbol {
    int number = 0;               // 0 to 255
    std::string_view characters;  // one character, as UTF-8
};

ByteSymbol const& symbol_of_byte(char byte);

// The symbol with that number, 0 to 255.
ByteSymbol const& byte_symbol(int number);

// The bytes that a text in the alphabet stands for; nothing if a character is not of the alphabet.
std::optional<std::string> bytes_of(std::string_view characters);

// Byte pair encoding of one piece of text: it begins as single bytes; the two neighbours whose merge comes
// first in merges.txt become one symbol, the leftmost such pair first, until no two neighbours merge.

// Keeps its memory from piece to piece.
class BytePairs {
public:
    explicit BytePairs(Merges const& merges) : merges_(merges) {}

    // Appends the symbols of a piece of at most 1 GiB. Takes n log n steps, however long the piece is.
    void encode(std::string_view piece, std::vector<int>& symbols);

private:
    // A symbol in place. Its index in `parts_` is where it begins in `characters_`; the next one begins where
    // it ends.
    struct Part {
        std::uint32_t length = 0;
        std::uint32_t previous = 0;
        int symbol = 0;
        int merged = none;  // what it becomes with the next one; none also if it is no part any more
    };

    // A part that merges with its next, as one number, so that the heap is quick: the symbol it becomes, then
    // the place. Out of date when that part says otherwise meanwhile.
    using Candidate = std::uint64_t;

    static constexpr int none = -1;

    void split_into_bytes(std::string_view piece);
    void propose(std::uint32_t left);
    void merge(std::uint32_t left);
    std::uint32_t end() const { return static_cast<std::uint32_t>(parts_.size()); }
    std::uint32_t next(std::uint32_t part) const { return part + parts_[part].length; }
    std::string_view characters(std::uint32_t part) const {
        return {&characters_[part], parts_[part].length};
    }

    Merges const& merges_;
    std::string characters_;  // the piece in GPT-2's alphabet
    std::vector<Part> parts_;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>
        candidates_;  // the first to merge on top
};

// Before any merge, GPT-2 cuts a text into pieces: words, numbers, runs of other signs, each with the one
// space before it, and runs of white space. No token reaches over the edge of a piece.

// How many bytes the piece has that begins at `at`. The text must be valid UTF-8 and `at` the end of a piece
// or 0.
std::size_t piece_length(std::string_view text, std::size_t at);

}  // namespace onehead
