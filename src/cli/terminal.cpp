#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

namespace onehead {
namespace {

std::string_view environment(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::size_t> terminal_width() {
    constexpr std::size_t usual = 80;
    if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;  // NOLINT(*-vararg)
    return size.ws_col;
}

bool wants_colour() {
    return environment("NO_COLOR").empty() && !environment("TERM").empty() && environment("TERM") != "dumb";
}

}  // namespace onehead
