// In GPT-2 the ids are the numbers of the symbols: the bytes, then one for each merge, then <|endoftext|>.
// Whether a folder holds GPT-2's own two files is told by their content; any others are checked and read in
// full.
#include "onehead/model/tokenizer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/trace/trace.hpp"

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

// The expression is GPT-2's own. Its \s means Unicode's White_Space, as in the Python module `regex` that
// GPT-2 uses: with U+0085, without U+001C to U+001F, U+180E and U+FEFF. The \s of PCRE2 takes U+180E too, and
// JavaScript's takes U+FEFF and not U+0085, so the property is asked for by name. Upper-case 'S is no
// contraction: GPT-2 sees to case.

std::size_t piece_length(std::string_view text, std::size_t at) {
    static Regex const piece(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+)"
                             R"(|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)");
    return piece.match_length(text, at);
}

// A merge makes at most two new pairs, with its neighbours. So instead of looking at all pairs after each
// merge, those that can merge wait in a heap.

void BytePairs::split_into_bytes(std::string_view piece) {
    characters_.clear();
    parts_.clear();
    parts_.reserve(2 * piece.size());
    std::uint32_t previous = 0;
    for (char const byte : piece) {
        auto const& [symbol, characters] = symbol_of_byte(byte);
        std::uint32_t const begin = end();
        characters_ += characters;
        parts_.resize(characters_.size());
        parts_[begin] = {static_cast<std::uint32_t>(characters.size()), previous, symbol, none};
        previous = begin;
    }
}

void BytePairs::propose(std::uint32_t left) {
    std::uint32_t const right = next(left);
    parts_[left].merged =
        right == end() ? none : merges_.merged(characters(left), characters(right)).value_or(none);
    if (parts_[left].merged == none) return;
    candidates_.push(static_cast<Candidate>(parts_[left].merged) << 32U | left);
}

void BytePairs::merge(std::uint32_t left) {
    std::uint32_t const right = next(left);
    parts_[left].symbol = parts_[left].merged;
    parts_[left].length += parts_[right].length;
    parts_[right].merged = none;
    if (next(left) < end()) parts_[next(left)].previous = left;
    if (left > 0) propose(parts_[left].previous);
    propose(left);
}

void BytePairs::encode(std::string_view piece, std::vector<int>& symbols) {
    split_into_bytes(piece);
    for (std::uint32_t at = 0; at < end(); at = next(at)) propose(at);
    while (!candidates_.empty()) {
        Candidate const first = candidates_.top();
        candidates_.pop();
        auto const left = static_cast<std::uint32_t>(first);
        if (parts_[left].merged == static_cast<int>(first >> 32U)) merge(left);
    }
    for (std::uint32_t at = 0; at < end(); at = next(at)) symbols.push_back(parts_[at].symbol);
}

// Every direction is a table.

namespace {

constexpr std::size_t n_bytes = 256;
constexpr std::size_t n_characters = 0x144;  // the last of the alphabet is U+0143

constexpr bool is_visible(std::size_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
    std::array<std::array<char, 2>, n_bytes> utf8{};
    std::array<ByteSymbol, n_bytes> by_byte;
    std::array<std::size_t, n_bytes> byte_by_number{};
    std::array<std::optional<char>, n_characters> byte_by_character;

    Alphabet() {
        std::size_t moved_to = 0x100;
        for (bool const visible : {true, false}) {
            for (std::size_t byte = 0; byte < n_bytes; ++byte) {
                if (is_visible(byte) == visible) add(byte, visible ? byte : moved_to++);
            }
        }
    }

    void add(std::size_t byte, std::size_t character) {
        byte_by_character[character] = static_cast<char>(byte);
        byte_by_number[n_added] = byte;
        by_byte[byte] = {static_cast<int>(n_added++), encode(byte, character)};
    }

    std::string_view encode(std::size_t byte, std::size_t character) {
        if (character < 0x80) utf8[byte] = {static_cast<char>(character), '\0'};
        if (character >= 0x80)
            utf8[byte] = {static_cast<char>(0xC0 | character >> 6),
                          static_cast<char>(0x80 | (character & 0x3F))};
        return {utf8[byte].data(), character < 0x80 ? 1U : 2U};
    }

    std::size_t n_added = 0;
};

Alphabet const& alphabet() {
    static Alphabet const alphabet;
    return alphabet;
}

}  // namespace

ByteSymbol const& symbol_of_byte(char byte) {
    return alphabet().by_byte[static_cast<unsigned char>(byte)];
}

