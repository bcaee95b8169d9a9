#include "write/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "error.hpp"

namespace onehead {
namespace {

[[noreturn]] void fail(std::filesystem::path const& path, char const* what) {
    throw Error(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

// A file in the making. Closed by `close`, which may fail, or at the end of the scope, after another failure.
class NewFile {
public:
    explicit NewFile(std::filesystem::path const& path)
        : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
        if (descriptor_ < 0) fail(path_, "cannot be made");
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
            if (written < 0) fail(path_, "cannot be written");
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void close() {
        if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "cannot be written");
    }

private:
    std::filesystem::path const& path_;
    int descriptor_;
};

}  // namespace

void write_file(std::filesystem::path const& path, std::function<void(Sink const&)> const& give) {
    NewFile file{path};
    give([&](std::string_view bytes) { file.append(bytes); });
    file.close();
}

void write_file(std::filesystem::path const& path, std::string_view bytes) {
    write_file(path, [&](Sink const& out) { out(bytes); });
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
