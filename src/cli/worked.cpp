// onehead worked: one number of a trace, worked out term by term, ending in the number that the trace holds.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/worked.hpp"

namespace onehead {

namespace {

constexpr auto worked_examples = R"(
examples:
  onehead worked scores 4 1                       the 64 products of a score
  onehead worked softmax 4 1 --experiment unscaled
  onehead worked q 4 0 --csv q.csv                192 products and a bias, for a spreadsheet
)";

int run_worked(Arguments const& arguments) {
    Term step = terms::softmax;
    std::size_t row = 0;
    std::size_t column = 0;
    RunOptions run;
    std::optional<std::string> csv;
    Options options{"onehead worked STEP ROW COL [options]", worked_examples};
    options.add_word("STEP", step, "the step, such as scores");
    options.add_word("ROW", row, "the row, from 0");
    options.add_word("COL", column, "the column, from 0");
    add_run_options(options, run);
    add_experiment_option(options, run);
    options.add("csv", "F", csv, "write every line to this file too");
    if (!options.read(arguments)) return 0;

    auto const model = open_model(run);
    Request const request = make_request(run, *model);
    Run const prepared = prepare(*model, request);
    Worked const worked = work_out(changed_case(prepared, request.experiment),
                                   trace(prepared, request.experiment), step, row, column);
    constexpr std::size_t all_lines = 1'000'000;
    fmt::print("{}", text(worked_report(worked, all_lines)));
    if (csv) write_file_in_place(*csv, working_csv(worked));
    return worked.agrees() ? 0 : 1;
}

}  // namespace

Subcommand const worked_command{"worked", "one number worked out by hand, to the last bit", run_worked};

}  // namespace onehead
