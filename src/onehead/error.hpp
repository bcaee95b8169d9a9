// What goes wrong at the border: a file, an option, a disk. Every message is one line that says where, what
// was expected, what was found and what to do. Each program catches them in one place and turns them into its
// exit code.
#pragma once

#include <stdexcept>

namespace onehead {

// Bad data or a failed write: exit code 1.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Wrong use (an unknown option, a head out of range, an empty text): exit code 2.
struct UsageError : Error {
    using Error::Error;
};

}  // namespace onehead
