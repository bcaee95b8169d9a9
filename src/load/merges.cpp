// A hash table with open addressing over the text as it was read: 50,000 lines and no allocation for any of
// them, so that a program that encodes one sentence starts at once.
#include "load/merges.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <numeric>

#include "error.hpp"
#include "load/byte_symbols.hpp"
#include "load/text_file.hpp"
#include "trace/token.hpp"

namespace onehead {

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

}  // namespace onehead
