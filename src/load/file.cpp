#include "load/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "error.hpp"

namespace onehead {
namespace {

std::atomic<std::uint64_t> total_read = 0;

std::string reason() {
    return std::generic_category().message(errno);
}

std::string_view kind(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    return "a device";
}

// O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
int open_to_read(std::filesystem::path const& path) {
    int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // NOLINT(*-vararg)
    if (descriptor < 0) throw Error(fmt::format("{}: cannot be opened: {}", path.string(), reason()));
    return descriptor;
}

struct stat status_of(int descriptor, std::string const& name) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw Error(fmt::format("{}: cannot be read: {}", name, reason()));
    if (!S_ISREG(status.st_mode))
        throw Error(fmt::format("{}: expected a file, found {}", name, kind(status.st_mode)));
    return status;
}

}  // namespace

File::File(std::filesystem::path path) : path_(std::move(path)), descriptor_(open_to_read(path_)) {
    try {
        opened_ = state();
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

File::~File() {
    ::close(descriptor_);
}

File::State File::state() const {
    struct stat const status = status_of(descriptor_, name());
    return {static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

void File::expect_unchanged() const {
    if (state() == opened_) return;
    throw Error(fmt::format(
        "{}: expected a file that stays as it is, found that it was written to while it was read: "
        "wait until it is whole, then run this again",
        name()));
}

void File::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        auto const rest = bytes.subspan(done);
        ssize_t const got = ::pread(descriptor_, rest.data(), rest.size(), static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Error(fmt::format("{}: cannot be read at byte {}: {}", name(), offset + done, reason()));
        if (got == 0)
            throw Error(fmt::format("{}: expected {} bytes at byte {}, found {}: the file became shorter",
                                    name(), bytes.size(), offset, done));
        done += static_cast<std::size_t>(got);
        total_read += static_cast<std::uint64_t>(got);
    }
    expect_unchanged();
}

std::uint64_t File::bytes_read() {
    return total_read;
}

std::string read_text(std::filesystem::path const& path, std::size_t most) {
    File const file(path);
    if (file.size() > most)
        throw Error(fmt::format("{}: expected at most {} bytes, found {}", file.name(), most, file.size()));
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace onehead
