// A merge makes at most two new pairs, with its neighbours. So instead of looking at all pairs after each
// merge, those that can merge wait in a heap.
#include "load/byte_pairs.hpp"

#include "load/byte_symbols.hpp"

namespace onehead {

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

}  // namespace onehead
