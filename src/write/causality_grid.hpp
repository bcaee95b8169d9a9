// What a changed word moved, as a grid: a line a step, a column a row of the trace.
#pragma once

#include "study/causality.hpp"
#include "trace/token.hpp"
#include "write/table.hpp"

namespace onehead {

// "=" the same to the last bit; a number: the largest change among the cells that may change; "new" a row
// that was not there;
// "!" with a number: a change where nothing may change.
Table causality_grid(Causality const& causality, Tokens const& after);

inline constexpr auto causality_legend =
    "* another token; = the same to the last bit; a number: the largest change among the cells that may "
    "change; "
    "new: a row that was not there; ! a change where nothing may change.";

}  // namespace onehead
