// One row's view of a trace, as tables in plain text: what it is made of, how it scores every key, what it
// takes home. trace.txt and the lessons are built from them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

// Every token with its position and id; the row that the trace follows is marked.
std::string token_table(Trace const& trace);

// A line a step: its first numbers in this row, and the file that holds all of them. Steps that the trace
// lacks are passed over.
std::string vector_table(Trace const& trace, std::vector<Term> const& steps);

// Steps whose columns are keys, stacked over each other, a column a key: row `row` of each.
// A long text is cut to the keys that the row reads most.
std::string score_table(Trace const& trace, std::size_t row, std::vector<Term> const& steps);

// A number of such a step, rounded: a weight or a score.
std::string short_number(Term const& term, double value);

// The keys that score_table shows.
std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row);

// The blend as a weighted sum: a line a row that is read, weight times value, and the sum.
std::string blend_table(Trace const& trace);

// What is added to the residual row, line by line, and what comes out.
std::string addition_table(Trace const& trace);

}  // namespace onehead
