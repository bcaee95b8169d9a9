// onehead trace: runs one head on a text. On the terminal it tells the row's story; with --out every step
// goes to files.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto trace_examples = R"(
examples:
  onehead trace                                   the page, on the terminal
  onehead trace --out cat                         every step as text and CSV in the folder cat
  onehead trace --text "Dogs bark." --head 2 --row 1 --out dogs --format text,csv,html
  onehead trace --out cat --tidy                  and the weights in long form, for plots
  onehead trace --experiment unscaled --out sharp && onehead compare cat sharp
)";

int run_trace(Arguments const& arguments) {
    RunOptions run;
    std::optional<std::string> out;
    std::optional<std::vector<Format>> given_formats;
    bool tidy = false;
    bool quiet = false;
    Options options{"onehead trace [options]", trace_examples};
    add_run_options(options, run);
    add_experiment_option(options, run);
    options.add("out", "DIR", out, "write the trace to this folder (an earlier trace there is replaced)");
    options.add("format", "text,csv", given_formats,
                "what to write: " + format_names() + ", joined by commas (default: text,csv)");
    options.add_flag("tidy", tidy,
                     "write the scores and weights in long form too, one line per cell, for plots");
    options.add_flag("quiet", quiet, "print nothing");
    if (!options.read(arguments)) return 0;
    if ((tidy || given_formats) && !out)
        throw UsageError({.where = tidy ? "--tidy" : "--format",
                          .expected = "--out DIR with it",
                          .found = "none",
                          .advice = "say where to write"});
    auto wanted = given_formats.value_or(find_formats("text,csv"));
    if (tidy) wanted.push_back(find_formats("tidy").front());
    if (out) expect_replaceable(*out, trace_folder);

    auto const model = open_model(run);
    Trace const result = trace(*model, make_request(run, *model));
    if (out) write_trace(*out, result, wanted);
    if (quiet) return 0;
    fmt::print("{}", text(out ? trace_summary(result) : trace_story(result, {})));
    if (auto const width = terminal_width())
        fmt::print("\n{}", shaded_grid(result, *width, wants_colour() ? Shading::colour : Shading::blocks));
    if (out) fmt::print("\nwritten to {}\n", printable(*out));
    return 0;
}

}  // namespace

Subcommand const trace_command{"trace", "run one head on a text and record every step", run_trace};

}  // namespace onehead
