// The page of a trace as a thing to play with: its story, the stories of the rows that one can follow
// instead, and what explore.js needs to work every number out again in the reader's browser.
#pragma once

#include <string>
#include <vector>

#include "onehead/pages/document.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// trace.html. Without its script it is the story of the trace's row.
Document trace_page(Trace const& trace, std::vector<std::string> const& files);

// The script with the numbers of a trace: the last block of a page that has panels.
Program explorer(Trace const& trace);

}  // namespace onehead
