#include "write/causality_html.hpp"

#include <fmt/format.h>

#include "write/causality_grid.hpp"
#include "write/html_parts.hpp"
#include "write/markup.hpp"
#include "write/sentence.hpp"
#include "write/table_markup.hpp"

namespace onehead {
namespace {

std::string_view shade(std::string_view cell) {
    if (cell == "=") return "kept";
    if (cell == "new") return "new";
    return cell.starts_with('!') ? "broken" : "moved";
}

std::string side(std::string_view title, Trace const& trace, Scale const& shares) {
    return element("section",
                   element("h2", title) + sentence_markup(trace, shares) + pattern_markup(trace, shares));
}

}  // namespace

std::string causality_html(Trace const& before, Trace const& after, Causality const& causality,
                           std::string_view verdict) {
    Scale const shares =
        Scale::wider(Scale::shares(before[terms::softmax]), Scale::shares(after[terms::softmax]));
    std::string const body =
        element("h1", "What a changed word moves") + facts_markup(after) + element("p", escaped(verdict)) +
        element("h2", "Step by step, row by row") +
        table_markup(causality_grid(causality, after.tokens), 2, causality_legend, shade) +
        element("div", side("Before", before, shares) + side("After", after, shares), "class=\"pair\"");
    return html_page(fmt::format("{} changed: {}", label(before.facts.text), head_name(after.facts)), body);
}

}  // namespace onehead
