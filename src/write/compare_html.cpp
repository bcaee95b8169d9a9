#include "write/compare_html.hpp"

#include <fmt/format.h>

#include "write/compare_tables.hpp"
#include "write/html_parts.hpp"
#include "write/markup.hpp"
#include "write/table_markup.hpp"

namespace onehead {
namespace {

Side side(std::string_view letter, NamedTrace const& run) {
    return {element("h2", fmt::format("{}: {}", letter, label_markup(run.name))) + facts_markup(run.trace),
            run.trace};
}

}  // namespace

std::string compare_html(NamedTrace const& a, NamedTrace const& b, Comparison const& comparison) {
    std::string body =
        element("h1", "Two runs of one text") + element("p", escaped(verdict(comparison)) + ".");
    if (!comparison.pattern.empty())
        body += pair_markup(side("A", a), side("B", b)) + element("h2", "Row by row") +
                table_markup(pattern_table(comparison, a.trace.tokens), 1, pattern_table_says);
    body += element("h2", "Step by step") +
            table_markup(step_table(comparison), 1,
                         "The largest difference in each step, and how many values have the same bits");
    return html_page(fmt::format("{} and {}", a.name, b.name), body);
}

}  // namespace onehead
