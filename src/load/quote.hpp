// Text out of a file, as it may stand in a message: in double quotes, on one line, plain ASCII and not
// endless, whatever the file holds.
#pragma once

#include <string>
#include <string_view>

namespace onehead {

std::string quote(std::string_view text);

}  // namespace onehead
