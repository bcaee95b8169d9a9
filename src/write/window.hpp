// The part of a long text that a page shows.
#pragma once

#include <cstddef>

namespace onehead {

// Positions first, first + 1, ..., end - 1.
struct Window {
    std::size_t first = 0, end = 0;

    std::size_t size() const { return end - first; }
    bool holds(std::size_t pos) const { return first <= pos && pos < end; }
};

// At most `most` positions of a text of n tokens, around a row, more of them before it than after.
Window window_around(std::size_t row, std::size_t n, std::size_t most);

}  // namespace onehead
