// What a program needs to know of a trace: the run, and for each step its file, shape, axes, formula and
// names elsewhere.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

inline constexpr auto trace_schema = "onehead-trace";
inline constexpr int trace_schema_version = 1;

// files: the names of all that is written beside it.
std::string trace_json(Trace const& trace, std::vector<std::string> const& files);

}  // namespace onehead
