#include "write/html_parts.hpp"

#include <fmt/format.h>
#include <array>

#include "write/markup.hpp"
#include "write/numbers.hpp"
#include "write/row_tables.hpp"
#include "write/score_map.hpp"

namespace onehead {
namespace {

constexpr std::size_t most_in_a_table = 24;  // positions

std::string term(std::string_view name, std::string_view meaning) {
    return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, meaning);
}

std::string row_head(Trace const& trace, std::size_t pos) {
    return fmt::format("<th scope=\"row\">{} {}</th>", pos, label_markup(trace.tokens[pos].bytes));
}

std::string column_head(Trace const& trace, std::size_t pos) {
    return fmt::format("<th scope=\"col\">{}<br>{}</th>", pos, label_markup(trace.tokens[pos].bytes));
}

std::string pattern_line(Trace const& trace, Scale const& scale, std::size_t query) {
    Step const& pattern = trace.step(terms::softmax);
    std::string cells = row_head(trace, query);
    for (std::size_t key = 0; key < trace.tokens.size(); ++key)
        cells +=
            fmt::format(R"(<td class="{}" title="{}">{}</td>)", cell_class(trace, pattern, scale, query, key),
                        pattern.values(query, key), short_weight(pattern.values(query, key)));
    return element("tr", cells, query == trace.facts.row ? "class=\"asks\"" : "");
}

std::string pattern_table(Trace const& trace, Scale const& shares) {
    std::string lines = "<th></th>";
    for (std::size_t key = 0; key < trace.tokens.size(); ++key) lines += column_head(trace, key);
    lines = element("tr", lines);
    for (std::size_t query = 0; query < trace.tokens.size(); ++query)
        lines += pattern_line(trace, shares, query);
    return element("table", element("caption", "rows = query (reads), columns = key (is read)") + lines,
                   "class=\"grid\"");
}

}  // namespace

std::string facts_markup(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::string list =
        term("model", fmt::format("{}: {} heads a block, d_model {}, d_head {}", escaped(facts.model),
                                  facts.n_head, facts.d_model, facts.d_head)) +
        term("head", head_name(facts)) +
        term("row", fmt::format("{} {}, of {} tokens", facts.row, label_markup(trace.tokens[facts.row].bytes),
                                trace.tokens.size())) +
        term("run", facts.experiment.empty() ? "as GPT-2 computes it"
                                             : fmt::format("experiment <code>{}</code>: {}", facts.experiment,
                                                           escaped(facts.experiment_says)));
    if (!facts.left_out.empty()) list += term("left out", escaped(facts.left_out));
    return element("dl", list, "class=\"facts\"");
}

std::string pattern_markup(Trace const& trace, Scale const& shares) {
    std::size_t const n = trace.tokens.size();
    Window const shown = window_around(trace.facts.row, n, most_in_a_score_map);
    std::string const inside = n <= most_in_a_table
                                   ? pattern_table(trace, shares)
                                   : score_map(trace, trace.step(terms::softmax), shown, shares);
    return element("figure", inside, R"(tabindex="0" role="region" aria-label="The attention pattern")");
}

std::string row_markup(Trace const& trace) {
    auto const keys = shown_keys(trace, trace.facts.row);
    std::string lines = "<th scope=\"row\">key</th>";
    for (std::size_t const key : keys) lines += column_head(trace, key);
    lines = element("tr", lines);
    for (Term const& step : {terms::scores, terms::scaled_scores, terms::masked_scores, terms::softmax}) {
        std::string cells = fmt::format("<th scope=\"row\">{:02} {}</th>", step.number, step.name);
        for (std::size_t const key : keys)
            cells += fmt::format("<td title=\"{}\">{}</td>", trace[step](trace.facts.row, key),
                                 step == terms::softmax ? short_weight(trace[step](trace.facts.row, key))
                                                        : short_score(trace[step](trace.facts.row, key)));
        lines += element("tr", cells);
    }
    std::string const cut =
        keys.size() < trace.tokens.size()
            ? fmt::format(": the {} keys, of {}, that it reads most", keys.size(), trace.tokens.size())
            : "";
    return element(
        "figure",
        element(
            "table",
            element("caption", fmt::format("Row {} of the four matrices{}", trace.facts.row, cut)) + lines,
            "class=\"lines\""),
        R"(tabindex="0" role="region" aria-label="The scores of the row")");
}

}  // namespace onehead
