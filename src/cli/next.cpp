// onehead next: the token that the model expects after a row, as it is and with an experiment on one head.

#include <fmt/format.h>
#include <optional>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/next.hpp"

namespace onehead {

namespace {

constexpr auto next_examples = R"(
examples:
  onehead next --text-file data/texts/fox.txt
  onehead next --text-file data/texts/fox.txt --layer 3 --head 2 --experiment silent
  onehead next --experiment unscaled --top 10 --csv next.csv
)";

int run_next(Arguments const& arguments) {
    RunOptions run;
    std::size_t top = 5;
    std::optional<std::string> csv, html_file;
    Options options{"onehead next [options]", next_examples};
    add_run_options(options, run);
    add_experiment_option(options, run);
    options.add("top", "K", top, "how many tokens of each distribution (default: 5)");
    options.add("csv", "F", csv, "write the table as CSV to this file too");
    options.add("html", "F", html_file, "write the page for a browser to this file too");
    if (!options.read(arguments)) return 0;
    if (top == 0) throw UsageError("--top 0: expected at least 1 token; leave it out for 5");

    auto const model = open_model(run);
    Request const request = make_request(run, *model);
    auto const [prepared, next, likely] = next_tokens(*model, request, top);
    Document const page = next_report(prepared.facts, prepared.tokens, request.experiment, next, likely);
    fmt::print("{}", text(page));
    if (csv) write_file_in_place(*csv, next_csv(next, likely));
    if (html_file) write_file_in_place(*html_file, html(page));
    return 0;
}

}  // namespace

Subcommand const next_command{
    "next", "the token that the model expects next, as it is and with one head changed", run_next};

}  // namespace onehead
