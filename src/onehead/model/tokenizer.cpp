// From the top: Tokenizer; byte pair encoding of one piece; merges.txt; vocab.json; tokenizer.json; the
// alphabet of bytes.
//
// Symbols are numbered: the 256 bytes in the order of the alphabet, then one for each line of merges.txt. In
// GPT-2 a symbol's number is its id. Where vocab.json confirms that for each token that is asked for (its
// pairs being in the order of the ids, one is found in microseconds), it is not parsed; otherwise it is read
// in full (40 ms).
#include "onehead/model/tokenizer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <queue>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int n_bytes = 256;
constexpr std::size_t largest_file = 16U << 20U;
constexpr int largest_id = 300'000;  // GPT-2's is 50256
constexpr auto get_again = "get the file again from where the model came from";

// What training a byte pair encoding leaves behind: pairs of symbols that become one where they meet; earlier
// lines go first. Encoding asks one question all the time, whether two neighbours merge, and that is to look
// up a line.
class Merges {
public:
    // text: a line for each merge, "t h". Throws an Error if there are too many, or one comes many times.
    // What the lines say is left to `check`.
    Merges(std::string text, std::string name);

    // Throws an Error that names the line unless each line is two symbols with a space between them, each a
    // byte or made by an earlier line, and comes once.
    void check() const;

    int size() const { return n_bytes + static_cast<int>(n_lines()); }
    bool are_pairs() const { return are_pairs_; }  // two symbols a line, as far as spaces tell

    std::string characters(int symbol) const;  // in the alphabet

    // The symbol that two neighbours become, both given in the alphabet; none if they do not merge.
    std::optional<int> merged(std::string_view left, std::string_view right) const;

    bool makes(std::string_view characters) const;  // a symbol of these

private:
    using Pair = std::pair<std::string_view, std::string_view>;

    std::size_t n_lines() const { return begins_.size() - 1; }
    std::optional<Pair> pair(std::size_t index) const;  // nothing if the line is not two with a space between
    void insert(std::uint64_t hash);
    std::optional<std::size_t> find(std::string_view wanted) const;  // the index of a line
    std::string_view line(std::size_t index) const;

    std::string name_;            // of the file, for messages
    std::size_t first_line_ = 1;  // 2 after a line "#version: ..."
    bool are_pairs_ = true;
    std::string text_;                   // with LF alone at the end of every line
    std::vector<std::uint32_t> begins_;  // of each line in the text, and one more where the text ends
    std::vector<std::uint32_t> slots_;   // hash table of the lines: index of a line plus 1, or 0
};

// The pairs of vocab.json in the order of their ids, as GPT-2's stand in it: `{"!": 0, "\"": 1, ...}`. Of a
// text that is anything else, nothing is confirmed.
class OrderedPairs {
public:
    explicit OrderedPairs(std::string text) : text_(std::move(text)) {}

    // Whether the text gives this id to these characters. Only what is next to that pair is looked at.
    bool has(int id, std::string_view characters) const;

    // The pairs that come after this one, as a JSON text of their own; nothing if this one is not there.
    std::optional<std::string> after(int id, std::string_view characters) const;

    std::string const& text() const { return text_; }

private:
    std::string_view before(int id) const;
    std::string_view behind(int id, std::string_view characters) const;

    std::string text_;
};

// A file of ids, read as a whole.
struct Vocabulary {
    std::vector<int> ids;            // by symbol, -1 for none
    std::vector<std::string> bytes;  // by id
    std::set<int> twins;             // ids whose bytes another id has too
};

// A piece's symbols, appended to `symbols`. Keeps its memory from piece to piece.
class BytePairs {
public:
    explicit BytePairs(Merges const& merges) : merges_(merges) {}

    // Of at most 1 GiB. Takes n log n steps, however long the piece is.
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
    std::string characters_;  // the piece in the alphabet
    std::vector<Part> parts_;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>
        candidates_;  // the first to merge on top
};

