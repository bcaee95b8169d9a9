// The symbols that the formulas of a trace are written in: each explained once, and each step's formula as
// mathematicians write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

struct Symbol {
    std::string_view name;
    std::string meaning;  // with the widths of this run
};

// Those that this trace's formulas use.
std::vector<Symbol> explain_symbols(Trace const& trace);

// The formula of a step in HTML, for a step that is computed as GPT-2 does it: "s<sub>ij</sub> =
// q<sub>i</sub>
// ...".
std::string_view formula_in_symbols(Term const& term);

}  // namespace onehead
