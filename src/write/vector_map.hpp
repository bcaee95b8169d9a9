// A matrix [pos, d] as a picture (SVG): rows = positions, columns = the numbers of each vector. The row that
// the trace follows tells each of its values when a pointer rests on it; other rows tell how far theirs
// reach.
#pragma once

#include <cstddef>
#include <string>

#include "trace/trace.hpp"
#include "write/window.hpp"

namespace onehead {

inline constexpr std::size_t most_in_a_vector_map = 20;  // positions

std::string vector_map(Trace const& trace, Step const& step, Window const& shown);

}  // namespace onehead
