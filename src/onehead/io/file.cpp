#include "onehead/io/file.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/system.hpp"

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
    Moment const written = modified(status);
    return {static_cast<std::uint64_t>(status.st_size), written.seconds, written.nanoseconds};
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

namespace {

[[noreturn]] void refuse(std::filesystem::path const& file, std::string_view found, std::string_view advice) {
    throw Error(
        fmt::format("{}: expected a text file of a model, found {}; {}", file.string(), found, advice));
}

}  // namespace

std::string read_text_file(std::filesystem::path const& file, std::size_t largest) {
    std::string text = read_text(file, largest);
    if (text.empty()) refuse(file, "an empty file", "get it again");
    if (text.starts_with("version https://git-lfs"))
        refuse(file, "a Git LFS pointer",
               "run \"git lfs pull\" where it came from, or download the file itself");
    if (text.starts_with('<')) refuse(file, "a web page", "download the file itself");
    return text;
}

Sha256::Sha256() {
    sha256_init(&state_);
}

void Sha256::add(std::span<std::byte const> bytes) {
    sha256_update(&state_, bytes.size(), reinterpret_cast<std::uint8_t const*>(bytes.data()));
}

std::string Sha256::hex() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&state_, digest.size(), digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

// Read in small pieces: the content is not needed, and memory that is used again is faster than new.

namespace {

std::string sha256_of(std::filesystem::path const& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 32768> piece{};
    Sha256 hash;
    while (in.read(piece.data(), piece.size()), in.gcount() > 0)
        hash.add(std::as_bytes(std::span(piece)).first(static_cast<std::size_t>(in.gcount())));
    return hash.hex();
}

}  // namespace

bool is_known(std::filesystem::path const& path, KnownFile const& known) {
    std::error_code error;
    return std::filesystem::file_size(path, error) == known.size && !error && sha256_of(path) == known.sha256;
}

bool is_known(std::string_view content, KnownFile const& known) {
    if (content.size() != known.size) return false;
    Sha256 hash;
    hash.add(std::as_bytes(std::span(content)));
    return hash.hex() == known.sha256;
}

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
