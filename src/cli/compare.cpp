// onehead compare: two traces of the same tokens, step by step, and row by row of their patterns. Like diff:
// 0 the same to the last bit (or within --tolerance), 1 different, 2 trouble.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead trace --out cat && onehead trace --experiment unscaled --out sharp
  onehead compare cat sharp
  onehead compare cat sharp --csv difference.csv --html difference.html
)";

std::string comparison_csv(Comparison const& comparison) {
    std::string csv = "step,largest_difference,row,column,bit_identical,values\n";
    for (auto const& [term, d] : comparison.steps)
        csv += fmt::format("{},{},{},{},{},{}\n", file_stem(term), d.largest,
                           d.same() ? "" : std::to_string(d.row), d.same() ? "" : std::to_string(d.column),
                           d.identical, d.cells);
    return csv;
}

bool within(Comparison const& comparison, double tolerance) {
    if (comparison.same()) return true;
    if (tolerance == 0 || !comparison.only_in_a.empty() || !comparison.only_in_b.empty()) return false;
    return std::all_of(comparison.steps.begin(), comparison.steps.end(),
                       [&](auto const& step) { return step.difference.largest <= tolerance; });
}

}  // namespace

int run_compare(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("a", po::value<std::string>()->value_name("A"), "the first trace folder");
    add("b", po::value<std::string>()->value_name("B"), "the second");
    add("tolerance", po::value<std::string>()->value_name("T"),
        "call them the same if no value differs by more (default: 0, the same bits)");
    add("csv", po::value<std::string>()->value_name("F"), "write the table of steps to this file too");
    add("html", po::value<std::string>()->value_name("F"),
        "write a page to this file too, with both patterns side by side");
    add("help", "this");
    if (shows_help(arguments, "compare A B [options]", options, examples)) return 0;
    Given const given = parse(arguments, options, {"a", "b"});
    if (given.count("a") == 0 || given.count("b") == 0)
        throw UsageError("compare: expected two trace folders; see onehead compare --help");
    double const tolerance =
        given.count("tolerance") != 0 ? parse_number("--tolerance", value(given, "tolerance")) : 0;

    Trace const a = read_trace(value(given, "a"));
    Trace const b = read_trace(value(given, "b"));
    Comparison const comparison = compare(a, b);
    NamedTrace const named_a{printable(value(given, "a")), a};
    NamedTrace const named_b{printable(value(given, "b")), b};
    fmt::print("A  {}\nB  {}\n\n{}\n", named_a.name, named_b.name, step_table(comparison).text());
    if (!comparison.pattern.empty())
        fmt::print("{}\n{}\n", paragraph(pattern_table_says), pattern_table(comparison, a.tokens).text());
    fmt::print("{}", paragraph(verdict(comparison) + "."));
    if (given.count("csv") != 0) write_file_in_place(value(given, "csv"), comparison_csv(comparison));
    if (given.count("html") != 0)
        write_file_in_place(value(given, "html"), compare_html(named_a, named_b, comparison));
    return within(comparison, tolerance) ? 0 : 1;
}

}  // namespace onehead
