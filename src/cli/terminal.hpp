// What standard output is: a person's terminal, or a pipe or file, where output is plain text.
#pragma once

#include <cstddef>
#include <optional>

namespace onehead {

// The columns of the terminal; nothing if standard output is none.
std::optional<std::size_t> terminal_width();

// Whether the terminal has colours and its user wants them (https://no-color.org).
bool wants_colour();

}  // namespace onehead
