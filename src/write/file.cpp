#include "write/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "error.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& path, char const* what, int reason) {
    throw Error(fmt::format("{}: {}: {}; choose another place", path.string(), what,
                            std::generic_category().message(reason)));
}

int open_to_write(fs::path const& path, int flags) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);  // NOLINT(*-vararg)
}

// Writes all of it and closes the file. The path is for the message.
void write_and_close(int file, fs::path const& path, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t const written = ::write(file, bytes.data(), bytes.size());
        int const reason = errno;
        if (written < 0 && reason == EINTR) continue;
        if (written < 0) {
            ::close(file);
            fail(path, "cannot be written", reason);
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::close(file) != 0) fail(path, "cannot be written", errno);
}

// Through a file of a free name beside it, which takes its name when it is whole.
void replace_file(fs::path const& path, std::string_view bytes) {
    fs::path beside;
    int file = -1;
    int number = getpid();
    do {
        beside = path.parent_path() / fmt::format(".{}.{}", path.filename().string(), number++);
        file = open_to_write(beside, O_EXCL);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) fail(path, "cannot be made", errno);
    try {
        write_and_close(file, path, bytes);
        if (std::rename(beside.c_str(), path.c_str()) != 0) fail(path, "cannot be put in place", errno);
    } catch (std::exception const&) {
        ::unlink(beside.c_str());
        throw;
    }
}

}  // namespace

void write_file(fs::path const& path, std::string_view bytes) {
    int const file = open_to_write(path, O_TRUNC);
    if (file < 0) fail(path, "cannot be made", errno);
    write_and_close(file, path, bytes);
}

void write_file_in_place(fs::path const& path, std::string_view bytes) {
    std::error_code error;
    fs::file_status const earlier = fs::status(path, error);
    if (!fs::exists(earlier)) return replace_file(path, bytes);
    if (!fs::is_regular_file(earlier)) return write_file(path, bytes);  // /dev/stdout, a pipe
    if (::access(path.c_str(), W_OK) != 0) fail(path, "cannot be written", errno);
    replace_file(fs::canonical(path), bytes);  // of a link, the file that it names
}

}  // namespace onehead
