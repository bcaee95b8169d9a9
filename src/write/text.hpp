// trace.txt: one run of one head as a page to read, from one row's point of view.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace onehead {

std::string trace_text(Trace const& trace);

// The run and its row of scores: what one wants to see at once.
std::string trace_summary(Trace const& trace);

// The parts of the page that lessons show too.
std::string run_table(Trace const& trace);  // text, model, head, row, run
std::string definitions(Trace const& trace,
                        std::vector<Term> const& steps);            // shape, file, formula and meaning
std::string pattern_sentence(Trace const& trace, std::size_t row);  // where the row's attention goes

}  // namespace onehead
