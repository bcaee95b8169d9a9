#include "onehead/io/file.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
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
constexpr int to_read = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

struct stat status_of(int descriptor, std::string const& name) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0)
        throw Error({.where = name, .found = "cannot be read: " + reason()});
    if (!S_ISREG(status.st_mode))
        throw Error({.where = name, .expected = "a file", .found = std::string{kind(status.st_mode)}});
    return status;
}

using Identity = std::pair<dev_t, ino_t>;

// What this program reads.
struct Inputs {
    std::mutex mutex;
    bool are_remembered = false;
    std::set<Identity> files;
};

Inputs& inputs() {
    static Inputs all;
    return all;
}

void remember_input(struct stat const& status) {
    std::lock_guard const lock{inputs().mutex};
    if (inputs().are_remembered) inputs().files.emplace(status.st_dev, status.st_ino);
}

}  // namespace

void protect_inputs() {
    inputs().are_remembered = true;
}

void protect_input(std::filesystem::path const& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) remember_input(status);
}

bool is_input(struct stat const& status) {
    std::lock_guard const lock{inputs().mutex};
    return inputs().files.contains({status.st_dev, status.st_ino});
}

OpenFolder::OpenFolder(std::filesystem::path path, std::string_view what)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {  // NOLINT(*-vararg)
    if (descriptor_ >= 0) return;
    std::string const found = errno == ENOENT    ? "nothing"
                              : errno == ENOTDIR ? "a file"
                                                 : "one that cannot be opened: " + reason();
    throw Error({.where = path_.string(), .expected = std::string{what}, .found = found});
}

OpenFolder::~OpenFolder() {
    ::close(descriptor_);
}

bool OpenFolder::has(std::string const& name) const {
    return ::faccessat(descriptor_, name.c_str(), F_OK, 0) == 0;
}

