#include "load/quote.hpp"

#include <nlohmann/json.hpp>

namespace onehead {

std::string quote(std::string_view text) {
    constexpr std::size_t longest = 80;
    using nlohmann::json;
    auto const shown = json(text.substr(0, longest)).dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > longest ? shown + "..." : shown;
}

}  // namespace onehead