ByteSymbol const& byte_symbol(int number) {
    return alphabet().by_byte[alphabet().byte_by_number.at(static_cast<std::size_t>(number))];
}

std::optional<std::string> bytes_of(std::string_view characters) {
    std::string bytes;
    for (std::size_t at = 0; at < characters.size();) {
        auto const [character, length] = code_point_at(characters, at);
        if (length == 0 || character >= n_characters || !alphabet().byte_by_character[character])
            return std::nullopt;
        bytes += *alphabet().byte_by_character[character];
        at += length;
    }
    return bytes;
}

// A hash table with open addressing over the text as it was read: 50,000 lines and no allocation for any of
// them, so that a program that encodes one sentence starts at once.

namespace {

constexpr std::size_t largest_file = 16U << 20U;
constexpr std::size_t most_lines = 500'000;  // GPT-2's has 50000

// Among different lines, in a table that is at most half full, no search is as long as this.
constexpr std::size_t longest_search = 256;

// FNV-1a, a byte at a time, so that lines are hashed while their ends are being looked for.
constexpr std::uint64_t empty_hash = 0xCBF29CE484222325;

constexpr std::uint64_t hash_of(std::uint64_t hash, char next) {
    return (hash ^ static_cast<unsigned char>(next)) * 0x100000001B3;
}

std::uint64_t hash_of(std::string_view line) {
    return std::accumulate(line.begin(), line.end(), empty_hash,
                           [](auto hash, char c) { return hash_of(hash, c); });
}

// With LF at the end of every line and without CR, which no symbol contains.
std::string read_lines(std::filesystem::path const& file) {
    std::string text = read_text_file(file, largest_file);
    if (text.find('\r') != std::string::npos) std::erase(text, '\r');
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

std::size_t end_of_version(std::string_view text) {
    return text.starts_with("#version") ? text.find('\n') + 1 : 0;
}

}  // namespace

Merges::Merges(std::filesystem::path const& file) : file_(file), text_(read_lines(file)) {
    std::size_t const first = end_of_version(text_);
    first_line_ = first == 0 ? 1 : 2;
    auto const lines_at_most = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
    if (lines_at_most > most_lines)
        throw Error(fmt::format("{}: expected at most {} merges, found {} lines; get the file again",
                                file_.string(), most_lines, lines_at_most));
    slots_.resize(std::bit_ceil(2 * lines_at_most));
    begins_.reserve(lines_at_most + 1);
    begins_.push_back(static_cast<std::uint32_t>(first));
    std::uint64_t hash = empty_hash;
    for (std::size_t at = first; at < text_.size(); ++at) {
        if (text_[at] != '\n') {
            hash = hash_of(hash, text_[at]);
            continue;
        }
        begins_.push_back(static_cast<std::uint32_t>(at + 1));
        insert(hash);
        hash = empty_hash;
    }
}

void Merges::insert(std::uint64_t hash) {
    std::size_t const mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (std::size_t steps = 0; slots_[slot] != 0; slot = (slot + 1) & mask)
        if (++steps > longest_search)
            throw Error(fmt::format("{}: expected each merge once, found {} many times; get the file again",
                                    file_.string(), label(line(n_lines() - 1).substr(0, 80))));
    slots_[slot] = static_cast<std::uint32_t>(n_lines());
}

std::string_view Merges::line(std::size_t index) const {
    return {&text_[begins_[index]], begins_[index + 1] - begins_[index] - 1};
}

int Merges::size() const {
    return n_bytes + static_cast<int>(n_lines());
}

std::string Merges::characters(int symbol) const {
    if (symbol < n_bytes) return std::string(byte_symbol(symbol).characters);
    std::string characters(line(static_cast<std::size_t>(symbol - n_bytes)));
    std::erase(characters, ' ');
    return characters;
}

std::optional<std::size_t> Merges::find(std::string_view wanted) const {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t slot = hash_of(wanted) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        std::size_t const index = slots_[slot] - 1;
        if (line(index) == wanted) return index;
    }
    return std::nullopt;
}

std::optional<int> Merges::merged(std::string_view left, std::string_view right) const {
    auto const index = find(std::string(left).append(1, ' ').append(right));
    if (!index) return std::nullopt;
    return n_bytes + static_cast<int>(*index);
}

// What a line of merges.txt must be. GPT-2's own file, known by its content, is not checked each time.

