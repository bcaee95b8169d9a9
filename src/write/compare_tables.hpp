// Two runs held against each other, as tables: a line a step, and a line a row of their patterns.
#pragma once

#include "study/compare_traces.hpp"
#include "trace/token.hpp"
#include "write/table.hpp"

namespace onehead {

Table step_table(Comparison const& comparison);
Table pattern_table(Comparison const& comparison, Tokens const& tokens);

inline constexpr auto pattern_table_says =
    "The pattern, row by row: where most goes, how many rows are read in effect (e to the entropy), and how "
    "far B "
    "is from A (Kullback-Leibler, in nats)";

}  // namespace onehead
