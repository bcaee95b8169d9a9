// onehead experiments: the table of what can be changed about a head, and the question that each change
// answers.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/attention/experiments.hpp"

namespace onehead {

int run_experiments(Arguments const& arguments) {
    Options options{"options"};
    options.add_options()("help", "this");
    if (shows_help(arguments, "experiments", options, "  onehead trace --experiment no-bias --out no-bias\n"))
        return 0;
    parse(arguments, options);
    for (Experiment const& experiment : experiments())
        fmt::print("{}\n    {}\n    {}\n", experiment.name, experiment.question, experiment.changes);
    return 0;
}

}  // namespace onehead
