// The command `onehead`: finds the subcommand, runs it, and turns whatever went wrong into one line and an
// exit code.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

namespace {

void print_help() {
    fmt::print(
        "onehead: one attention head of GPT-2, every number of it\n\nusage: onehead COMMAND [options]\n\n");
    for (Command const& command : commands()) fmt::print("  {:<12} {}\n", command.name, command.does);
    fmt::print(
        "\n`onehead COMMAND --help` tells more, with examples. `onehead --version` prints the version.\n"
        "Try: onehead trace --text \"The cat sat on the mat\" --out cat\n");
}

Command const& find_command(std::string const& name) {
    auto const all = commands();
    auto const found = std::find_if(all.begin(), all.end(), [&](Command const& c) { return c.name == name; });
    if (found == all.end())
        throw UsageError(
            fmt::format("{}: there is no such command; `onehead --help` lists them", label(name)));
    return *found;
}

int run(Arguments const& arguments, int& trouble) {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
        print_help();
        return arguments.empty() ? 2 : 0;
    }
    if (arguments[0] == "--version") {
        fmt::print("onehead {}\n", ONEHEAD_VERSION);
        return 0;
    }
    Command const& command = find_command(arguments[0]);
    trouble = command.trouble;
    return command.run({arguments.begin() + 1, arguments.end()});
}

// What was printed may still wait in the program's memory, and its disk may be full.
void finish_page() {
    if (std::fflush(stdout) != 0)
        throw Error(fmt::format("the page cannot be written: {}", std::generic_category().message(errno)));
}

int report(std::string_view message, int exit_code) {
    fmt::print(stderr, "onehead: {}\n", printable(message));
    return exit_code;
}

}  // namespace

namespace {

constexpr std::array table{
    Command{"trace", "run one head on a text and write down every step", run_trace},
    Command{"heads", "what every head of the model does on a text, to choose one", run_heads},
    Command{"experiments", "what can be changed about a head, and what each change shows", run_experiments},
    Command{"compare", "hold two traces against each other, step by step", run_compare, 2},
    Command{"causality", "change a word or append some: which rows move, and may they?", run_causality, 2},
    Command{"worked", "one number worked out by hand, to the last bit", run_worked},
    Command{"measure", "how long rows of a trace are, and how much they point the same way", run_measure},
    Command{"check", "hold a trace against what another implementation computed", run_check, 2},
    Command{"terms", "the steps and their names in TransformerLens and Hugging Face", run_terms},
    Command{"tokens", "show how a text is cut into tokens", run_tokens},
    Command{"excerpt", "cut out of a model what one block needs on one text", run_excerpt},
};

}  // namespace

std::span<Command const> commands() {
    return table;
}

bool shows_help(Arguments const& arguments, std::string_view usage, Options const& options,
                std::string_view examples) {
    auto const end = std::find(arguments.begin(), arguments.end(), "--");
    if (std::find(arguments.begin(), end, "--help") == end) return false;
    std::cout << "usage: onehead " << usage << "\n\n" << options << "\nexamples:\n" << examples;
    return true;
}

}  // namespace onehead

int main(int argc, char** argv) {
    onehead::start_program();
    int trouble = 1;
    try {
        int const exit_code = onehead::run({argv + 1, argv + argc}, trouble);
        onehead::finish_page();
        return exit_code;
    } catch (onehead::UsageError const& error) {
        return onehead::report(error.what(), 2);
    } catch (std::bad_alloc const&) {
        return onehead::report("out of memory; a shorter text needs less", trouble);
    } catch (std::exception const& error) {
        return onehead::report(error.what(), trouble);
    }
}
