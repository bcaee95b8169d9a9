// One row's way through a head, as a document: it arrives, is read three times, scores every row, takes a
// weighted sum of their values, and that is added to it. Every number in it is computed from the trace.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/pages/document.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// The whole story. files: the names of all that is written beside it, to which it refers; none if nothing is.
// Its drawings are of the trace, which has to be there for as long as they are to be seen.
Document trace_story(Trace const& trace, std::vector<std::string> const& files);

// All that it says of its row alone: a page's script puts these parts of another row's story in their place.
Contents row_parts(Trace const& trace, std::vector<std::string> const& files);

// The run and its row of scores: what one wants to see at once.
Document trace_summary(Trace const& trace);

// The five steps of the story: a heading and what it says of them. Lessons say it too.
struct Chapter {
    std::string title;
    std::vector<Term> steps;     // those that the trace has
    std::vector<Inline> before;  // paragraphs that lead to the numbers
    std::vector<Inline> after;   // paragraphs that look back at them
};

std::vector<Chapter> chapters(Trace const& trace);

// ---------------------------------------------------------------------------------------------------------
// What the story is made of.

// Text, model, head, row, run.
FactList run_facts(Trace const& trace);

// The text, each word shaded by the weight that the row gives it.
Sentence sentence(Trace const& trace);

// Every token with its position and id; the row that the trace follows is marked.
Table token_table(Trace const& trace);

// A line for each step: its first numbers in this row. Steps that the trace lacks are passed over.
Table vector_table(Trace const& trace, std::span<Term const> steps);

// Steps whose columns are keys, stacked over each other, a column for each key: row `row` of each. A long
// text is cut to the keys that the row reads most.
Table score_table(Trace const& trace, std::size_t row, std::span<Term const> steps);
std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row);

// A square picture as a table with its numbers, which a page of text shows too; as it is if that would be too
// large.
Block grid(Picture picture);
Block pattern_grid(Trace const& trace);  // of the attention pattern

// The blend as a weighted sum: a line for each row that is read, weight times value, and the sum.
Table blend_table(Trace const& trace);

// What is added to the residual row, line by line, and what comes out.
Table addition_table(Trace const& trace);

// Where the attention of a row goes, and over how many rows.
Inline pattern_sentence(Trace const& trace, std::size_t row);

// How one row scores the others and turns the scores into weights.
Inline how_it_scores(Trace const& trace);   // who scores highest
Inline how_it_divides(Trace const& trace);  // by what, and what the largest weight would be without
Inline how_it_masks(Trace const& trace);    // which rows come too late
Inline how_it_weighs();

// What a page calls a step: "08 scores".
std::string step_name(Term const& term);

// Whether this run computed a step in another way than GPT-2 does.
bool is_changed(Trace const& trace, Step const& step);

// A symbol of the formulas, explained once, with the widths of this run.
struct Symbol {
    std::string_view name;
    std::string meaning;
};

// Those that this trace's formulas use.
std::vector<Symbol> explain_symbols(Trace const& trace);

}  // namespace onehead
