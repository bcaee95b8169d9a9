#include "write/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>

#include "error.hpp"

namespace onehead {
namespace {

[[noreturn]] void fail(std::filesystem::path const& path, char const* what) {
    throw Error(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

void write_file(std::filesystem::path const& path, std::string_view bytes) {
    int const file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail(path, "cannot be made");
    while (!bytes.empty()) {
        ssize_t const written = ::write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            ::close(file);
            fail(path, "cannot be written");
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::close(file) != 0) fail(path, "cannot be written");
}

void write_file_in_place(std::filesystem::path const& path, std::string_view bytes) {
    std::filesystem::path const whole = path.string() + fmt::format(".{}", getpid());
    try {
        write_file(whole, bytes);
        std::filesystem::rename(whole, path);
    } catch (std::exception const&) {
        std::error_code ignored;
        std::filesystem::remove(whole, ignored);
        throw;
    }
}

}  // namespace onehead
