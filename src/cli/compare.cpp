// onehead compare: two traces of the same tokens, step by step, and row by row of their patterns. Like diff:
// 0 the same to the last bit (or within --tolerance), 1 different, 2 trouble.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto compare_examples = R"(
examples:
  onehead trace --out cat && onehead trace --experiment unscaled --out sharp
  onehead compare cat sharp
  onehead compare cat sharp --csv difference.csv --html difference.html
)";

bool within(Comparison const& comparison, double tolerance) {
    if (comparison.same()) return true;
    if (tolerance == 0 || !comparison.only_in_a.empty() || !comparison.only_in_b.empty()) return false;
    return std::all_of(comparison.steps.begin(), comparison.steps.end(),
                       [&](auto const& step) { return step.difference.largest <= tolerance; });
}

int run_compare(Arguments const& arguments) {
    std::string folder_a, folder_b;
    double tolerance = 0;
    std::optional<std::string> csv, html_file;
    Options options{"onehead compare A B [options]", compare_examples};
    options.add_word("A", folder_a, "the first trace folder");
    options.add_word("B", folder_b, "the second trace folder");
    options.add("tolerance", "T", tolerance,
                "call them the same if no value differs by more (default: 0, the same bits)");
    options.add("csv", "F", csv, "write the table of steps to this file too");
    options.add("html", "F", html_file, "write a page to this file too, with both patterns side by side");
    if (!options.read(arguments)) return 0;

    Trace const a = read_trace(folder_a);
    Trace const b = read_trace(folder_b);
    Comparison const comparison = compare(a, b);
    Document const page = compare_report(a, b, comparison);
    fmt::print("A  {}\nB  {}\n\n{}", printable(folder_a), printable(folder_b), text(page));
    if (csv) write_file_in_place(*csv, comparison_csv(comparison));
    if (html_file) write_file_in_place(*html_file, html(page));
    return within(comparison, tolerance) ? 0 : 1;
}

}  // namespace

Subcommand const compare_command{"compare", "compare two traces step by step", run_compare, 2};

}  // namespace onehead
