// What systems and their C++ libraries do differently: each behind one function, with a plain way for those
// that lack it (macOS, a browser). With ONEHEAD_PLAIN_SYSTEM the plain ways are taken everywhere, so they can
// be tested anywhere.
#pragma once

#include <sys/stat.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace onehead {

// The whole text as a number in digits, as std::from_chars reads it: no space, no plus sign, no hexadecimal,
// nothing after it. Nothing also for a number that is too large, or so small that it would be 0.
std::optional<float> read_float(std::string_view text);
std::optional<double> read_double(std::string_view text);

// Exchanges the names of two files or folders in one step. std::errc::function_not_supported where that
// cannot be done.
std::error_code exchange_names(std::filesystem::path const& a, std::filesystem::path const& b);

// The file of the program that runs; empty if the system does not tell.
std::filesystem::path program_path();

// When a file was last written to.
struct Moment {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
};
Moment modified(struct stat const& status);

// The bytes that this process's addresses leave to it; nothing where only the machine's memory limits it.
std::optional<std::uint64_t> address_space_left();

}  // namespace onehead
