#include "trace/printable.hpp"

#include <algorithm>

#include "trace/token.hpp"

namespace onehead {

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        std::size_t const length = std::min(text.find_first_of("'\\"), text.size());
        std::string const quoted = label(text.substr(0, length));
        shown.append(quoted, 1, quoted.size() - 2);
        shown += text.substr(length, 1);
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    return shown;
}

}  // namespace onehead
