// The command `onehead`: finds the subcommand, runs it, and turns whatever went wrong into one line and an
// exit code.
#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "cli/command.hpp"
#include "cli/start.hpp"
#include "error.hpp"
#include "trace/printable.hpp"

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
