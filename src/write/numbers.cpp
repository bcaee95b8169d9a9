#include "write/numbers.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace onehead {

std::string fixed(double value, int decimals) {
    std::string const text = fmt::format("{:.{}f}", value, decimals);
    return text.find_first_of("123456789") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string short_score(double value) {
    if (std::isinf(value) || std::fabs(value) >= 1e5) return fmt::format("{:.3g}", value);
    return fixed(value, 2);
}

std::string short_weight(double value) {
    if (value == 0 || value == 1) return fmt::format("{}", value);
    std::string const text = fixed(value, 3);
    return text.starts_with("0.") ? text.substr(1) : text;
}

std::string short_list(std::span<float const> values, std::size_t most) {
    std::string list;
    for (float const value : values.first(std::min(most, values.size())))
        list += fmt::format(" {:>7}", fixed(value, 3));
    if (values.size() > most) list += fmt::format("  ... {} more", values.size() - most);
    return list;
}

}  // namespace onehead
