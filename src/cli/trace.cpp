// onehead trace: runs one head on a text. On the terminal it tells the row's story; with --out every step
// goes to files.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead trace                                   the page, on the terminal
  onehead trace --out cat                         every step as text and CSV in the folder cat
  onehead trace --text "Dogs bark." --head 2 --row 1 --out dogs --format text,csv,html
  onehead trace --out cat --tidy                  and the weights in long form, for plots
  onehead trace --experiment unscaled --out sharp && onehead compare cat sharp
)";

Options make_options() {
    Options options{"options"};
    add_run_options(options);
    add_experiment_option(options);
    auto add = options.add_options();
    add("out", po::value<std::string>()->value_name("DIR"),
        "write the trace to this folder (an earlier trace there is replaced)");
    add("format", po::value<std::string>()->value_name("text,csv"),
        ("what to write: " + format_names() + ", joined by commas (default: text,csv)").c_str());
    add("tidy", po::bool_switch(), "write the scores and weights in long form too, a line a cell, for plots");
    add("quiet", po::bool_switch(), "print nothing");
    add("help", "this");
    return options;
}

std::vector<Format> wanted_formats(Given const& given) {
    bool const tidy = given["tidy"].as<bool>();
    if ((tidy || given.count("format") != 0) && given.count("out") == 0)
        throw UsageError(fmt::format("{}: expected --out DIR with it, found none; say where to write",
                                     tidy ? "--tidy" : "--format"));
    std::string const names = given.count("format") != 0 ? value(given, "format") : "text,csv";
    return find_formats(tidy ? names + ",tidy" : names);
}

}  // namespace

int run_trace(Arguments const& arguments) {
    Options const options = make_options();
    if (shows_help(arguments, "trace [options]", options, examples)) return 0;
    Given const given = parse(arguments, options);
    std::string const out = value(given, "out");
    auto const wanted = wanted_formats(given);
    if (!out.empty()) expect_replaceable(out, is_trace_file);

    auto const model = open_model(given);
    Trace const result = trace(*model, make_request(given, *model));
    if (!out.empty()) write_trace(out, result, wanted);
    if (given["quiet"].as<bool>()) return 0;
    fmt::print("{}", out.empty() ? trace_text(result, {}) : trace_summary(result));
    if (auto const width = terminal_width())
        fmt::print("\n{}", shaded_grid(result, *width, wants_colour() ? Shading::colour : Shading::blocks));
    if (!out.empty()) fmt::print("\nwritten to {}\n", printable(out));
    return 0;
}

}  // namespace onehead
