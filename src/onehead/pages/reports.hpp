// Two runs held against each other, as tables: a line a step, and a line a row of their patterns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "onehead/pages/text.hpp"
#include "onehead/study/causality.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/worked.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

Table step_table(Comparison const& comparison);
Table pattern_table(Comparison const& comparison, Tokens const& tokens);

inline constexpr auto pattern_table_says =
    "The pattern, row by row: where most goes, how many rows are read in effect (e to the entropy), and how "
    "far B "
    "is from A (Kullback-Leibler, in nats)";

// Two runs on one page: both patterns side by side, and the tables that hold them against each other.

struct NamedTrace {
    std::string name;  // the folder, say
    Trace const& trace;
};

std::string compare_html(NamedTrace const& a, NamedTrace const& b, Comparison const& comparison);

// What a changed word moved, as a grid: a line a step, a column a row of the trace.

// "=" the same to the last bit; a number: the largest change among the cells that may change; "new" a row
// that was not there;
// "!" with a number: a change where nothing may change.
Table causality_grid(Causality const& causality, Tokens const& after);

inline constexpr auto causality_legend =
    "* another token; = the same to the last bit; a number: the largest change among the cells that may "
    "change; "
    "new: a row that was not there; ! a change where nothing may change.";

// What a changed word moved, on a page: the two texts, the grid, and both patterns.

std::string causality_html(Trace const& before, Trace const& after, Causality const& causality,
                           std::string_view verdict);

// One number worked out, as a page and as a table for a spreadsheet.

// What is computed, its terms with the running sum, and the number in the trace. Of a long working only the
// first and last lines are shown: `most` of them in all.
std::string working_text(Worked const& worked, std::size_t most);

// what,left,right,value,running_sum: every line, in the shortest form that reads back to the same double.
std::string working_csv(Worked const& worked);

// The vocabulary as a page: what each step is called here, what it is, and its names elsewhere.

// For a terminal: a paragraph a step. `layer` is what stands for the layer in names from elsewhere: "L", "3".
std::string glossary_text(std::string_view layer);

// A table in Markdown: a line a step.
std::string glossary_markdown(std::string_view layer);

}  // namespace onehead
