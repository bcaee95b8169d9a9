#include "onehead/pages/reports.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "onehead/io/text.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/trace/files.hpp"
#include "onehead/trace/terms.hpp"

namespace onehead {

// ---------------------------------------------------------------------------------------------------------
// Two runs

namespace {

std::string run_of(Facts const& facts) {
    return facts.experiment.empty() ? "as GPT-2 computes it" : "experiment " + facts.experiment;
}

// What tells a run from the other one: its experiment, or else its head, its model, its row.
std::string name_of(Trace const& trace, Trace const& other) {
    Facts const& facts = trace.facts;
    if (facts.experiment != other.facts.experiment) return run_of(facts);
    if (head_name(facts) != head_name(other.facts)) return head_name(facts);
    if (facts.model != other.facts.model) return facts.model;
    return "row " + token_at(trace, facts.row);
}

Table facts_of_both(Trace const& a, Trace const& b) {
    Table table;
    table.columns = {{""}, {"A"}, {"B"}};
    table.rows = {{{"run"}, {run_of(a.facts)}, {run_of(b.facts)}},
                  {{"head"}, {head_name(a.facts)}, {head_name(b.facts)}},
                  {{"model"}, {a.facts.model}, {b.facts.model}},
                  {{"row"}, {token(a, a.facts.row)}, {token(b, b.facts.row)}}};
    return table;
}

// The pattern of one of two runs, below its words.
Contents side(Trace const& trace, std::string const& name) {
    Sentence words = sentence(trace);
    words.below = Inline{};
    Picture picture = pattern_picture(trace);
    picture.title = name;
    return {{words}, {grid(std::move(picture))}};
}

// B minus A, cell by cell.
Picture difference_picture(Trace const& a, Trace const& b) {
    Picture picture = pattern_picture(a);
    Picture const other = pattern_picture(b);
    picture.title = "B - A: where does B give more weight, and where less?";
    for (std::size_t at = 0; at < picture.values.size(); ++at) {
        picture.values.data()[at] = other.values.data()[at] - picture.values.data()[at];
        picture.masked[at] = picture.masked[at] && other.masked[at];
    }
    picture.scale = Scale::around_zero({picture.values.data(), picture.values.size()});
    picture.below += " Above 0: B gives more weight; below 0: A does.";
    picture.number = [](double value) { return fixed(value, 2); };
    return picture;
}

Table step_table(Comparison const& comparison) {
    Table table;
    table.caption = "The largest difference in each step, and how many values have the same bits";
    table.columns = {{"step"},
                     {"largest difference", Align::right},
                     {"in row", Align::right},
                     {"column", Align::right},
                     {"bit-identical", Align::right},
                     {"of", Align::right}};
    for (auto const& [term, d] : comparison.steps)
        table.rows.push_back({{file_stem(term)},
                              {change(d.largest)},
                              {d.same() ? "" : std::to_string(d.row)},
                              {d.same() ? "" : std::to_string(d.column)},
                              {d.identical},
                              {d.cells}});
    for (Term const& term : comparison.only_in_a) table.rows.push_back({{file_stem(term)}, {"only in A"}});
    for (Term const& term : comparison.only_in_b) table.rows.push_back({{file_stem(term)}, {"only in B"}});
    return table;
}

Table pattern_table(Comparison const& comparison, Tokens const& tokens) {
    Table table;
    table.caption =
        "The pattern, row by row: the key that gets most weight, how many rows are read in effect (the "
        "exponential of the entropy), and the Kullback-Leibler divergence of B from A in nats";
    table.columns = {
        {"row"},        {"A: most to"},           {"weight", Align::right}, {"rows", Align::right},
        {"B: most to"}, {"weight", Align::right}, {"rows", Align::right},   {"divergence", Align::right}};
    for (std::size_t i = 0; i < comparison.pattern.size(); ++i) {
        RowDifference const& row = comparison.pattern[i];
        table.rows.push_back({{token(tokens, i)},
                              {token(tokens, row.a.favourite)},
                              {weight(row.a.largest)},
                              {effective_rows(row.a.effective_rows)},
                              {token(tokens, row.b.favourite)},
                              {weight(row.b.largest)},
                              {effective_rows(row.b.effective_rows)},
                              {row.comparable() ? change(*row.divergence) : "-"}});
    }
    return table;
}

}  // namespace

Document compare_report(Trace const& a, Trace const& b, Comparison const& comparison) {
    std::string const name_a = name_of(a, b);
    std::string const name_b = name_of(b, a);
    Document page{"Two runs of one text" +
                  (name_a == name_b ? "" : fmt::format(": {}, and {}", name_a, name_b))};
    page.heading("Two runs of one text");
    page.paragraph(verdict(comparison) + ".");
    page.add(facts_of_both(a, b));
    if (!comparison.pattern.empty()) {
        page.chapter("Both patterns");
        page.add(Pair{side(a, "A: " + name_a), side(b, "B: " + name_b)});
        page.chapter("The difference");
        page.blocks.push_back(grid(difference_picture(a, b)));
        page.chapter("Row by row");
        page.add(pattern_table(comparison, a.tokens));
    }
    page.chapter("Step by step");
    page.add(step_table(comparison));
    page.add(Program{page_script()});
    return page;
}

std::string comparison_csv(Comparison const& comparison) {
    std::string csv = "step,largest_difference,row,column,bit_identical,values\n";
    for (auto const& [term, d] : comparison.steps)
        csv += fmt::format("{},{},{},{},{},{}\n", file_stem(term), d.largest,
                           d.same() ? "" : std::to_string(d.row), d.same() ? "" : std::to_string(d.column),
                           d.identical, d.cells);
    return csv;
}

// ---------------------------------------------------------------------------------------------------------
// A changed word

namespace {

TableCell cell_of(RowVerdict const& row) {
    if (row.broken()) return {"!" + change(row.forbidden.largest), "broken"};
    if (row.is_new) return {"new", "new"};
    if (row.identical()) return {"=", "kept"};
    return {change(row.allowed.largest), Scale::changes().name(row.allowed.largest)};
}

Inline what_changed(Trace const& before, Trace const& after, Causality const& causality) {
    std::vector<Inline> changes;
    for (std::size_t pos = 0; pos < causality.change.at.size(); ++pos) {
        if (!causality.change.at[pos]) continue;
        if (pos >= before.tokens.size()) {
            changes.push_back(say("{} was appended", token(after, pos)));
            continue;
        }
        std::string const& replaced = before.tokens[pos].bytes;
        bool const is_piece = find_invalid_utf8(replaced) != replaced.npos;
        changes.push_back(
            say("{} became {}{}", token(before, pos), token_label(after.tokens[pos].bytes),
                is_piece ? " (a piece of a character was replaced; its other pieces stay)" : ""));
    }
    return changes.empty() ? Inline{"no token changed"} : joined(changes);
}

std::string verdict_of(Causality const& causality) {
    if (causality.change.first() == causality.change.at.size())
        return "PASS: the change leaves every token as it is, and every value is bit-identical.";
    if (!causality.holds())
        return "FAIL: values moved that the change must not reach; they are marked with ! below.";
    std::size_t const first = causality.change.first();
    if (first == 0) return "PASS: the first row changed, so every row may move.";
    return fmt::format("PASS: every value that depends only on {} is bit-identical.",
                       first == 1 ? "row 0" : fmt::format("rows 0 to {}", first - 1));
}

}  // namespace

Table causality_table(Causality const& causality, Tokens const& after) {
    auto const any = [&](auto const& is_so) {
        return std::ranges::any_of(
            causality.steps, [&](StepVerdict const& step) { return std::ranges::any_of(step.rows, is_so); });
    };
    Table table;
    table.caption = say(
        "The largest change of each row in each step. *: another token; =: the same to the last bit{}{}",
        any([](RowVerdict const& row) { return row.is_new; }) ? "; new: a row that was not there" : "",
        any([](RowVerdict const& row) { return row.broken(); }) ? "; !: a change where nothing must change"
                                                                : "");
    table.columns = {{"step"}};
    for (std::size_t pos = 0; pos < after.size(); ++pos)
        table.columns.emplace_back(
            Label{fmt::format("{}{}", pos, causality.change.at[pos] ? "*" : ""), label(after[pos].bytes)},
            Align::right);
    for (StepVerdict const& step : causality.steps) {
        std::vector<TableCell> cells{{file_stem(step.term)}};
        for (RowVerdict const& row : step.rows) cells.push_back(cell_of(row));
        table.rows.push_back(std::move(cells));
    }
    table.is_grid = true;
    table.scale = Scale::changes();
    return table;
}

Document causality_report(Trace const& before, Trace const& after, Causality const& causality) {
    Document page{fmt::format("{} changed: {}", label(before.facts.text), head_name(after.facts))};
    page.heading("What a changed word moves");
    page.add(FactList{{{"changed", what_changed(before, after, causality)},
                       {"before", Label{"", label(before.facts.text)}},
                       {"after", Label{"", label(after.facts.text)}},
                       {"head", say("{} of {}", head_name(after.facts), after.facts.model)}}});
    page.paragraph(verdict_of(causality));
    page.add(causality_table(causality, after.tokens));
    page.add(Pair{side(before, "The pattern before"), side(after, "The pattern after")});
    return page;
}

// ---------------------------------------------------------------------------------------------------------
// One number worked out

namespace {

std::string rounded(std::optional<double> number) {
    return number ? fmt::format("{:.7g}", *number) : "";
}

std::string exact(std::optional<double> number) {
    return number ? fmt::format("{}", *number) : "";
}

}  // namespace

Document worked_report(Worked const& worked, std::size_t most) {
    constexpr std::size_t last_lines = 4;
    auto const& lines = worked.lines;
    bool const cut = lines.size() > most;
    Table table;
    table.columns = {{"what is computed"},
                     {"first number", Align::right},
                     {"second number", Align::right},
                     {"result", Align::right},
                     {"sum so far", Align::right}};
    auto const add = [&](Line const& line) {
        table.rows.push_back({{line.what},
                              {rounded(line.left)},
                              {rounded(line.right)},
                              {rounded(line.value)},
                              {rounded(line.running)}});
    };
    for (std::size_t i = 0; i < (cut ? most - last_lines : lines.size()); ++i) add(lines[i]);
    if (cut) table.rows.push_back({{fmt::format("... {}", counted(lines.size() - most, "more line"))}});
    for (std::size_t i = cut ? lines.size() - last_lines : lines.size(); i < lines.size(); ++i) add(lines[i]);

    Document page{fmt::format("{}, row {}, column {}", file_stem(worked.term), worked.row, worked.column)};
    page.paragraph(
        say("{}, row {}, column {}. {}", file_stem(worked.term), worked.row, worked.column, worked.says));
    page.add(table);
    page.paragraph(worked.agrees()
                       ? fmt::format("In the trace: {}, the same, to the last bit.", worked.in_trace)
                       : fmt::format("In the trace: {}, NOT THE SAME: worked out, it is {}.", worked.in_trace,
                                     worked.result));
    return page;
}

std::string working_csv(Worked const& worked) {
    std::string csv = "what,left,right,value,running_sum\n";
    for (Line const& line : worked.lines)
        csv += fmt::format("{},{},{},{},{}\n", csv_field(line.what), exact(line.left), exact(line.right),
                           line.value, exact(line.running));
    return csv;
}

// ---------------------------------------------------------------------------------------------------------
// The heads of a model

namespace {

std::string nats(double value) {
    return fmt::format("{:.3g}", value);
}

struct HeadColumn {
    std::string_view name;
    double HeadSurvey::*figure;
    std::string (*number)(double);
    bool is_worth = false;  // measured only where it is asked for
};

constexpr std::array head_columns{
    HeadColumn{"self", &HeadSurvey::self, weight},
    HeadColumn{"previous", &HeadSurvey::previous, weight},
    HeadColumn{"first", &HeadSurvey::first, weight},
    HeadColumn{"induction", &HeadSurvey::induction, weight},
    HeadColumn{"duplicate", &HeadSurvey::duplicate, weight},
    HeadColumn{"entropy", &HeadSurvey::entropy, score},
    HeadColumn{"effective_rows", &HeadSurvey::effective_rows, effective_rows},
    HeadColumn{"score_deviation", &HeadSurvey::score_deviation, score},
    HeadColumn{"worth", &HeadSurvey::worth, nats, true},
    HeadColumn{"top_without", &HeadSurvey::top_without, weight, true},
    HeadColumn{"strongest", &HeadSurvey::strongest, weight},
};

std::vector<HeadColumn> shown_columns(bool with_worth) {
    std::vector<HeadColumn> shown{head_columns.begin(), head_columns.end()};
    std::erase_if(shown, [&](HeadColumn const& column) { return column.is_worth && !with_worth; });
    return shown;
}

}  // namespace

double HeadSurvey::*heads_column(std::string_view name, bool with_worth) {
    for (HeadColumn const& column : shown_columns(with_worth))
        if (column.name == name) return column.figure;
    return nullptr;
}

std::string heads_columns(bool with_worth) {
    std::vector<Inline> names;
    for (HeadColumn const& column : shown_columns(with_worth)) names.emplace_back(column.name);
    return plain(joined(names));
}

Document heads_report(std::vector<HeadSurvey> const& heads, Tokens const& tokens, std::string const& model,
                      std::string const& text, bool with_worth) {
    Table table;
    table.columns = {{"head"}};
    for (HeadColumn const& column : shown_columns(with_worth))
        table.columns.emplace_back(std::string{column.name}, Align::right);
    table.columns.emplace_back("query", Align::left);
    table.columns.emplace_back("reads key", Align::left);
    for (HeadSurvey const& head : heads) {
        std::vector<TableCell> cells{{fmt::format("{}.{}", head.layer, head.head)}};
        for (HeadColumn const& column : shown_columns(with_worth))
            cells.emplace_back(std::isnan(head.*column.figure) ? "" : column.number(head.*column.figure));
        if (!std::isnan(head.strongest)) {
            cells.emplace_back(token(tokens, head.query));
            cells.emplace_back(token(tokens, head.key));
        }
        cells.resize(table.columns.size(), {""});
        table.rows.push_back(std::move(cells));
    }
    Document page{fmt::format("The heads of {}", model)};
    page.paragraph(say("{} on {} ({})", model, Label{"", label(text)}, counted(tokens.size(), "token")));
    page.add(table);
    page.paragraph(
        "Means over rows 1 and later. self, previous, first: weight on the row itself, the one before, row "
        "0. induction: on what followed earlier occurrences of the token; duplicate: on the earlier "
        "occurrences (both over the rows that have some). effective_rows: the exponential of the entropy, in "
        "effect how many rows are read. score_deviation: standard deviation of the raw scores. strongest: "
        "the pair of different rows with the largest weight, row 0 left out.");
    if (with_worth)
        page.paragraph(
            "worth: how far the distribution of the next token moves when the head is silenced (its output "
            "is 0): the sum of p ln(p / p_silenced), in nats. top_without: the probability left to the token "
            "that was on top.");
    return page;
}

Inline worth_sentence(Worth const& worth, Token const& top, Tokens const& tokens) {
    return say("After row {} the model expects {}, with probability {}.", token(tokens, worth.row),
               Label{"", label(top)}, weight(static_cast<double>(worth.probability)));
}

Picture worth_picture(std::vector<HeadSurvey> const& heads) {
    std::size_t first_layer = heads.front().layer;
    std::size_t last_layer = 0;
    std::size_t n_head = 0;
    for (HeadSurvey const& head : heads) {
        first_layer = std::min(first_layer, head.layer);
        last_layer = std::max(last_layer, head.layer);
        n_head = std::max(n_head, head.head + 1);
    }
    Picture picture;
    picture.title = "What is each head worth to the next token?";
    picture.below =
        "Rows = layers, columns = heads; a cell is how far the next token's distribution moves without that "
        "head, in nats.";
    picture.values = make_matrix(last_layer - first_layer + 1, n_head);
    for (HeadSurvey const& head : heads)
        picture.values(head.layer - first_layer, head.head) = static_cast<float>(head.worth);
    for (std::size_t layer = first_layer; layer <= last_layer; ++layer)
        picture.row_labels.push_back(fmt::format("layer {}", layer));
    for (std::size_t head = 0; head < n_head; ++head)
        picture.column_labels.push_back(fmt::format("head {}", head));
    picture.scale = Scale::around_zero({picture.values.data(), picture.values.size()});
    picture.number = nats;
    return picture;
}

std::string heads_csv(std::vector<HeadSurvey> const& heads, Tokens const& tokens, bool with_worth) {
    std::string csv = "layer,head";
    for (HeadColumn const& column : shown_columns(with_worth)) csv += fmt::format(",{}", column.name);
    csv += ",query_pos,query,key_pos,key\n";
    for (HeadSurvey const& head : heads) {
        csv += fmt::format("{},{}", head.layer, head.head);
        for (HeadColumn const& column : shown_columns(with_worth))
            csv += std::isnan(head.*column.figure) ? "," : fmt::format(",{}", head.*column.figure);
        csv += std::isnan(head.strongest)
                   ? ",,,,\n"
                   : fmt::format(",{},{},{},{}\n", head.query, csv_field(label(tokens[head.query])), head.key,
                                 csv_field(label(tokens[head.key])));
    }
    return csv;
}

// ---------------------------------------------------------------------------------------------------------
// The next token

Document next_report(Facts const& facts, Tokens const& tokens, std::string const& experiment,
                     Next const& next, Tokens const& likely) {
    std::string const head = fmt::format("head {}.{}", facts.layer, facts.head);
    auto const name = [&](std::size_t i) { return Label{"", label(likely[i])}; };
    Document page{"The next token"};
    page.heading(say("What comes after row {}", token(tokens, next.row)));
    page.paragraph(say("{} on {}{}", facts.model, Label{"", label(facts.text)},
                       experiment.empty() ? Inline{} : say(", {}: {}", head, experiment)));
    Table table;
    table.columns = {{"token"}, {next.is_changed ? "as it is" : "probability", Align::right}};
    if (next.is_changed) table.columns.emplace_back(experiment, Align::right);
    for (std::size_t i = 0; i < likely.size(); ++i) {
        table.rows.push_back({name(i), weight(next.likely[i].probability)});
        if (next.is_changed) table.rows.back().emplace_back(weight(next.likely[i].changed));
    }
    page.add(table);
    if (next.is_changed) {
        auto const& all = next.likely;
        auto const changed = [](NextToken const& one) { return one.changed; };
        auto const top = static_cast<std::size_t>(std::ranges::max_element(all, {}, changed) - all.begin());
        page.paragraph(say("With the experiment {} on {}, {} The whole distribution moves by {} nats{}.",
                           Code{experiment}, head,
                           top == 0 ? say("{} stays on top, with {} instead of {}.", name(0),
                                          weight(all[0].changed), weight(all[0].probability))
                                    : say("{} is on top with {} instead of {}, and {} goes from {} to {}.",
                                          name(top), weight(all[top].changed), weight(all[top].probability),
                                          name(0), weight(all[0].probability), weight(all[0].changed)),
                           fmt::format("{:.3g}", next.worth),
                           next.worth < little_worth ? ", which is next to nothing" : ""));
    }
    page.aside(
        "Probabilities of the next token over the whole vocabulary: the row goes on through the layers "
        "above, the final LayerNorm and the unembedding, then a softmax. Nats: the sum of p ln(p / "
        "p_changed), how far the changed distribution is from the other.");
    return page;
}

std::string next_csv(Next const& next, Tokens const& likely) {
    std::string csv =
        next.is_changed ? "token_id,token,probability,changed\n" : "token_id,token,probability\n";
    for (std::size_t i = 0; i < likely.size(); ++i) {
        csv += fmt::format("{},{},{}", likely[i].id, csv_field(label(likely[i])), next.likely[i].probability);
        csv += next.is_changed ? fmt::format(",{}\n", next.likely[i].changed) : "\n";
    }
    return csv;
}

// ---------------------------------------------------------------------------------------------------------
// The vocabulary

namespace {

std::string shape(Term const& term) {
    return fmt::format("[{}, {}]", term.rows, term.columns);
}

std::string elsewhere(std::string_view name, std::string_view layer) {
    return name.empty() ? "none" : in_layer(name, layer);
}

}  // namespace

Document glossary(std::string_view layer) {
    Document page{"The steps of a head"};
    for (Term const& term : terms::all) {
        page.part(say("{} {}", step_name(term), shape(term)));
        page.add(Note{std::string{term.meaning}});
        page.add(Formula{"", std::string{term.formula}});
        page.add(FactList{{{"TransformerLens", elsewhere(term.transformer_lens, layer)},
                           {"Hugging Face", elsewhere(term.hugging_face, layer)}}});
    }
    return page;
}

Document glossary_table(std::string_view layer) {
    Table table;
    table.columns = {{"no."},         {"step"}, {"shape"}, {"what it is"}, {"formula"}, {"TransformerLens"},
                     {"Hugging Face"}};
    for (Term const& term : terms::all)
        table.rows.push_back({{fmt::format("{:02}", term.number)},
                              {Code{std::string{term.name}}},
                              {shape(term)},
                              {std::string{term.meaning}},
                              {Code{std::string{term.formula}}},
                              {elsewhere(term.transformer_lens, layer)},
                              {elsewhere(term.hugging_face, layer)}});
    Document page{"The steps of a head"};
    page.add(table);
    return page;
}

}  // namespace onehead
