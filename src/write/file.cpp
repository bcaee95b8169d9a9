#include "write/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

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

// A file in the making. Closed by `close`, which may fail, or at the end of the scope, after another failure.
class NewFile {
public:
    // path: what it is called in a message.
    NewFile(int descriptor, fs::path const& path) : path_(path), descriptor_(descriptor) {
        if (descriptor_ < 0) fail(path_, "cannot be made", errno);
    }
    ~NewFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    NewFile(NewFile const&) = delete;
    NewFile(NewFile&&) = delete;
    NewFile& operator=(NewFile const&) = delete;
    NewFile& operator=(NewFile&&) = delete;

    void append(std::string_view bytes) {
        while (!bytes.empty()) {
            ssize_t const written = ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(path_, "cannot be written", errno);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void close() {
        if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "cannot be written", errno);
    }

private:
    fs::path const& path_;
    int descriptor_;
};

// Through a file of a free name beside it, which takes its name when it is whole.
void replace_file(fs::path const& path, std::string_view bytes) {
    fs::path beside;
    int descriptor = -1;
    int number = getpid();
    do {
        beside = path.parent_path() / fmt::format(".{}.{}", path.filename().string(), number++);
        descriptor = open_to_write(beside, O_EXCL);
    } while (descriptor < 0 && errno == EEXIST);
    NewFile file{descriptor, path};
    try {
        file.append(bytes);
        file.close();
        if (std::rename(beside.c_str(), path.c_str()) != 0) fail(path, "cannot be put in place", errno);
    } catch (std::exception const&) {
        ::unlink(beside.c_str());
        throw;
    }
}

}  // namespace

void write_file(fs::path const& path, std::function<void(Sink const&)> const& give) {
    NewFile file{open_to_write(path, O_TRUNC), path};
    give([&](std::string_view bytes) { file.append(bytes); });
    file.close();
}

void write_file(fs::path const& path, std::string_view bytes) {
    write_file(path, [&](Sink const& out) { out(bytes); });
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
