// Pieces of a page about a trace, in HTML, from which whole pages are made.
#pragma once

#include <string>

#include "trace/trace.hpp"
#include "write/shade.hpp"

namespace onehead {

// Text, model, head, row, run; a list of terms.
std::string facts_markup(Trace const& trace);

// The attention pattern: a table with every share, or a picture if it would be too large.
std::string pattern_markup(Trace const& trace, Scale const& shares);

// The scores of one row on their way to shares: a line a step, a column a key.
std::string row_markup(Trace const& trace);

}  // namespace onehead
