// One number worked out, as a page and as a table for a spreadsheet.
#pragma once

#include <cstddef>
#include <string>

#include "study/worked.hpp"

namespace onehead {

// What is computed, its terms with the running sum, and the number in the trace. Of a long working only the
// first and last lines are shown: `most` of them in all.
std::string working_text(Worked const& worked, std::size_t most);

// what,left,right,value,running_sum: every line, in the shortest form that reads back to the same double.
std::string working_csv(Worked const& worked);

}  // namespace onehead
