// onehead experiments: the table of what can be changed about a head, and the question that each change
// answers.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/attention/experiments.hpp"

namespace onehead {

namespace {

int run_experiments(Arguments const& arguments) {
    Options options{"onehead experiments",
                    "\nexamples:\n  onehead trace --experiment no-bias --out no-bias\n"};
    if (!options.read(arguments)) return 0;
    for (Experiment const& experiment : experiments())
        fmt::print("{}\n    {}\n    {}\n", experiment.name, experiment.question, experiment.changes);
    return 0;
}

}  // namespace

Subcommand const experiments_command{
    "experiments", "what can be changed about a head, and what each change shows", run_experiments};

}  // namespace onehead
