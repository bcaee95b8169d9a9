#include "onehead/pages/reports.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "onehead/pages/html.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"
#include "onehead/trace/terms.hpp"

namespace onehead {

namespace {

std::string place(Difference const& difference) {
    return difference.same() ? "" : fmt::format("row {}, column {}", difference.row, difference.column);
}

std::string divergence(RowDifference const& row) {
    return row.comparable() ? fmt::format("{:.3g}", *row.divergence) : "-";
}

}  // namespace

Table step_table(Comparison const& comparison) {
    Table table{{Align::left, Align::right, Align::left, Align::right, Align::left}};
    table.add({"step", "largest difference", "where", "bit-identical", ""});
    for (auto const& [term, difference] : comparison.steps)
        table.add({file_stem(term), fmt::format("{:.3g}", difference.largest), place(difference),
                   std::to_string(difference.identical), fmt::format("of {}", difference.cells)});
    for (Term const& term : comparison.only_in_a) table.add({file_stem(term), "only in A"});
    for (Term const& term : comparison.only_in_b) table.add({file_stem(term), "only in B"});
    return table;
}

Table pattern_table(Comparison const& comparison, Tokens const& tokens) {
    Table table{{Align::right, Align::left, Align::left, Align::right, Align::right, Align::right,
                 Align::left, Align::right}};
    table.add({"row", "", "A: most to", "weight", "rows read", "entropy", "B: most to", "weight", "rows read",
               "entropy", "divergence"});
    auto const token = [&](std::size_t pos) { return fmt::format("{} {}", pos, label(tokens[pos].bytes)); };
    for (std::size_t i = 0; i < comparison.pattern.size(); ++i) {
        auto const& [a, b, nats] = comparison.pattern[i];
        table.add({std::to_string(i), label(tokens[i].bytes), token(a.favourite), short_weight(a.largest),
                   fmt::format("{:.2f}", a.effective_rows), fmt::format("{:.3f}", a.entropy),
                   token(b.favourite), short_weight(b.largest), fmt::format("{:.2f}", b.effective_rows),
                   fmt::format("{:.3f}", b.entropy), divergence(comparison.pattern[i])});
    }
    return table;
}

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

namespace {

std::string size_of(double change) {
    return fmt::format("{:.0e}", change);
}

std::string cell(RowVerdict const& row) {
    if (row.broken()) return "!" + size_of(row.forbidden.largest);
    if (row.is_new) return "new";
    return row.identical() ? "=" : size_of(row.allowed.largest);
}

}  // namespace

Table causality_grid(Causality const& causality, Tokens const& after) {
    Table table{{Align::left, Align::right}};
    std::vector<std::string> positions{"row"};
    std::vector<std::string> labels{""};
    for (std::size_t pos = 0; pos < after.size(); ++pos) {
        positions.push_back(fmt::format("{}{}", pos, causality.change.at[pos] ? "*" : ""));
        labels.push_back(label(after[pos].bytes));
    }
    table.add(positions);
    table.add(labels);
    for (StepVerdict const& step : causality.steps) {
        std::vector<std::string> cells{file_stem(step.term)};
        for (RowVerdict const& row : step.rows) cells.push_back(cell(row));
        table.add(cells);
    }
    return table;
}

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

namespace {

std::string rounded(std::optional<double> number) {
    return number ? fmt::format("{:.7g}", *number) : "";
}

std::string exact(std::optional<double> number) {
    return number ? fmt::format("{}", *number) : "";
}

void add_line(Table& table, Line const& line) {
    table.add(
        {line.what, rounded(line.left), rounded(line.right), rounded(line.value), rounded(line.running)});
}

}  // namespace

std::string working_text(Worked const& worked, std::size_t most) {
    auto const& lines = worked.lines;
    std::size_t const last_lines = 4;
    bool const cut = lines.size() > most;
    Table table{{Align::left, Align::right}};
    table.add({"", "left", "right", "value", "sum so far"});
    for (std::size_t i = 0; i < (cut ? most - last_lines : lines.size()); ++i) add_line(table, lines[i]);
    if (cut) table.add({fmt::format("... {} more lines", lines.size() - most)});
    for (std::size_t i = cut ? lines.size() - last_lines : lines.size(); i < lines.size(); ++i)
        add_line(table, lines[i]);
    std::string const agreement =
        worked.agrees() ? "the same, to the last bit"
                        : fmt::format("NOT THE SAME: {} against {}", worked.result, worked.in_trace);
    return paragraph(fmt::format("{}, row {}, column {}. {}", file_stem(worked.term), worked.row,
                                 worked.column, worked.says),
                     "  ") +
           "\n" + table.text() + "\n" +
           paragraph(fmt::format("In the trace: {}, {}.", worked.in_trace, agreement), "  ");
}

std::string working_csv(Worked const& worked) {
    std::string csv = "what,left,right,value,running_sum\n";
    for (Line const& line : worked.lines)
        csv += fmt::format("{},{},{},{},{}\n", csv_field(line.what), exact(line.left), exact(line.right),
                           line.value, exact(line.running));
    return csv;
}

namespace {

std::string shape(Term const& term) {
    return fmt::format("[{}, {}]", term.rows, term.columns);
}

std::string elsewhere(std::string_view name, std::string_view layer) {
    return name.empty() ? "none" : in_layer(name, layer);
}

}  // namespace

std::string glossary_text(std::string_view layer) {
    std::string page;
    for (Term const& term : terms::all) {
        page += fmt::format("{:02} {} {}\n    {}\n    = {}\n", term.number, term.name, shape(term),
                            term.meaning, term.formula);
        page += fmt::format("    TransformerLens: {}\n    Hugging Face: {}\n",
                            elsewhere(term.transformer_lens, layer), elsewhere(term.hugging_face, layer));
    }
    return page;
}

std::string glossary_markdown(std::string_view layer) {
    std::string page =
        "| no. | step | shape | what it is | formula | TransformerLens | Hugging Face |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (Term const& term : terms::all)
        page += fmt::format("| {:02} | `{}` | {} | {} | `{}` | {} | {} |\n", term.number, term.name,
                            shape(term), term.meaning, term.formula, elsewhere(term.transformer_lens, layer),
                            elsewhere(term.hugging_face, layer));
    return page;
}

}  // namespace onehead
