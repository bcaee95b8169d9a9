// One row's way through a head, in words: it arrives, is read three times, asks every row, takes home a
// blend, and the blend is added to it. trace.txt and trace.html tell this story, each around its own tables
// and pictures. Every number in it is computed from the trace.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

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

}  // namespace onehead
