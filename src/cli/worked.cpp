// onehead worked: one number of a trace, worked out term by term, ending in the number that the trace holds.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/study/worked.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead worked scores 4 1                       the 64 products of a score
  onehead worked softmax 4 1 --experiment unscaled
  onehead worked q 4 0 --csv q.csv                192 products and a bias, for a spreadsheet
)";

}  // namespace

int run_worked(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("step", po::value<std::string>()->value_name("STEP"), "the step, such as scores");
    add("of", po::value<std::string>()->value_name("ROW"), "the row, from 0");
    add("column", po::value<std::string>()->value_name("COL"), "the column, from 0");
    add_run_options(options);
    add_experiment_option(options);
    add("csv", po::value<std::string>()->value_name("F"), "write every line to this file too");
    add("help", "this");
    if (shows_help(arguments, "worked STEP ROW COL [options]", options, examples)) return 0;
    Given const given = parse(arguments, options, {"step", "of", "column"});
    if (given.count("column") == 0)
        throw UsageError("worked: expected STEP ROW COL, such as scores 4 1; see onehead worked --help");

    auto const model = open_model(given);
    Request const request = make_request(given, *model);
    Run const run = prepare(*model, request);
    Worked const worked =
        work_out(changed_case(run, request.experiment), trace(run, request.experiment),
                 parse_step("worked", value(given, "step")), parse_count("ROW", value(given, "of")),
                 parse_count("COL", value(given, "column")));
    constexpr std::size_t all_lines = 1'000'000;
    fmt::print("{}", working_text(worked, all_lines));
    if (given.count("csv") != 0) write_file_in_place(value(given, "csv"), working_csv(worked));
    return worked.agrees() ? 0 : 1;
}

}  // namespace onehead