// How many bytes the piece has that begins at `at`, which is the end of a piece or 0. The expression is
// GPT-2's own. Its \s means Unicode's White_Space, as in the Python module `regex` that GPT-2 uses: with
// U+0085, without U+001C to U+001F, U+180E and U+FEFF. The \s of PCRE2 takes U+180E too, so the property is
// asked for by name. Upper-case 'S is no contraction: GPT-2 sees to case.
std::size_t piece_length(std::string_view text, std::size_t at) {
    static Regex const piece(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+)"
                             R"(|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)");
    return piece.match_length(text, at);
}

// A token's bytes: characters outside the alphabet are those of a token that was added, as it is.
std::string bytes_or_itself(std::string const& characters) {
    return bytes_of(characters).value_or(characters);
}

// What a folder says beside the merges and the ids.
struct Extras {
    std::map<int, std::string> added;  // tokens, by id
    bool adds_space = false;
};

}  // namespace

struct Tokenizer::Parts {
    Parts(Merges lines, OrderedPairs vocab_json, std::string file);
    Parts(Merges lines, Vocabulary all);

    static std::unique_ptr<Parts const> read(fs::path const& folder);

    Merges merges;
    OrderedPairs pairs{""};
    std::string name;          // of the file of the pairs, for messages
    bool is_in_order = false;  // the last symbol has its number as id, all of `further` come after it
    std::map<int, std::string> further;  // tokens by id, beside those of the symbols or of `whole`
    bool adds_space = false;

    Vocabulary const& whole() const {
        std::call_once(once, [this] {
            if (!vocabulary) vocabulary = read_whole();
        });
        return *vocabulary;
    }

    // How many ids there are before those that were added.
    int n_first() const { return is_in_order ? merges.size() : static_cast<int>(whole().bytes.size()); }

    bool confirms(int symbol) const { return is_in_order && pairs.has(symbol, merges.characters(symbol)); }

    // Nothing if there is no such id.
    std::optional<std::string> bytes(int id) const {
        if (auto const found = further.find(id); found != further.end()) return found->second;
        if (id < 0 || id >= n_first()) return std::nullopt;
        if (confirms(id)) return bytes_or_itself(merges.characters(id));
        return whole().bytes.at(static_cast<std::size_t>(id));
    }

    bool has_twin(int id) const {
        std::string const own = bytes(id).value_or("");
        for (auto const& [other, bytes] : further)
            if (other != id && bytes == own) return true;
        bool const is_further = further.contains(id);
        if (is_in_order) return is_further && merges.makes(in_alphabet(own));
        auto const& [ids, all, twins] = whole();
        return is_further ? std::find(all.begin(), all.end(), own) != all.end() : twins.contains(id);
    }

private:
    Vocabulary read_whole() const;

    mutable std::once_flag once;
    mutable std::optional<Vocabulary> vocabulary;
};

Tokenizer::Tokenizer(fs::path const& folder) : parts_(Parts::read(folder)) {}
Tokenizer::~Tokenizer() = default;

void expect_utf8(std::string const& field, std::string_view text) {
    if (std::size_t const at = find_invalid_utf8(text); at != text.npos)
        throw UsageError(field, {fmt::format("byte {}", at), "UTF-8", label(text.substr(at, 1)),
                                 "save or pass the text as UTF-8"});
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
    expect_utf8("text", text);
    BytePairs byte_pairs(parts_->merges);
    std::vector<int> tokens;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = piece_length(text, at);
        byte_pairs.encode(text.substr(at, length), tokens);
        at += length;
    }
    bool const are_ids =
        std::all_of(tokens.begin(), tokens.end(), [&](int token) { return parts_->confirms(token); });
    if (are_ids) return tokens;
    for (int& token : tokens) {
        int const symbol = std::exchange(token, parts_->whole().ids[static_cast<std::size_t>(token)]);
        if (token >= 0) continue;
        std::string const missing = label(bytes_of(parts_->merges.characters(symbol)).value_or(""));
        throw UsageError("text", {"", "bytes that this model's vocabulary has tokens for", missing,
                                  "leave it out: no text that the model was trained on had it"});
    }
    return tokens;
}