bool OpenFolder::is_replaced() const {
    struct stat here {
    }, there{};
    if (::fstat(descriptor_, &here) != 0 || ::stat(path_.c_str(), &there) != 0) return true;
    return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

File::File(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
    if (descriptor_ < 0) throw Error({.where = name(), .found = "cannot be opened: " + reason()});
    try {
        opened_ = state();
        remember_input(status_of(descriptor_, name()));
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

File::File(std::filesystem::path const& path)
    : File(path, ::open(path.c_str(), to_read)) {}  // NOLINT(*-vararg)

File::File(OpenFolder const& folder, std::string const& name)
    : File(folder.path() / name, ::openat(folder.descriptor(), name.c_str(), to_read)) {}  // NOLINT(*-vararg)

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

bool is_there(std::filesystem::path const& path) {
    std::error_code refused;
    return exists(symlink_status(path, refused)) || refused == std::errc::permission_denied;
}

std::string read_text(std::filesystem::path const& path, std::size_t most) {
    return read_text(File(path), most);
}

std::string read_text(File const& file, std::size_t most) {
    if (file.size() > most)
        throw Error(fmt::format("{}: expected at most {} bytes, found {}", file.name(), most, file.size()));
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

namespace {

struct Descriptor {
    explicit Descriptor(int opened) : number(opened) {}
    ~Descriptor() { ::close(number); }
    Descriptor(Descriptor const&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;

    int number;
};

}  // namespace

std::string read_stream(std::string const& name, std::size_t most) {
    bool const is_standard = name == "-";
    Descriptor const in{is_standard ? ::dup(STDIN_FILENO)
                                    : ::open(name.c_str(), O_RDONLY | O_CLOEXEC)};  // NOLINT(*-vararg)
    std::string const where = is_standard ? "standard input" : name;
    if (in.number < 0) throw Error({.where = where, .found = "cannot be opened: " + reason()});
    struct stat status {};
    if (::fstat(in.number, &status) == 0 && S_ISREG(status.st_mode)) remember_input(status);
    if (S_ISDIR(status.st_mode)) throw Error({.where = where, .expected = "a file", .found = "a folder"});
    std::string text;
    std::array<char, 65536> piece{};
    for (;;) {
        ssize_t const got = ::read(in.number, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw Error({.where = where, .found = "cannot be read: " + reason()});
        if (got == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(got));
        if (text.size() > most)
            throw Error({.where = where, .expected = fmt::format("at most {} bytes", most), .found = "more"});
    }
}

void refuse_impostor(std::string_view start, std::string const& name) {
    if (start.starts_with("version https://git-lfs"))
        throw Error({name, "a file of a model", "a Git LFS pointer, not the file it stands for",
                     "run \"git lfs pull\" where it came from, or download the file itself"});
    if (start.starts_with('<'))
        throw Error({name, "a file of a model", "a web page", "download the file itself"});
    if (start.starts_with("PK"))
        throw Error({name, "a file of a model", "a zip archive, perhaps PyTorch's own format",
                     "save the model as safetensors"});
}

std::string read_text_file(std::filesystem::path const& file, std::size_t largest) {
    std::string text = read_text(file, largest);
    if (text.empty()) throw Error({file.string(), "a file of a model", "an empty file", "get it again"});
    refuse_impostor(text, file.string());
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

// Writing.

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& path, std::string const& what, int error) {
    throw Error({.where = path.string(),
                 .found = what + ": " + std::generic_category().message(error),
                 .advice = "choose another place"});
}

void append(int descriptor, fs::path const& path, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t const written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path, "cannot be written", errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

// Where a name leads, link by link: to a file, to a free name, or to a descriptor of this program.
struct Place {
    fs::path path;
    int descriptor = -1;
};

int descriptor_of(fs::path const& path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    std::string const name = path.filename().string();
    bool const is_number =
        !name.empty() && name.size() < 8 && name.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || (path.parent_path() != "/dev/fd" && path.parent_path() != "/proc/self/fd")) return -1;
    return std::stoi(name);
}

Place follow(fs::path path) {
    constexpr int most_links = 40;
    for (int links = 0; links < most_links; ++links) {
        if (int const descriptor = descriptor_of(path); descriptor >= 0) return {path, descriptor};
        std::error_code no_link;
        fs::path const to = fs::read_symlink(path, no_link);
        if (no_link) return {path};
        path = path.parent_path() / to;
    }
    fail(path, "cannot be written", ELOOP);
}

void replace_file(fs::path const& path, std::string_view bytes, struct stat const* earlier) {
    remove_leftovers(path, {});
    Unfinished made{path, Unfinished::Kind::file, earlier != nullptr};
    append(made.descriptor(), path, bytes);
    // Some disks tell only when a file is closed that it could not be written; the lock stays with the
    // first.
    if (::close(::dup(made.descriptor())) != 0) fail(path, "cannot be written", errno);
    if (earlier != nullptr) keep_access(made.descriptor(), *earlier);
    SignalsWait const wait;
    if (std::rename(made.path().c_str(), path.c_str()) != 0) fail(path, "cannot be put in place", errno);
    made.has_moved();
}

}  // namespace

void write_file_in_place(fs::path const& path, std::string_view bytes) {
    auto const [place, descriptor] = follow(path);
    if (descriptor >= 0) {
        if (descriptor == STDOUT_FILENO) std::fflush(stdout);  // what was printed before comes before
        return append(descriptor, path, bytes);
    }
    struct stat earlier {};
    if (::stat(place.c_str(), &earlier) != 0) {
        if (errno != ENOENT) fail(path, "cannot be written", errno);
        return replace_file(place, bytes, nullptr);
    }
    if (!S_ISREG(earlier.st_mode) && !S_ISDIR(earlier.st_mode))
        return write_file(place, [&](Sink const& out) { out(bytes); });
    if (is_input(earlier))
        throw Error({.where = path.string(),
                     .expected = "a file that this run does not read",
                     .found = "one that it reads",
                     .advice = "choose another name"});
    if (S_ISDIR(earlier.st_mode)) fail(path, "cannot be written", EISDIR);
    if (::access(place.c_str(), W_OK) != 0) fail(path, "cannot be written", errno);
    replace_file(place, bytes, &earlier);
}

void write_file(fs::path const& path, std::function<void(Sink const&)> const& give) {
    int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0666);  // NOLINT(*-vararg)
    if (descriptor < 0) fail(path, "cannot be made", errno);
    try {
        give([&](std::string_view bytes) { append(descriptor, path, bytes); });
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    if (::close(descriptor) != 0) fail(path, "cannot be written", errno);
}

void keep_access(int descriptor, struct stat const& earlier) {
    constexpr mode_t of_the_group = 070;
    bool const has_group = ::fchown(descriptor, static_cast<uid_t>(-1), earlier.st_gid) == 0;
    static_cast<void>(::fchmod(descriptor, earlier.st_mode & 07777 & (has_group ? 07777 : ~of_the_group)));
}

// What is unfinished, for a signal that ends the program: it may come at any moment and on any thread, so
// all that it needs is here, and it only looks at it, unlinks, and raises the signal again.

namespace {

struct Entry {
    std::string path;
    bool is_folder = false;
    std::vector<std::string> names;    // paths of the files that it can have
    std::vector<std::string> folders;  // and of the folders below it
};

constexpr std::size_t most_entries = 8;
std::array<std::atomic<Entry*>, most_entries> unfinished{};
std::atomic<bool> signals_wait = false;
std::atomic<bool> is_dying = false;
std::atomic<int> waiting_signal = 0;

void remove(Entry const& entry) {
    constexpr int rounds = 100;  // other threads may still make a file
    if (!entry.is_folder) ::unlink(entry.path.c_str());
    for (int round = 0; entry.is_folder && round < rounds; ++round) {
        for (std::string const& name : entry.names) ::unlink(name.c_str());
        for (std::string const& folder : entry.folders) ::rmdir(folder.c_str());
        if (::rmdir(entry.path.c_str()) == 0 || errno == ENOENT) return;
    }
}

void die(int signal) {
    for (auto const& slot : unfinished)
        if (Entry const* const entry = slot.load(); entry != nullptr) remove(*entry);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

extern "C" void remove_unfinished_and_die(int signal) {
    is_dying = true;
    if (signals_wait)
        waiting_signal = signal;
    else
        die(signal);
}

}  // namespace

void remove_unfinished_on_signals() {
    for (int const signal : {SIGTERM, SIGHUP, SIGINT}) {
        struct sigaction before {
        }, action{};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        action.sa_handler = remove_unfinished_and_die;
        action.sa_flags = SA_NODEFER | SA_RESTART;
        ::sigaction(signal, &action, nullptr);
    }
}

SignalsWait::SignalsWait() {
    signals_wait = true;
    while (is_dying && waiting_signal == 0) ::pause();  // a signal on another thread is ending the program
}

SignalsWait::~SignalsWait() {
    signals_wait = false;
    if (waiting_signal != 0) die(waiting_signal);
}

// The name of what is unfinished: ".onehead-", a number made of the wanted name, which may be as long as
// a name can be, and a number that is free.

namespace {

std::string mark(fs::path const& wanted) {
    Sha256 hash;
    std::string const name = wanted.filename().string();
    hash.add(std::as_bytes(std::span<char const>{name}));
    return ".onehead-" + hash.hex().substr(0, 16) + "-";
}

bool is_marked(std::string_view name, std::string_view mark) {
    return name.starts_with(mark) && name.size() > mark.size() &&
           name.find_first_not_of("0123456789", mark.size()) == std::string_view::npos;
}

fs::path folder_of(fs::path const& wanted) {
    return wanted.has_parent_path() ? wanted.parent_path() : ".";
}

std::vector<fs::path> marked(fs::path const& wanted) {
    std::vector<fs::path> found;
    std::string const of_wanted = mark(wanted);
    std::error_code error;
    fs::directory_iterator const all{folder_of(wanted), error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (is_marked(entry->path().filename().string(), of_wanted)) found.push_back(entry->path());
    return found;
}

// -1 if it cannot be opened, or is a link.
int open_to_lock(fs::path const& path) {
    return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // NOLINT(*-vararg)
}

void remove_names(fs::path const& folder, std::vector<std::string> const& names) {
    std::error_code error;
    fs::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error)) {
        std::string const name = entry->path().filename().string();
        if (std::ranges::find(names, name) != names.end()) ::unlink(entry->path().c_str());
        if (auto const below = names_below(names, name);
            !below.empty() && fs::is_directory(entry->symlink_status(error)))
            remove_names(entry->path(), below);
    }
    ::rmdir(folder.c_str());
}

bool holds_only(fs::path const& folder, std::vector<std::string> const& names) {
    std::error_code error;
    fs::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error)) {
        std::string const name = entry->path().filename().string();
        fs::file_status const status = entry->symlink_status(error);
        if (std::ranges::find(names, name) != names.end() && fs::is_regular_file(status)) continue;
        auto const below = names_below(names, name);
        if (below.empty() || !fs::is_directory(status) || !holds_only(entry->path(), below)) return false;
    }
    return !error;
}

}  // namespace

std::vector<std::string> names_below(std::vector<std::string> const& names, std::string const& folder) {
    std::vector<std::string> below;
    for (std::string const& name : names)
        if (name.starts_with(folder + "/")) below.push_back(name.substr(folder.size() + 1));
    return below;
}

Unfinished::Unfinished(fs::path const& wanted, Kind kind, bool secret, std::vector<std::string> names)
    : kind_(kind), names_(std::move(names)) {
    SignalsWait const until_it_is_known;  // to the signals' handler, which removes what is on its list
    int number = getpid();
    do path_ = folder_of(wanted) / fmt::format("{}{}", mark(wanted), number++);
    while (!make(wanted, secret));
    auto entry = std::make_unique<Entry>(Entry{path_.string(), kind == Kind::folder, {}, {}});
    for (std::string const& name : names_) {
        entry->names.push_back((path_ / name).string());
        std::string const folder = (path_ / name).parent_path().string();
        if (name.find('/') != name.npos && std::ranges::find(entry->folders, folder) == entry->folders.end())
            entry->folders.push_back(folder);
    }
    for (auto& slot : unfinished)
        if (Entry* none = nullptr; slot.compare_exchange_strong(none, entry.get())) {
            static_cast<void>(entry.release());  // the slot has it now
            break;
        }
}

bool Unfinished::make(fs::path const& wanted, bool secret) {
    if (kind_ == Kind::folder) {
        if (::mkdir(path_.c_str(), secret ? 0700 : 0777) == 0) descriptor_ = open_to_lock(path_);
    } else {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,  // NOLINT(*-vararg)
                             secret ? 0600 : 0666);
    }
    if (descriptor_ < 0 && errno == EEXIST) return false;
    if (descriptor_ < 0) fail(wanted, "cannot be made", errno);
    ::flock(descriptor_, LOCK_EX);  // waits if another run is about to remove it as a leftover
    struct stat status {};
    if (::lstat(path_.c_str(), &status) == 0) return true;
    ::close(std::exchange(descriptor_, -1));
    return false;
}

Unfinished::~Unfinished() {
    if (!path_.empty() && kind_ == Kind::folder) remove_names(path_, names_);
    if (!path_.empty() && kind_ == Kind::file) ::unlink(path_.c_str());
    has_moved();
    ::close(descriptor_);
}

void Unfinished::has_moved() {
    for (auto& slot : unfinished)
        if (Entry* entry = slot; entry != nullptr && entry->path == path_.string()) {
            slot = nullptr;
            delete entry;
        }
    path_.clear();
}

void remove_leftovers(fs::path const& wanted, std::vector<std::string> const& names) {
    for (fs::path const& leftover : marked(wanted)) {
        Descriptor const lock{open_to_lock(leftover)};
        struct stat status {};
        if (::flock(lock.number, LOCK_EX | LOCK_NB) != 0 || ::fstat(lock.number, &status) != 0) continue;
        if (S_ISREG(status.st_mode)) ::unlink(leftover.c_str());
        if (S_ISDIR(status.st_mode) && holds_only(leftover, names)) remove_names(leftover, names);
    }
}

bool is_being_made(fs::path const& wanted) {
    return !marked(wanted).empty();
}

}  // namespace onehead
