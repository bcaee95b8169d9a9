#include "onehead/trace/terms.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace onehead {

Term const* find_term(std::string_view name) {
    auto const* const found = std::find_if(terms::all.begin(), terms::all.end(),
                                           [&](Term const& term) { return term.name == name; });
    return found == terms::all.end() ? nullptr : found;
}

std::string file_stem(Term const& term) {
    return fmt::format("{:02}_{}", term.number, term.name);
}

std::string in_layer(std::string_view name, std::string_view layer) {
    std::string text{name};
    if (auto const place = text.find("{}"); place != std::string::npos) text.replace(place, 2, layer);
    return text;
}

}  // namespace onehead
