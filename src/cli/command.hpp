// The command `onehead` is a table of subcommands, each in a file of its own.
#pragma once

#include <span>
#include <string_view>

#include "cli/options.hpp"

namespace onehead {

struct Command {
    std::string_view name;
    std::string_view does;                   // a line for `onehead --help`
    int (*run)(Arguments const& arguments);  // the exit code
    int trouble = 1;                         // the exit code for bad data: 2 where 1 is a verdict, as in diff
};

std::span<Command const> commands();

// If --help is among the arguments, prints the usage, the options and examples, and returns true.
bool shows_help(Arguments const& arguments, std::string_view usage, Options const& options,
                std::string_view examples);

int run_trace(Arguments const& arguments);
int run_compare(Arguments const& arguments);
int run_measure(Arguments const& arguments);
int run_terms(Arguments const& arguments);
int run_tokens(Arguments const& arguments);
int run_experiments(Arguments const& arguments);
int run_heads(Arguments const& arguments);
int run_worked(Arguments const& arguments);
int run_causality(Arguments const& arguments);
int run_check(Arguments const& arguments);
int run_excerpt(Arguments const& arguments);

}  // namespace onehead
