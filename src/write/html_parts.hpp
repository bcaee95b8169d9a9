// Pieces of a page about a trace, in HTML, from which whole pages are made.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"
#include "write/shade.hpp"

namespace onehead {

// Text, model, head, row, run; a list of terms.
std::string facts_markup(Trace const& trace);

// The attention pattern: a table with every share, or a picture if it would be too large.
std::string pattern_markup(Trace const& trace, Scale const& shares);

// Two runs side by side, on one scale, so that a shade means the same share in both.
struct Side {
    std::string head;  // what stands above it, as markup
    Trace const& trace;
};
std::string pair_markup(Side const& a, Side const& b);

// The scores of the row on their way to shares: a line for each of the steps, a column a key.
std::string row_markup(Trace const& trace, std::vector<Term> const& steps);

}  // namespace onehead
