// A matrix [query_pos, key_pos] as a picture (SVG): rows = query (reads), columns = key (is read), shaded
// cells, with numbers where there is room, and the printed scale below. Each cell tells its exact value when
// a pointer rests on it.
#pragma once

#include <cstddef>
#include <string>

#include "trace/trace.hpp"
#include "write/shade.hpp"
#include "write/window.hpp"

namespace onehead {

inline constexpr std::size_t most_in_a_score_map = 100;  // positions

std::string score_map(Trace const& trace, Step const& step, Window const& shown, Scale const& scale);

// The picture of the pattern as a file of its own.
std::string pattern_svg(Trace const& trace);

// The class of the style sheet that colours a cell: m where a row may not look, else its shade.
std::string cell_class(Step const& step, Scale const& scale, std::size_t query, std::size_t key);

// A number in few characters, as it stands in a cell.
std::string cell_text(Term const& term, double value);

}  // namespace onehead
