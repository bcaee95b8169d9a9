#include "write/html_parts.hpp"

#include <fmt/format.h>

#include "write/markup.hpp"
#include "write/numbers.hpp"
#include "write/row_tables.hpp"
#include "write/score_map.hpp"
#include "write/sentence.hpp"

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
        cells += fmt::format(R"(<td class="{}" title="{}">{}</td>)", cell_class(pattern, scale, query, key),
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

std::string side_markup(Side const& side, Scale const& shares) {
    return element("section",
                   side.head + sentence_markup(side.trace, shares) + pattern_markup(side.trace, shares));
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
    return figure(inside, "The attention pattern");
}

std::string pair_markup(Side const& a, Side const& b) {
    Scale const shares =
        Scale::wider(Scale::shares(a.trace[terms::softmax]), Scale::shares(b.trace[terms::softmax]));
    return element("div", side_markup(a, shares) + side_markup(b, shares), "class=\"pair\"");
}

std::string row_markup(Trace const& trace, std::vector<Term> const& steps) {
    std::size_t const row = trace.facts.row;
    auto const keys = shown_keys(trace, row);
    std::string lines = "<th scope=\"row\">key</th>";
    for (std::size_t const key : keys) lines += column_head(trace, key);
    lines = element("tr", lines);
    for (Term const& step : steps) {
        std::string cells = fmt::format("<th scope=\"row\">{:02} {}</th>", step.number, step.name);
        for (std::size_t const key : keys)
            cells += fmt::format("<td title=\"{}\">{}</td>", trace[step](row, key),
                                 short_number(step, trace[step](row, key)));
        lines += element("tr", cells);
    }
    std::string const cut =
        keys.size() < trace.tokens.size()
            ? fmt::format(": the {} keys, of {}, that it reads most", keys.size(), trace.tokens.size())
            : "";
    std::string const caption = element("caption", fmt::format("Row {} of the four matrices{}", row, cut));
    return figure(element("table", caption + lines, "class=\"lines\""), "The scores of the row");
}

}  // namespace onehead
