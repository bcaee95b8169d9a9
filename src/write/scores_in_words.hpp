// How one row scores the others and divides its attention, in sentences. What is said of a key, a score or a
// share is looked up in the trace.
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace onehead {

std::string how_it_scores(Trace const& trace);   // who answers best
std::string how_it_divides(Trace const& trace);  // by what, and what it would be without
std::string how_it_masks(Trace const& trace);    // which rows come too late
std::string how_it_shares();

}  // namespace onehead
