// onehead measure: how long rows of a trace are, and how much they point the same way.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/statistics.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples =
    R"(  onehead measure cat q 4 k 1                     the query of row 4 and the key of row 1
  onehead measure cat residual 4 output_projection 4 residual_after 4
)";

constexpr auto usage = "measure: expected TRACE STEP ROW [STEP ROW]..., such as cat q 4 k 1";

constexpr std::size_t most_words = 33;  // a trace and 16 rows

struct Measured {
    std::string name;  // "q of 4 ' the'"
    std::span<float const> values;
};

Measured find(Trace const& trace, std::string const& name, std::string const& number) {
    Step const& step = trace.step(parse_step("measure", name));
    std::size_t const at = parse_count("ROW", number);
    if (at >= row_count(step.values))
        throw UsageError(fmt::format("measure: {} has no row {}; choose one from 0 to {}", name, at,
                                     row_count(step.values) - 1));
    std::string const place = step.term.rows == "1" ? "every row" : token_at(trace, at);
    return {fmt::format("{} of {}", name, place), row(step.values, at)};
}

std::vector<Measured> find_all(Trace const& trace, std::vector<std::string> const& names) {
    if (names.empty() || names.size() % 2 != 0) throw UsageError(usage);
    std::vector<Measured> all;
    for (std::size_t at = 0; at < names.size(); at += 2) all.push_back(find(trace, names[at], names[at + 1]));
    return all;
}

std::string table_of(std::vector<Measured> const& all) {
    Table table{{Align::left, Align::right}};
    table.add({"", "numbers", "mean", "spread", "length"});
    for (auto const& [name, values] : all)
        table.add({name, std::to_string(values.size()), fixed(mean(values), 3), fixed(spread(values), 3),
                   fixed(length(values), 3)});
    return table.text();
}

// Every pair of rows that are equally wide.
std::string pairs_of(std::vector<Measured> const& all) {
    Table table{{Align::left, Align::left, Align::right}};
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j)
            if (all[i].values.size() == all[j].values.size())
                table.add({all[i].name, "and " + all[j].name, "cosine",
                           fixed(cosine(all[i].values, all[j].values), 3)});
    return table.text();
}

}  // namespace

int run_measure(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("trace", po::value<std::string>()->value_name("TRACE"), "a trace folder");
    add("rows", po::value<std::vector<std::string>>()->composing()->value_name("STEP ROW"),
        "steps, each with a row");
    add("help", "this");
    if (shows_help(arguments, "measure TRACE STEP ROW [STEP ROW]...", options, examples)) return 0;
    std::vector<std::string> places(most_words, "rows");
    places.front() = "trace";
    Given const given = parse(arguments, options, places);
    if (given.count("rows") == 0) throw UsageError(usage);

    Trace const trace = read_trace(value(given, "trace"));
    auto const all = find_all(trace, given["rows"].as<std::vector<std::string>>());
    fmt::print("{}", table_of(all));
    if (auto const pairs = pairs_of(all); !pairs.empty()) fmt::print("\n{}", pairs);
    return 0;
}

}  // namespace onehead
