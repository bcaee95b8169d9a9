#include "write/window.hpp"

#include <algorithm>

namespace onehead {

Window window_around(std::size_t row, std::size_t n, std::size_t most) {
    std::size_t const size = std::min(n, most);
    std::size_t const after = std::min(n - 1 - row, size / 4);
    std::size_t const end = std::max(size, row + after + 1);
    return {end - size, end};
}

}  // namespace onehead
