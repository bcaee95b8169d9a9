// The command `onehead`: finds the subcommand and runs it.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

namespace {

void print_help() {
    fmt::print(
        "onehead: one attention head of GPT-2, with every intermediate value\n\nusage: onehead COMMAND "
        "[options]\n\n");
    for (Subcommand const* command : commands) fmt::print("  {:<12} {}\n", command->name, command->does);
    fmt::print(
        "\n`onehead COMMAND --help` tells more, with examples. `onehead --version` prints the version.\n"
        "Try: onehead trace --text \"The cat sat on the mat\" --out cat\n");
}

Subcommand const& find_command(std::string const& name) {
    auto const found =
        std::find_if(commands.begin(), commands.end(), [&](Subcommand const* c) { return c->name == name; });
    if (found != commands.end()) return **found;
    throw UsageError(
        {.where = label(name), .found = "there is no such command", .advice = "`onehead --help` lists them"});
}

int run(Arguments arguments, int& trouble) {
    if (arguments.empty()) {
        print_help();
        return 2;
    }
    if (arguments[0] == "help" && arguments.size() > 1) arguments = {arguments[1], "--help"};
    std::string const first = arguments[0];
    if (first == "--help" || first == "-h" || first == "help") {
        print_help();
        return 0;
    }
    if (first == "--version" || first == "-v") {
        fmt::print("onehead {}\n", ONEHEAD_VERSION);
        return 0;
    }
    Subcommand const& command = find_command(first);
    trouble = command.trouble;
    return command.run({arguments.begin() + 1, arguments.end()});
}

}  // namespace

}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::run_program("onehead", [&](int& trouble) {
        return onehead::run({argv + 1, argv + argc}, trouble);
    });
}
