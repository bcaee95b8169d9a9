// Two runs on one page: both patterns side by side, and the tables that hold them against each other.
#pragma once

#include <string>

#include "study/compare_traces.hpp"

namespace onehead {

struct NamedTrace {
    std::string name;  // the folder, say
    Trace const& trace;
};

std::string compare_html(NamedTrace const& a, NamedTrace const& b, Comparison const& comparison);

}  // namespace onehead
