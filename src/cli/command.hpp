// The command `onehead` is a table of subcommands. Each is a file of its own, named after it, and a line
// here.
#pragma once

#include <array>
#include <string_view>

#include "cli/options.hpp"

namespace onehead {

struct Subcommand {
    std::string_view name;
    std::string_view does;                   // a line for `onehead --help`
    int (*run)(Arguments const& arguments);  // the exit code
    int trouble = 1;                         // the exit code for bad data: 2 where 1 is a verdict, as in diff
};

extern Subcommand const trace_command, heads_command, next_command, experiments_command, compare_command,
    causality_command, worked_command, measure_command, check_command, terms_command, tokens_command,
    excerpt_command;

inline constexpr std::array commands{
    &trace_command,   &heads_command,     &next_command,   &experiments_command,
    &compare_command, &causality_command, &worked_command, &measure_command,
    &check_command,   &terms_command,     &tokens_command, &excerpt_command,
};

}  // namespace onehead
