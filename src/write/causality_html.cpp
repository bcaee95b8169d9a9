#include "write/causality_html.hpp"

#include <fmt/format.h>

#include "write/causality_grid.hpp"
#include "write/html_parts.hpp"
#include "write/markup.hpp"
#include "write/table_markup.hpp"

namespace onehead {
namespace {

std::string_view shade(std::string_view cell) {
    if (cell == "=") return "kept";
    if (cell == "new") return "new";
    return cell.starts_with('!') ? "broken" : "moved";
}

}  // namespace

std::string causality_html(Trace const& before, Trace const& after, Causality const& causality,
                           std::string_view verdict) {
    std::string const body =
        element("h1", "What a changed word moves") + facts_markup(after) + element("p", escaped(verdict)) +
        element("h2", "Step by step, row by row") +
        table_markup(causality_grid(causality, after.tokens), 2, causality_legend, shade) +
        pair_markup({element("h2", "Before"), before}, {element("h2", "After"), after});
    return html_page(fmt::format("{} changed: {}", label(before.facts.text), head_name(after.facts)), body);
}

}  // namespace onehead