std::string Tokenizer::bytes(int id) const {
    if (auto bytes = parts_->bytes(id)) return *bytes;
    throw UsageError("token_ids", {"", fmt::format("ids of this model's vocabulary, 0 to {}", size() - 1),
                                   std::to_string(id)});
}

std::string Tokenizer::decode(std::vector<int> const& ids) const {
    std::string text;
    for (int const id : ids) text += bytes(id);
    return text;
}

Token Tokenizer::token(int id) const {
    Token token{.id = id, .bytes = parts_->bytes(id).value_or("")};
    token.has_twin = parts_->has_twin(id);
    return token;
}

int Tokenizer::size() const {
    auto const& further = parts_->further;
    return further.empty() ? parts_->n_first() : std::max(parts_->n_first(), further.rbegin()->first + 1);
}

std::size_t Tokenizer::longest() const {
    std::size_t longest = 0;
    auto const see = [&](std::string const& bytes) { longest = std::max(longest, bytes.size()); };
    for (auto const& [_, bytes] : parts_->further) see(bytes);
    Merges const& merges = parts_->merges;
    if (parts_->is_in_order)
        for (int symbol = 0; symbol < merges.size(); ++symbol)
            see(bytes_or_itself(merges.characters(symbol)));
    else
        for (std::string const& bytes : parts_->whole().bytes) see(bytes);
    return longest;
}

std::optional<int> Tokenizer::id_of_end() const {
    for (int id = size(); id-- > 0;)
        if (parts_->bytes(id) == "<|endoftext|>") return id;
    return std::nullopt;
}

bool Tokenizer::adds_space() const {
    return parts_->adds_space;
}

// A merge makes at most two new pairs, with its neighbours. So instead of looking at all pairs after each
// merge, those that can merge wait in a heap.

namespace {

// A byte's number as a symbol, and its character as UTF-8.
struct ByteSymbol {
    int number = 0;
    std::string_view characters;
};

ByteSymbol const& symbol_of_byte(char byte);
ByteSymbol const& byte_symbol(int number);

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

}  // namespace

// Merges: a hash table with open addressing over the text as it was read: 50,000 lines and no allocation for
// any of them, so that a program that encodes one sentence starts at once.

