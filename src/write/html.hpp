// trace.html: the story of one row with its pictures, on one page that needs no network and no script.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

// files: the names of all that is written beside the page, to which it links.
std::string trace_html(Trace const& trace, std::vector<std::string> const& files);

}  // namespace onehead
