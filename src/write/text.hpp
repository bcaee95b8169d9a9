// trace.txt: one run of one head as a page to read, from one row's point of view.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

// files: the names of all that is written beside the page; none for a page on a terminal.
std::string trace_text(Trace const& trace, std::vector<std::string> const& files);

// The run and its row of scores: what one wants to see at once.
std::string trace_summary(Trace const& trace);

// The run in five lines, which lessons show too: text, model, head, row, run.
std::string run_table(Trace const& trace);

}  // namespace onehead
