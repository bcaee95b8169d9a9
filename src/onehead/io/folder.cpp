#include "onehead/io/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/io/system.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

namespace fs = std::filesystem;

fs::path without_trailing_slash(fs::path const& folder) {
    fs::path const absolute = fs::absolute(folder).lexically_normal();
    return absolute.has_filename() ? absolute : absolute.parent_path();
}

[[noreturn]] void refuse(fs::path const& folder, std::string const& found) {
    throw Error(
        fmt::format("{}: {}, expected a free name, an empty folder or an earlier trace; choose another --out",
                    folder.string(), found));
}

// For a file system that cannot exchange two names.
std::error_code put_aside_and_rename(fs::path const& made, fs::path const& wanted, IsOurs is_ours) {
    TemporaryFolder const aside{wanted, is_ours};
    std::error_code error;
    fs::rename(wanted, aside.path(), error);
    if (error) return error;
    fs::rename(made, wanted, error);
    std::error_code ignored;
    if (error) fs::rename(aside.path(), wanted, ignored);
    return error;
}

// Gives the temporary folder the wanted name; what stood there takes the temporary one and goes with it.
void put_in_place(fs::path const& made, fs::path const& wanted, IsOurs is_ours) {
    std::error_code error = exchange_names(made, wanted);
    if (error == std::errc::no_such_file_or_directory)
        fs::rename(made, wanted, error);
    else if (error == std::errc::invalid_argument || error == std::errc::function_not_supported)
        error = put_aside_and_rename(made, wanted, is_ours);
    if (error)
        throw Error(fmt::format("{}: cannot be put in place: {}; choose another --out", wanted.string(),
                                error.message()));
}

}  // namespace

void expect_replaceable(fs::path const& folder, IsOurs is_ours) {
    fs::path const wanted = without_trailing_slash(folder);
    fs::file_status const status = fs::symlink_status(wanted);
    if (!fs::exists(status)) return;
    if (!fs::is_directory(status)) refuse(wanted, "is not a folder");
    bool empty = true;
    for (auto const& entry : fs::directory_iterator(wanted)) {
        std::string const name = entry.path().filename().string();
        if (!is_ours(name) || !entry.is_regular_file())
            refuse(wanted, fmt::format("holds \"{}\", which no trace has", name));
        empty = false;
    }
    if (!empty && !fs::exists(wanted / "trace.json")) refuse(wanted, "holds no trace.json");
    if (::access(wanted.c_str(), W_OK) != 0)
        refuse(wanted, fmt::format("cannot be replaced: {}", std::generic_category().message(errno)));
}

void write_folder(fs::path const& folder, std::vector<OutputFile> const& files, IsOurs is_ours,
                  bool at_once) {
    fs::path const wanted = without_trailing_slash(folder);
    expect_replaceable(wanted, is_ours);
    TemporaryFolder const made{wanted, is_ours};
    auto const write = [&](std::size_t i) { write_file(made.path() / files[i].name, files[i].give); };
    if (at_once)
        for_tasks(files.size(), write);
    else
        for (std::size_t i = 0; i < files.size(); ++i) write(i);
    expect_replaceable(wanted, is_ours);  // others may have written there meanwhile
    put_in_place(made.path(), wanted, is_ours);
    remove_leftovers(wanted, is_ours);
}

// Whether the process lives is asked of a lock on the folder, which the system gives back at its end: a
// number could belong to another process by now, or to one on another machine.

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& wanted, std::error_code reason) {
    throw Error(
        fmt::format("{}: cannot be made: {}; choose another --out", wanted.string(), reason.message()));
}

std::string beginning(fs::path const& wanted) {
    return fmt::format(".{}.", wanted.filename().string());
}

// -1 if it cannot be opened.
int open_folder(fs::path const& folder) {
    return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);  // NOLINT(*-vararg)
}

bool is_leftover_name(std::string_view name, std::string_view beginning) {
    if (!name.starts_with(beginning) || name.size() == beginning.size()) return false;
    name.remove_prefix(beginning.size());
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<fs::path> named_like_leftovers(fs::path const& wanted) {
    std::vector<fs::path> leftovers;
    std::error_code error;
    fs::directory_iterator const all{wanted.parent_path(), error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (is_leftover_name(entry->path().filename().string(), beginning(wanted)))
            leftovers.push_back(entry->path());
    return leftovers;
}

// Removes our files from a folder, and the folder itself if it is empty then. What cannot be removed stays.
void remove_ours(fs::path const& folder, IsOurs is_ours) {
    std::error_code error;
    fs::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (is_ours(entry->path().filename().string())) ::unlink(entry->path().c_str());
    ::rmdir(folder.c_str());
}

bool holds_only_ours(fs::path const& folder, IsOurs is_ours) {
    std::error_code error;
    fs::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (!is_ours(entry->path().filename().string()) || !fs::is_regular_file(entry->symlink_status(error)))
            return false;
    return !error;
}

}  // namespace

TemporaryFolder::TemporaryFolder(fs::path const& wanted, IsOurs is_ours) : is_ours_(is_ours) {
    std::error_code error;
    fs::create_directories(wanted.parent_path(), error);
    if (error) fail(wanted, error);
    int number = getpid();
    do path_ = wanted.parent_path() / fmt::format("{}{}", beginning(wanted), number++);
    while (!make(wanted));
}

bool TemporaryFolder::make(fs::path const& wanted) {
    if (::mkdir(path_.c_str(), 0777) != 0) {
        if (errno == EEXIST) return false;
        fail(wanted, {errno, std::generic_category()});
    }
    lock_ = open_folder(path_);
    ::flock(lock_, LOCK_EX);  // waits if another run is about to remove it as a leftover
    if (fs::exists(path_)) return true;
    ::close(lock_);
    return false;
}

TemporaryFolder::~TemporaryFolder() {
    remove_ours(path_, is_ours_);
    ::close(lock_);
}

void remove_leftovers(fs::path const& wanted, IsOurs is_ours) {
    for (fs::path const& leftover : named_like_leftovers(wanted)) {
        int const folder = open_folder(leftover);
        if (::flock(folder, LOCK_EX | LOCK_NB) == 0 && holds_only_ours(leftover, is_ours))
            remove_ours(leftover, is_ours);
        ::close(folder);
    }
}

}  // namespace onehead