namespace {

// Empty if the line is as it should be.
std::string expectation_missed(std::string_view line, std::unordered_set<std::string> const& symbols,
                               bool comes_again) {
    std::size_t const space = line.find(' ');
    bool const two_parts =
        space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos;
    if (!two_parts || space == 0 || space + 1 == line.size()) return "two symbols and one space between them";
    for (std::string_view const part : {line.substr(0, space), line.substr(space + 1)}) {
        if (!bytes_of(part)) return "characters of GPT-2's byte alphabet";
        if (!symbols.contains(std::string(part))) return "parts that are bytes or made by earlier lines";
    }
    return comes_again ? "each merge once" : "";
}

}  // namespace

void Merges::check() const {
    if (n_lines() == 0)
        throw Error(fmt::format("{}: expected merges, found none; get the file again", file_.string()));
    std::unordered_set<std::string> symbols;
    for (int byte = 0; byte < n_bytes; ++byte) symbols.emplace(byte_symbol(byte).characters);
    for (std::size_t i = 0; i < n_lines(); ++i) {
        bool const comes_again = find(line(i)) != i;
        std::string const expected = expectation_missed(line(i), symbols, comes_again);
        if (!expected.empty()) {
            throw Error(fmt::format(
                "{}, line {}: expected {}, found {}; get the file again from where the model came from",
                file_.string(), first_line_ + i, expected, label(line(i).substr(0, 80))));
        }
        symbols.insert(characters(n_bytes + static_cast<int>(i)));
    }
}

// The JSON is not kept as a document: each pair goes straight to its place, where a second one would show.

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::unordered_map<std::string, int>;

constexpr int largest_id = 500'000;  // GPT-2's is 50256

[[noreturn]] void refuse(fs::path const& file, std::string_view expected, std::string_view found) {
    throw Error(fmt::format("{}: expected {}, found {}; get the file again from where the model came from",
                            file.string(), expected, found));
}

// Called by the parser for each thing it meets. The answer says whether to keep it: of the outermost object,
// the shell.
struct PairReader {
    fs::path const& file;
    Ids& ids;
    std::string key;

    bool operator()(int depth, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (event == Event::array_start || (event == Event::object_start && depth > 0)) {
            refuse(file, "one JSON object of tokens and their ids", "an array or object inside");
        }
        if (event == Event::key) key = parsed.get<std::string>();
        if (event == Event::value && depth == 1) add(parsed);
        return depth == 0;
    }

    void add(json const& value) {
        bool const is_id = value.is_number_unsigned() && value.get<std::uint64_t>() <= largest_id;
        if (!is_id)
            refuse(file,
                   fmt::format("the id of {}, a whole number from 0 to {}", label(key.substr(0, 80)),
                               largest_id),
                   value.dump().substr(0, 80));
        if (ids.size() == largest_id) refuse(file, fmt::format("at most {} tokens", largest_id), "more");
        if (!ids.emplace(key, value.get<int>()).second)
            refuse(file, "each token once", label(key.substr(0, 80)) + " twice");
    }
};

Ids read_ids(fs::path const& file) {
    std::string const text = read_text_file(file, largest_file);
    Ids ids;
    try {
        json const shell = json::parse(text, PairReader{file, ids, {}});
        if (!shell.is_object()) refuse(file, "one JSON object of tokens and their ids", shell.type_name());
    } catch (json::parse_error const& error) {
        refuse(file, "JSON", fmt::format("something else at byte {}", error.byte));
    }
    return ids;
}

std::vector<std::string> bytes_by_id(fs::path const& file, Ids const& ids) {
    std::vector<std::optional<std::string>> found(ids.size());
    for (auto const& [characters, id] : ids) {
        auto const index = static_cast<std::size_t>(id);
        if (index >= found.size() || found[index]) {
            refuse(file, fmt::format("{} ids from 0 without a gap, each once", ids.size()),
                   fmt::format("{} for {}", id, label(characters.substr(0, 80))));
        }
        found[index] = bytes_of(characters).value_or(characters);
    }
    std::vector<std::string> bytes;
    bytes.reserve(found.size());
    for (auto& token : found) bytes.push_back(std::move(*token));
    return bytes;
}

}  // namespace

Vocabulary read_vocabulary(fs::path const& file, Merges const& merges) {
    Ids const ids = read_ids(file);
    Vocabulary vocabulary{bytes_by_id(file, ids), {}};
    vocabulary.ids.reserve(static_cast<std::size_t>(merges.size()));
    for (int symbol = 0; symbol < merges.size(); ++symbol) {
        auto const found = ids.find(merges.characters(symbol));
        if (found == ids.end()) {
            refuse(file, "the id of every symbol that merges.txt makes",
                   "none for " + label(merges.characters(symbol).substr(0, 80)));
        }
        vocabulary.ids.push_back(found->second);
    }
    return vocabulary;
}

}  // namespace onehead
