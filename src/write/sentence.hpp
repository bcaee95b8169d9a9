// The text itself, as one reads it, each word shaded by the share that the row gives it.
#pragma once

#include <string>

#include "trace/trace.hpp"
#include "write/shade.hpp"

namespace onehead {

std::string sentence_markup(Trace const& trace, Scale const& shares);

}  // namespace onehead
