// One row's way through a head, in words: it arrives, is read three times, asks every row, takes home a
// blend, and the blend is added to it. trace.txt and trace.html tell this story, each around its own tables
// and pictures. Every number in it is computed from the trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onehead/trace/trace.hpp"

namespace onehead {

struct Chapter {
    std::string title;
    std::vector<std::string> before;  // paragraphs that lead to the numbers
    std::vector<Term> steps;          // what the numbers are of: steps that the trace has
    std::vector<std::string> after;   // paragraphs that look back at them
};

std::vector<Chapter> tell_story(Trace const& trace);

// What the page is about, in a line: "How row 4 ' the' reads".
std::string story_title(Trace const& trace);

// Where the attention of a row goes, and how spread out it is.
std::string pattern_sentence(Trace const& trace, std::size_t row);

// Whether this run computed a step in another way than GPT-2 does.
bool is_changed(Trace const& trace, Step const& step);

// How one row scores the others and divides its attention, in sentences. What is said of a key, a score or a
// share is looked up in the trace.

std::string how_it_scores(Trace const& trace);   // who answers best
std::string how_it_divides(Trace const& trace);  // by what, and what it would be without
std::string how_it_masks(Trace const& trace);    // which rows come too late
std::string how_it_shares();

// The symbols that the formulas of a trace are written in: each explained once, and each step's formula as
// mathematicians write it.

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
