// The attention pattern as a shaded grid for a terminal: the darker a cell, the larger the share. It fits the
// width of the terminal, with every share printed if there is room; of a long text the part around the row is
// shown.
#pragma once

#include <cstddef>
#include <string>

#include "trace/trace.hpp"

namespace onehead {

enum class Shading { colour, blocks };  // blocks: a terminal without colour, or a reader who wants none

std::string shaded_grid(Trace const& trace, std::size_t width, Shading shading);

}  // namespace onehead
