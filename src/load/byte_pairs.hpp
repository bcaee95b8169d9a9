// Byte pair encoding of one piece of text: it begins as single bytes; the two neighbours whose merge comes
// first in merges.txt become one symbol, the leftmost such pair first, until no two neighbours merge.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "load/merges.hpp"

namespace onehead {

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

}  // namespace onehead
