// Text from outside, such as a file's name, as it may stand in a line for people. What would move the cursor,
// hide itself or turn the text around is written as an escape, as in a token's label.
#pragma once

#include <string>
#include <string_view>

namespace onehead {

// Visible text, quotes and backslashes stay as they are, so that what is printable already stays too.
std::string printable(std::string_view text);

}  // namespace onehead
