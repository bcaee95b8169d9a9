// onehead measure: norms and cosine similarities of rows of a trace.

#include <fmt/format.h>
#include <cmath>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/statistics.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto measure_examples = R"(
examples:
  onehead measure cat q 4 k 1                     the query of row 4 and the key of row 1
  onehead measure cat residual 4 output_projection 4 residual_after 4
)";

struct Measured {
    std::string name;  // "q of 4 ' the'"
    std::span<float const> values;
};

Measured find(Trace const& trace, std::string const& name, std::string const& number) {
    Step const& step = trace.step(read_step("STEP", name));
    std::size_t const at = read_count("ROW", number);
    if (at >= row_count(step.values))
        throw UsageError({.where = name + ": ROW",
                          .expected = fmt::format("a row from 0 to {}", row_count(step.values) - 1),
                          .found = number});
    std::string const place = step.term.rows == "1" ? "every row" : token_at(trace, at);
    return {fmt::format("{} of {}", name, place), row(step.values, at)};
}

std::vector<Measured> find_all(Trace const& trace, std::vector<std::string> const& names) {
    if (names.size() % 2 != 0)
        throw UsageError({.where = names.back(),
                          .expected = "a row after each step",
                          .found = "none after the last",
                          .advice = "such as: measure cat q 4 k 1"});
    std::vector<Measured> all;
    for (std::size_t at = 0; at < names.size(); at += 2) all.push_back(find(trace, names[at], names[at + 1]));
    return all;
}

// A row in which something is masked has no standard deviation.
std::string figure(double value) {
    return std::isnan(value) ? "-" : component(value);
}

std::string table_of(std::vector<Measured> const& all) {
    Table table;
    table.columns = {{"row"},
                     {"numbers", Align::right},
                     {"mean", Align::right},
                     {"standard deviation", Align::right},
                     {"norm", Align::right}};
    for (auto const& [name, values] : all)
        table.rows.push_back({{name},
                              {values.size()},
                              {figure(mean(values))},
                              {figure(standard_deviation(values))},
                              {figure(norm(values))}});
    return text(table);
}

// Every pair of rows that are equally wide.
std::string pairs_of(std::vector<Measured> const& all) {
    Table table;
    table.columns = {{"row"}, {"and row"}, {"cosine similarity", Align::right}};
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j)
            if (all[i].values.size() == all[j].values.size())
                table.rows.push_back({{all[i].name},
                                      {all[j].name},
                                      {figure(cosine_similarity(all[i].values, all[j].values))}});
    return table.rows.empty() ? "" : text(table);
}

int run_measure(Arguments const& arguments) {
    std::string folder;
    std::vector<std::string> rows;
    Options options{"onehead measure TRACE STEP ROW [STEP ROW]...", measure_examples};
    options.add_word("TRACE", folder, "a trace folder");
    options.add_words("STEP ROW", rows, "a step and one of its rows, from 0; as many as wanted");
    if (!options.read(arguments)) return 0;

    Trace const trace = read_trace(folder);
    auto const all = find_all(trace, rows);
    fmt::print("{}", table_of(all));
    if (auto const pairs = pairs_of(all); !pairs.empty()) fmt::print("\n{}", pairs);
    return 0;
}

}  // namespace

Subcommand const measure_command{"measure", "norms and cosine similarities of rows of a trace", run_measure};

}  // namespace onehead