namespace {

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
std::string with_plain_line_ends(std::string text) {
    if (text.find('\r') != std::string::npos) std::erase(text, '\r');
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

Merges::Merges(std::string text, std::string name)
    : name_(std::move(name)), text_(with_plain_line_ends(std::move(text))) {
    std::size_t const first = text_.starts_with("#version") ? text_.find('\n') + 1 : 0;
    first_line_ = first == 0 ? 1 : 2;
    auto const lines_at_most = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
    if (lines_at_most > most_lines)
        throw Error({name_, fmt::format("at most {} merges", most_lines),
                     fmt::format("{} lines", lines_at_most), get_again});
    slots_.resize(std::bit_ceil(2 * lines_at_most));
    begins_.reserve(lines_at_most + 1);
    begins_.push_back(static_cast<std::uint32_t>(first));
    std::uint64_t hash = empty_hash;
    std::size_t spaces = 0;
    for (std::size_t at = first; at < text_.size(); ++at) {
        if (text_[at] != '\n') {
            hash = hash_of(hash, text_[at]);
            if (text_[at] == ' ') ++spaces;
            continue;
        }
        are_pairs_ = are_pairs_ && std::exchange(spaces, 0) == 1;
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
            throw Error({name_, "each merge once", label(line(n_lines() - 1).substr(0, 80)) + " many times",
                         get_again});
    slots_[slot] = static_cast<std::uint32_t>(n_lines());
}

std::string_view Merges::line(std::size_t index) const {
    return {&text_[begins_[index]], begins_[index + 1] - begins_[index] - 1};
}

std::string Merges::characters(int symbol) const {
    if (symbol < n_bytes) return std::string(byte_symbol(symbol).characters);
    std::string characters(line(static_cast<std::size_t>(symbol - n_bytes)));
    std::erase(characters, ' ');
    return characters;
}

std::optional<Merges::Pair> Merges::pair(std::size_t index) const {
    std::string_view const both = line(index);
    std::size_t const space = both.find(' ');
    bool const is_pair = space != both.npos && space > 0 && space + 1 < both.size();
    if (!is_pair || both.find(' ', space + 1) != both.npos) return std::nullopt;
    return std::pair{both.substr(0, space), both.substr(space + 1)};
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

// A byte's character, or any two parts of it that a line puts together.
bool Merges::makes(std::string_view characters) const {
    if (auto const bytes = bytes_of(characters); bytes && bytes->size() == 1) return true;
    for (std::size_t cut = 1; cut < characters.size(); ++cut)
        if (merged(characters.substr(0, cut), characters.substr(cut))) return true;
    return false;
}

// Empty if the line is as it should be.
std::string expectation_missed(std::optional<std::pair<std::string_view, std::string_view>> const& parts,
                               std::unordered_set<std::string> const& symbols, bool comes_again) {
    if (!parts) return "two symbols and one space between them";
    for (std::string_view const part : {parts->first, parts->second}) {
        if (!bytes_of(part)) return "characters of GPT-2's byte alphabet";
        if (!symbols.contains(std::string(part))) return "parts that are bytes or made by earlier lines";
    }
    return comes_again ? "each merge once" : "";
}

void Merges::check() const {
    if (n_lines() == 0) throw Error({name_, "merges", "none", get_again});
    std::unordered_set<std::string> symbols;
    for (int byte = 0; byte < n_bytes; ++byte) symbols.emplace(byte_symbol(byte).characters);
    for (std::size_t i = 0; i < n_lines(); ++i) {
        std::string const expected = expectation_missed(pair(i), symbols, pair(i) && find(line(i)) != i);
        if (!expected.empty())
            throw Error({fmt::format("{}, line {}", name_, first_line_ + i), expected,
                         label(line(i).substr(0, 80)), get_again});
        symbols.insert(characters(n_bytes + static_cast<int>(i)));
    }
}

}  // namespace

// The ids, by each of the files that may hold them.

namespace {

using Ids = std::unordered_map<std::string, int>;

// Takes the characters off the front of a JSON text, where any of them may be written as \u0120.
bool take_characters(std::string_view& text, std::string_view characters) {
    while (!characters.empty()) {
        auto const [value, length] = code_point_at(characters, 0);
        if (length == 0) return false;
        std::size_t taken = length;
        if (text.starts_with("\\u")) {
            std::uint32_t written = 0;
            std::string_view const digits = text.substr(2, 4);
            auto const [end, error] =
                std::from_chars(digits.data(), digits.data() + digits.size(), written, 16);
            if (error != std::errc{} || end != digits.data() + 4 || written != value) return false;
            taken = 6;
        } else if (value == '"' || value == '\\') {
            if (!text.starts_with('\\') || text.size() < 2 || text[1] != characters[0]) return false;
            taken = 2;
        } else if (!text.starts_with(characters.substr(0, length))) {
            return false;
        }
        text.remove_prefix(taken);
        characters.remove_prefix(length);
    }
    return true;
}

// Takes a sign off the front of a JSON text, and white space on both sides of it.
bool take_sign(std::string_view& text, char sign) {
    auto const skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); };
    skip();
    if (!text.starts_with(sign)) return false;
    text.remove_prefix(1);
    skip();
    return true;
}

// Takes a whole number off the front; nothing if there is none.
std::optional<int> take_number(std::string_view& text) {
    int number = -1;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Takes what stands between a token's characters and the next pair off the front.
std::optional<int> take_id(std::string_view& text) {
    if (!text.starts_with('"')) return std::nullopt;
    text.remove_prefix(1);
    return take_sign(text, ':') ? take_number(text) : std::nullopt;
}

// Takes everything to behind the next id off the front; nothing, and no text left, if there is none. A
// quotation mark inside a token that looks like the end of one leads astray.
std::optional<int> take_next_id(std::string_view& text) {
    std::optional<int> id;
    while (!id && !text.empty()) {
        text.remove_prefix(std::min(text.find('"'), text.size()));
        id = take_id(text);
    }
    return id;
}

// Behind the pair of a smaller id, not far before this one: found by halving, as the ids are in order.
std::string_view OrderedPairs::before(int id) const {
    constexpr std::size_t near = 256;
    std::string_view const text = text_;
    std::size_t begin = 0;
    for (std::size_t end = text.size(); begin + near < end;) {
        std::size_t const middle = begin + (end - begin) / 2;
        std::string_view rest = text.substr(middle);
        auto const next = take_next_id(rest);
        if (next && *next < id)
            begin = text.size() - rest.size();
        else
            end = middle;
    }
    return text.substr(begin);
}

// The text from behind the pair on; empty if it is not there.
std::string_view OrderedPairs::behind(int id, std::string_view characters) const {
    std::string_view text = before(id);
    for (int next = -1; next < id && !text.empty();) {
        text.remove_prefix(std::min(text.find('"'), text.size()));
        std::string_view pair = text.substr(std::min<std::size_t>(1, text.size()));
        if (take_characters(pair, characters) && take_id(pair) == id) return pair;
        next = take_id(text).value_or(next);
    }
    return {};
}

bool OrderedPairs::has(int id, std::string_view characters) const {
    return !behind(id, characters).empty();
}

std::optional<std::string> OrderedPairs::after(int id, std::string_view characters) const {
    std::string_view rest = behind(id, characters);
    if (rest.empty()) return std::nullopt;
    take_sign(rest, ',');
    return "{" + std::string(rest);
}

// The bytes of ids from `first` without a gap; nothing if these are others.
std::optional<std::map<int, std::string>> consecutive(Ids const& ids, int first) {
    std::map<int, std::string> tokens;
    for (auto const& [characters, id] : ids) tokens.emplace(id, bytes_or_itself(characters));
    if (tokens.size() != ids.size()) return std::nullopt;
    if (!tokens.empty() && (tokens.begin()->first != first ||
                            tokens.rbegin()->first != first + static_cast<int>(ids.size()) - 1))
        return std::nullopt;
    return tokens;
}

[[noreturn]] void refuse(std::string const& name, std::string const& expected, std::string const& found) {
    throw Error({name, expected, found, get_again});
}

std::vector<std::string> bytes_by_id(Ids const& ids, std::string const& name) {
    std::vector<std::optional<std::string>> found(ids.size());
    for (auto const& [characters, id] : ids) {
        auto const index = static_cast<std::size_t>(id);
        if (index >= found.size() || found[index])
            refuse(name, fmt::format("{} ids from 0 without a gap, each once", ids.size()),
                   fmt::format("{} for {}", id, label(characters.substr(0, 80))));
        found[index] = bytes_or_itself(characters);
    }
    std::vector<std::string> bytes;
    bytes.reserve(found.size());
    for (auto& token : found) bytes.push_back(std::move(*token));
    return bytes;
}

// Ids whose bytes another id has too.
std::set<int> find_twins(std::vector<std::string> const& bytes) {
    std::set<int> twins;
    std::unordered_map<std::string_view, int> seen;
    for (std::size_t id = 0; id < bytes.size(); ++id) {
        auto const [first, is_new] = seen.emplace(bytes[id], static_cast<int>(id));
        if (!is_new) twins.insert({static_cast<int>(id), first->second});
    }
    return twins;
}

// Every merge makes a token. A byte may have none: a vocabulary that was learned from little text has only
// the bytes of that text.
Vocabulary vocabulary_of(Ids const& ids, Merges const& merges, std::string const& name) {
    Vocabulary vocabulary{{}, bytes_by_id(ids, name), {}};
    vocabulary.twins = find_twins(vocabulary.bytes);
    for (int symbol = 0; symbol < merges.size(); ++symbol) {
        auto const found = ids.find(merges.characters(symbol));
        if (found == ids.end() && symbol >= n_bytes)
            refuse(name, "the id of every symbol that the merges make",
                   "none for " + label(merges.characters(symbol).substr(0, 80)));
        vocabulary.ids.push_back(found == ids.end() ? -1 : found->second);
    }
    return vocabulary;
}

[[noreturn]] void refuse_json(std::string const& name, std::size_t byte) {
    refuse(name, "JSON", fmt::format("something else at byte {}", byte));
}

// JSON with a callback that sees each part and says what to keep.
template <class Callback>
json parse_parts(std::string const& text, std::string const& name, Callback&& callback) {
    if (std::size_t const zero = text.find('\0'); zero != text.npos) refuse_json(name, zero);
    try {
        return json::parse(text, std::forward<Callback>(callback));
    } catch (json::parse_error const& error) {
        refuse_json(name, error.byte);
    } catch (json::exception const&) {
        refuse(name, "JSON", "a number that is too large");
    }
}

void add_id(Ids& ids, std::string const& token, json const& value, std::string const& name) {
    if (!is_count(value, 0, largest_id))
        refuse(
            name,
            fmt::format("the id of {}, a whole number from 0 to {}", label(token.substr(0, 80)), largest_id),
            printable(value.dump().substr(0, 80)));
    if (ids.size() == largest_id) refuse(name, fmt::format("at most {} tokens", largest_id), "more");
    if (!ids.emplace(token, value.get<int>()).second)
        refuse(name, "each token once", label(token.substr(0, 80)) + " twice");
}

// The ids of a JSON text, {"!": 0, ...}. They are not kept as a document: each pair goes straight to its
// place, where a second one would show.
Ids read_ids(std::string const& text, std::string const& name) {
    Ids ids;
    std::string key;
    json const shell = parse_parts(text, name, [&](int depth, json::parse_event_t event, json const& part) {
        using Event = json::parse_event_t;
        if (event == Event::array_start || (event == Event::object_start && depth > 0))
            refuse(name, "one JSON object of tokens and their ids", "an array or object inside");
        if (event == Event::key) key = part.get<std::string>();
        if (event == Event::value && depth == 1) add_id(ids, key, part, name);
        return depth == 0;
    });
    if (!shell.is_object()) refuse(name, "one JSON object of tokens and their ids", shell.type_name());
    return ids;
}

}  // namespace

// tokenizer.json holds all of it in one file: model.vocab, model.merges (as "t h" or ["t", "h"]) and
// added_tokens, and says how a text is cut, which here has to be as GPT-2 does it.

namespace {

struct TokenizerJson {   // NOLINT(bugprone-exception-escape): json's moves
    std::string merges;  // as in merges.txt
    Ids ids;
    json rest;  // without the two
};

class TokenizerJsonReader {
public:
    TokenizerJsonReader(TokenizerJson& file, std::string const& name) : file_(file), name_(name) {}

    // Called by the parser for each part, `depth` objects and lists inside. Says whether to keep it.
    bool operator()(int depth, json::parse_event_t event, json const& part) {
        using Event = json::parse_event_t;
        auto const at = static_cast<std::size_t>(depth);
        path_.resize(std::min(path_.size(), at));
        if (event == Event::key) {
            path_.resize(at - 1);
            path_.push_back(part.get<std::string>());
        }
        bool const is_token = is_in("vocab") && depth == 3;
        if (is_token && event == Event::key) return false;  // `add_id` keeps it
        if (is_token && event == Event::value) {
            add_id(file_.ids, path_.back(), part, name_);
            return false;
        }
        if (is_in("merges")) return see_merge(depth, event, part);
        if (++kept_ > most_kept)
            refuse(name_, fmt::format("at most {} values beside the tokens", most_kept), "more");
        if (depth > deepest) refuse(name_, fmt::format("at most {} levels of nesting", deepest), "more");
        return true;
    }

private:
    static constexpr std::size_t most_kept = 20'000;  // objects in a list take time by their square
    static constexpr int deepest = 16;

    bool is_in(std::string_view list) const {
        return path_.size() >= 2 && path_[0] == "model" && path_[1] == list;
    }

    // "t h" at depth 3, or one of ["t", "h"] at depth 4. Nothing of it is kept.
    bool see_merge(int depth, json::parse_event_t event, json const& part) {
        using Event = json::parse_event_t;
        bool const is_list = event == Event::array_start || event == Event::array_end;
        if (event == Event::key || (is_list && depth <= 3)) {
            if (depth == 3 && event == Event::array_end) end_merge();
            return depth < 3 || event == Event::array_start;
        }
        if (event != Event::value || !part.is_string())
            refuse(name_, "merges as texts or pairs of texts", part.type_name());
        if (n_in_pair_++ > 0) file_.merges += ' ';
        file_.merges += part.get_ref<std::string const&>();
        if (depth == 3) end_merge();
        return false;
    }

    void end_merge() {
        file_.merges += '\n';
        n_in_pair_ = 0;
    }

    TokenizerJson& file_;
    std::string const& name_;
    std::vector<std::string> path_;
    std::size_t kept_ = 0;
    int n_in_pair_ = 0;
};

// Throws an Error unless texts are cut and merged as GPT-2 does it.
void expect_byte_level(json const& rest, std::string const& name) {
    JsonObject const file(rest, name);
    auto const is_unset = [](json const& values, char const* key) {
        json const value = values.value(key, json());
        return value.is_null() || value == false || (value.is_string() && value.get<std::string>().empty());
    };
    json const& model = file.get("model");
    JsonObject const about(model, name + ": model");
    bool const is_bpe = !about.has("type") || model["type"] == "BPE";
    bool const is_plain = is_unset(model, "continuing_subword_prefix") &&
                          is_unset(model, "end_of_word_suffix") && is_unset(model, "byte_fallback") &&
                          is_unset(model, "ignore_merges");
    json const cut = rest.value("pre_tokenizer", json());
    bool const is_cut = cut.is_object() && cut.value("type", json()) == "ByteLevel" &&
                        cut.value("use_regex", json(true)) == true;
    if (is_bpe && is_plain && is_cut && is_unset(rest, "normalizer")) return;
    throw Error(
        {name,
         "a byte-level BPE that cuts texts as GPT-2 does (model BPE, pre_tokenizer ByteLevel, no normalizer)",
         "another tokenizer", "give token ids, which need no vocabulary"});
}

std::map<int, std::string> added_tokens(json const& rest) {
    std::map<int, std::string> added;
    for (json const& entry : rest.value("added_tokens", json::array()))
        if (entry.is_object() && is_count(entry.value("id", json()), 0, largest_id) &&
            entry.value("content", json()).is_string())
            added.emplace(entry["id"].get<int>(), entry["content"].get<std::string>());
    return added;
}

bool adds_space_in(json const& values) {
    return values.is_object() && values.value("add_prefix_space", json()) == true;
}

// What the folder's smaller files say. They are of no use to most runs, so that a damaged one stops none.
Extras read_extras(fs::path const& folder) {
    Extras extras;
    auto const read = [&](char const* file) {
        std::error_code refused;
        if (!fs::exists(folder / file, refused)) return json();
        try {
            return read_json(folder / file);
        } catch (Error const&) {
            return json();
        }
    };
    if (json const tokens = read("added_tokens.json"); tokens.is_object())
        for (auto const& [content, id] : tokens.items())
            if (is_count(id, 0, largest_id)) extras.added.emplace(id.get<int>(), content);
    json const config = read("tokenizer_config.json");
    extras.adds_space = adds_space_in(config);
    if (config.is_object() && config.value("added_tokens_decoder", json()).is_object())
        for (auto const& [digits, entry] : config["added_tokens_decoder"].items()) {
            int id = -1;
            auto const [_, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
            if (error == std::errc{} && id >= 0 && entry.is_object() &&
                entry.value("content", json()).is_string())
                extras.added.emplace(id, entry["content"].get<std::string>());
        }
    return extras;
}

Merges read_merges(fs::path const& path) {
    return {read_text_file(path, largest_file), path.string()};
}

}  // namespace

Tokenizer::Parts::Parts(Merges lines, OrderedPairs vocab_json, std::string file)
    : merges(std::move(lines)), pairs(std::move(vocab_json)), name(std::move(file)) {
    int const last = merges.size() - 1;
    auto const others =
        last < n_bytes || !merges.are_pairs() ? std::nullopt : pairs.after(last, merges.characters(last));
    auto tokens = others ? consecutive(read_ids(*others, name), last + 1) : std::nullopt;
    is_in_order = tokens.has_value();
    if (tokens) further = std::move(*tokens);
    if (!tokens) whole();
}

Tokenizer::Parts::Parts(Merges lines, Vocabulary all)
    : merges(std::move(lines)), vocabulary(std::move(all)) {}

Vocabulary Tokenizer::Parts::read_whole() const {
    merges.check();
    return vocabulary_of(read_ids(pairs.text(), name), merges, name);
}

std::unique_ptr<Tokenizer::Parts const> Tokenizer::Parts::read(fs::path const& folder) {
    Extras extras = read_extras(folder);
    fs::path const one_file = folder / "tokenizer.json";
    bool const in_two_files = is_there(folder / "merges.txt") || is_there(folder / "vocab.json");
    if (!in_two_files && !is_there(one_file))
        throw Error({folder.string(), "vocab.json and merges.txt, or tokenizer.json", "none of them",
                     "get them too, or give token ids, which need no vocabulary"});
    std::unique_ptr<Parts> parts;
    if (in_two_files && (is_there(folder / "merges.txt") || !is_there(one_file))) {
        Merges merges = read_merges(folder / "merges.txt");
        fs::path const vocab_json = folder / "vocab.json";
        parts = std::make_unique<Parts>(
            std::move(merges), OrderedPairs(read_text_file(vocab_json, largest_file)), vocab_json.string());
    } else {
        TokenizerJson file;
        std::string const name = one_file.string();
        file.rest =
            parse_parts(read_text_file(one_file, largest_file), name, TokenizerJsonReader{file, name});
        expect_byte_level(file.rest, name);
        extras.added.merge(added_tokens(file.rest));
        extras.adds_space = extras.adds_space || adds_space_in(file.rest["pre_tokenizer"]);
        Merges merges(std::move(file.merges), name + ": merges");
        merges.check();
        Vocabulary vocabulary = vocabulary_of(file.ids, merges, name);
        parts = std::make_unique<Parts>(std::move(merges), std::move(vocabulary));
    }
    for (auto const& [id, bytes] : extras.added)
        if (!parts->bytes(id)) parts->further.emplace(id, bytes);
    parts->adds_space = extras.adds_space;
    return parts;
}

// The alphabet: every direction is a table.

namespace {

constexpr std::size_t n_characters = 0x144;  // the last of the alphabet is U+0143

constexpr bool is_visible(std::size_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
    std::array<std::array<char, 2>, n_bytes> utf8{};
    std::array<ByteSymbol, n_bytes> by_byte;
    std::array<std::size_t, n_bytes> byte_by_number{};
    std::array<std::optional<char>, n_characters> byte_by_character;

    // In the vocabulary the single bytes come visible ones first.
    Alphabet() {
        std::size_t moved_to = 0x100;
        for (bool const visible : {true, false})
            for (std::size_t byte = 0; byte < n_bytes; ++byte)
                if (is_visible(byte) == visible) add(byte, visible ? byte : moved_to++);
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

ByteSymbol const& symbol_of_byte(char byte) {
    return alphabet().by_byte[static_cast<unsigned char>(byte)];
}

ByteSymbol const& byte_symbol(int number) {
    return alphabet().by_byte[alphabet().byte_by_number.at(static_cast<std::size_t>(number))];
}

}  // namespace

std::string in_alphabet(std::string_view bytes) {
    std::string characters;
    for (char const byte : bytes) characters += symbol_of_byte(byte).characters;
    return characters;
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

}  // namespace onehead
