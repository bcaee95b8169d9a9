#include "write/row_tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "write/numbers.hpp"
#include "write/table.hpp"

namespace onehead {
namespace {

constexpr std::size_t shown_numbers = 6;  // of a vector
constexpr std::size_t keys_a_line = 8;
constexpr std::size_t most_keys = 16;  // of a row of scores
constexpr std::size_t most_tokens = 24;

// Of a long text the tokens around a row are shown.
std::size_t first_shown_token(std::size_t n, std::size_t row) {
    std::size_t const before = std::min(row, most_tokens / 2);
    return std::min(row - before, n - std::min(n, most_tokens));
}

std::string name(Term const& term) {
    return fmt::format("{:02} {}", term.number, term.name);
}

// Row `row` of a step; the single row of one that has no positions.
std::span<float const> row_of(Step const& step, std::size_t row) {
    return onehead::row(step.values, row_count(step.values) == 1 ? 0 : row);
}

std::vector<std::string> score_line(Trace const& trace, std::size_t row, Term const& term,
                                    std::span<std::size_t const> keys) {
    std::vector<std::string> cells{name(term)};
    auto const values = onehead::row(trace[term], row);
    for (std::size_t const key : keys) cells.push_back(short_number(term, values[key]));
    return cells;
}

std::string score_lines(Trace const& trace, std::size_t row, std::vector<Term> const& steps,
                        std::span<std::size_t const> keys) {
    Table table{{Align::left, Align::right}};
    std::vector<std::string> positions{"key"};
    std::vector<std::string> labels{""};
    for (std::size_t const key : keys) {
        positions.push_back(std::to_string(key));
        labels.push_back(label(trace.tokens[key].bytes));
    }
    table.add(positions);
    table.add(labels);
    for (Term const& term : steps) table.add(score_line(trace, row, term, keys));
    return table.text();
}

}  // namespace

std::string token_table(Trace const& trace) {
    std::size_t const n = trace.tokens.size();
    std::size_t const first = first_shown_token(n, trace.facts.row);
    std::size_t const end = std::min(n, first + most_tokens);
    Table table{{Align::left, Align::right, Align::right, Align::left}};
    table.add({"", "pos", "token_id", "token"});
    for (std::size_t pos = first; pos < end; ++pos)
        table.add({pos == trace.facts.row ? ">" : "", std::to_string(pos),
                   std::to_string(trace.tokens[pos].id), label(trace.tokens[pos].bytes)});
    if (end - first == n) return table.text();
    return table.text() +
           fmt::format("\n  ... the {} tokens around the row, of {}; tokens.csv has all\n", end - first, n);
}

std::string vector_table(Trace const& trace, std::vector<Term> const& steps) {
    Table table{{Align::left}};
    for (Term const& term : steps)
        if (auto const* step = trace.find(term))
            table.add({name(term), short_list(row_of(*step, trace.facts.row), shown_numbers),
                       file_stem(term) + ".csv"});
    return table.text();
}

std::string short_number(Term const& term, double value) {
    return term == terms::softmax ? short_weight(value) : short_score(value);
}

std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row) {
    std::vector<std::size_t> keys(trace.tokens.size());
    std::iota(keys.begin(), keys.end(), 0);
    if (keys.size() <= most_keys) return keys;
    auto const weights = onehead::row(trace[terms::softmax], row);
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    keys.resize(most_keys);
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::string score_table(Trace const& trace, std::size_t row, std::vector<Term> const& steps) {
    auto const keys = shown_keys(trace, row);
    std::string page;
    for (std::size_t first = 0; first < keys.size(); first += keys_a_line) {
        auto const line = std::span{keys}.subspan(first, std::min(keys_a_line, keys.size() - first));
        page += (first == 0 ? "" : "\n") + score_lines(trace, row, steps, line);
    }
    if (keys.size() < trace.tokens.size())
        page += fmt::format("\n  ... {} more keys: the table shows the {} that this row reads most\n",
                            trace.tokens.size() - keys.size(), keys.size());
    return page;
}

std::string blend_table(Trace const& trace) {
    Table table{{Align::right, Align::left}};
    auto const weights = row(trace[terms::softmax], trace.facts.row);
    auto const reads = [&](std::size_t key) { return weights[key] != 0; };
    auto keys = shown_keys(trace, trace.facts.row);
    std::erase_if(keys, [&](std::size_t key) { return !reads(key); });
    for (std::size_t const key : keys)
        table.add({short_weight(weights[key]), fmt::format("x  v of {}", token_at(trace, key)),
                   short_list(row(trace[terms::v], key), shown_numbers)});
    auto const all = std::count_if(weights.begin(), weights.end(), [](float weight) { return weight != 0; });
    if (auto const left_out = static_cast<std::size_t>(all) - keys.size(); left_out > 0)
        table.add({"...", fmt::format("{} more rows", left_out)});
    table.add({"sum", "=  12 blend", short_list(row(trace[terms::blend], trace.facts.row), shown_numbers)});
    return table.text();
}

std::string addition_table(Trace const& trace) {
    Table table{{Align::right, Align::left}};
    auto const add = [&](std::string const& sign, Term const& term) {
        if (auto const* step = trace.find(term))
            table.add({sign, name(term), short_list(row_of(*step, trace.facts.row), shown_numbers),
                       file_stem(term) + ".csv"});
    };
    add("", terms::residual);
    add("+", terms::output_projection);
    add("+", terms::other_heads);
    add("+", terms::projection_bias);
    add("=", terms::residual_after);
    return table.text();
}

}  // namespace onehead
