// Whether the process lives is asked of a lock on the folder, which the system gives back at its end: a
// number could belong to another process by now, or to one on another machine.
#include "write/temporary_folder.hpp"

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

#include "error.hpp"
#include "write/trace_files.hpp"

namespace onehead {
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

bool holds_only_a_trace(fs::path const& folder) {
    std::error_code error;
    fs::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (!is_trace_file(entry->path().filename().string()) ||
            !fs::is_regular_file(entry->symlink_status(error)))
            return false;
    return !error;
}

}  // namespace

TemporaryFolder::TemporaryFolder(fs::path const& wanted) {
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
    remove_trace(path_);
    ::close(lock_);
}

void remove_leftovers(fs::path const& wanted) {
    for (fs::path const& leftover : named_like_leftovers(wanted)) {
        int const folder = open_folder(leftover);
        if (::flock(folder, LOCK_EX | LOCK_NB) == 0 && holds_only_a_trace(leftover)) remove_trace(leftover);
        ::close(folder);
    }
}

}  // namespace onehead
