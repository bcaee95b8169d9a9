#include "onehead/io/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/io/system.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace fs = std::filesystem;

std::string beginning_of(fs::path const& path, std::size_t most) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return "";
    std::string bytes(std::min<std::uintmax_t>(fs::file_size(path, error), most), '\0');
    std::ifstream{path, std::ios::binary}.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

namespace {

[[noreturn]] void refuse(fs::path const& folder, FolderKind const& kind, std::string const& found) {
    throw Error({.where = folder.string(),
                 .expected = "a free name, an empty folder or " + std::string{kind.called},
                 .found = found,
                 .advice = "choose another folder"});
}

// The folder by a name that is not a link and does not end in a dot. Links above it are followed as the
// system does.
fs::path wanted_folder(fs::path folder, FolderKind const& kind) {
    std::error_code error;
    if (!folder.has_filename()) folder = folder.parent_path();  // "cat/"
    bool const is_dots = folder.filename() == "." || folder.filename() == "..";
    fs::path const above = fs::weakly_canonical(is_dots ? folder : fs::absolute(folder).parent_path(), error);
    if (error) refuse(folder, kind, "a folder that cannot be reached: " + error.message());
    return is_dots ? above : above / folder.filename();
}

// What stands under the name; nothing if it is free.
std::optional<struct stat> status_of(fs::path const& wanted, FolderKind const& kind) {
    struct stat status {};
    if (::lstat(wanted.c_str(), &status) == 0) return status;
    if (errno == ENOENT) return {};
    refuse(wanted, kind, "a folder that cannot be reached: " + std::generic_category().message(errno));
}

bool is_around(fs::path const& wanted, fs::path const& inner) {
    auto const [end, _] = std::mismatch(wanted.begin(), wanted.end(), inner.begin(), inner.end());
    return end == wanted.end();
}

// Refuses a folder with anything in it but files of these names; `below` is where it is in the wanted one.
// Returns whether there is nothing in it.
bool expect_only(fs::path const& wanted, FolderKind const& kind, std::vector<std::string> const& names,
                 std::string const& below = "") {
    std::error_code error;
    bool is_empty = true;
    for (auto entry = fs::directory_iterator{wanted / below, error}; !error && entry != end(entry);
         entry.increment(error)) {
        std::string const name = entry->path().filename().string();
        struct stat status {};
        if (::lstat(entry->path().c_str(), &status) != 0) continue;
        is_empty = false;
        auto const inner = names_below(names, name);
        if (!inner.empty() && S_ISDIR(status.st_mode)) {
            expect_only(wanted, kind, inner, below + name + "/");
            continue;
        }
        if (std::ranges::find(names, name) == names.end() || !S_ISREG(status.st_mode))
            refuse(wanted, kind, "a folder with \"" + below + name + "\" in it");
        if (is_input(status))
            refuse(wanted, kind, "a folder with \"" + below + name + "\" in it, which this run reads");
    }
    if (error) refuse(wanted, kind, "a folder that cannot be read: " + error.message());
    return is_empty;
}

void expect_only_ours(fs::path const& wanted, FolderKind const& kind) {
    std::error_code error;
    if (expect_only(wanted, kind, kind.names())) return;
    if (!fs::exists(wanted / kind.index, error))
        refuse(wanted, kind, "a folder without " + std::string{kind.index});
    if (!kind.is_ours(beginning_of(wanted / kind.index)))
        refuse(wanted, kind, "a folder with a " + std::string{kind.index} + " of something else");
}

// What stands there now; nothing if the name is free.
std::optional<struct stat> check_place(fs::path const& wanted, FolderKind const& kind) {
    auto const status = status_of(wanted, kind);
    if (!status) return {};
    if (S_ISLNK(status->st_mode)) refuse(wanted, kind, "a link, which is not a folder");
    if (!S_ISDIR(status->st_mode)) refuse(wanted, kind, "what is not a folder");
    std::error_code error;
    if (is_around(wanted, fs::current_path(error))) refuse(wanted, kind, "the folder that you are in");
    struct stat above {};
    if (::stat(wanted.parent_path().c_str(), &above) == 0 && above.st_dev != status->st_dev)
        refuse(wanted, kind, "a mount point, which cannot be replaced");
    expect_only_ours(wanted, kind);
    if (::access(wanted.c_str(), W_OK) != 0)
        refuse(wanted, kind, "a folder that cannot be replaced: " + std::generic_category().message(errno));
    return status;
}

// For a file system that cannot exchange two names.
std::error_code put_aside_and_rename(fs::path const& made, fs::path const& wanted, FolderKind const& kind) {
    Unfinished const aside{wanted, Unfinished::Kind::folder, true, kind.names()};
    std::error_code error;
    fs::rename(wanted, aside.path(), error);
    if (error) return error;
    fs::rename(made, wanted, error);
    std::error_code ignored;
    if (error) fs::rename(aside.path(), wanted, ignored);
    return error;
}

// Gives the folder the wanted name; what stood there takes the other one and goes with it.
void put_in_place(fs::path const& made, fs::path const& wanted, FolderKind const& kind) {
    std::error_code error = exchange_names(made, wanted);
    if (error == std::errc::no_such_file_or_directory)
        fs::rename(made, wanted, error);
    else if (error == std::errc::invalid_argument || error == std::errc::function_not_supported)
        error = put_aside_and_rename(made, wanted, kind);
    if (error) refuse(wanted, kind, "a folder that cannot be put in place: " + error.message());
}

// The access that an earlier file of that name had.
void keep_access_of(fs::path const& earlier, fs::path const& made) {
    struct stat status {};
    if (::stat(earlier.c_str(), &status) != 0) return;
    int const descriptor = ::open(made.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(*-vararg)
    if (descriptor < 0) return;
    keep_access(descriptor, status);
    ::close(descriptor);
}

}  // namespace

void expect_replaceable(fs::path const& folder, FolderKind const& kind) {
    check_place(wanted_folder(folder, kind), kind);
}

void write_folder(fs::path const& folder, std::vector<OutputFile> const& files, FolderKind const& kind,
                  bool at_once) {
    fs::path const wanted = wanted_folder(folder, kind);
    auto const earlier = check_place(wanted, kind);
    std::error_code error;
    fs::create_directories(wanted.parent_path(), error);
    if (error) refuse(wanted, kind, "a folder that cannot be made: " + error.message());
    Unfinished const made{wanted, Unfinished::Kind::folder, earlier.has_value(), kind.names()};
    for (OutputFile const& file : files)
        fs::create_directories((made.path() / file.name).parent_path(),
                               error);  // writing says if that failed
    auto const write = [&](std::size_t i) {
        fs::path const path = made.path() / files[i].name;
        write_file(path, files[i].give);
        if (earlier) keep_access_of(wanted / files[i].name, path);
    };
    if (at_once)
        for_tasks(files.size(), write);
    else
        for (std::size_t i = 0; i < files.size(); ++i) write(i);
    check_place(wanted, kind);  // others may have written there meanwhile
    if (earlier) keep_access(made.descriptor(), *earlier);
    {
        SignalsWait const wait;
        put_in_place(made.path(), wanted, kind);
    }
    remove_leftovers(wanted, kind.names());
}

void read_folder(fs::path const& folder, std::string_view what,
                 std::function<void(OpenFolder const&)> const& read) {
    using namespace std::chrono_literals;
    constexpr int patience = 500;  // for a name that is free between two renames
    for (int waited = 0;; ++waited) {
        std::optional<OpenFolder> opened;
        try {
            opened.emplace(folder, what);
            return read(*opened);
        } catch (Error const&) {
            bool const is_gone = opened ? opened->is_replaced() : is_being_made(folder) && waited < patience;
            if (!is_gone) throw;
        }
        if (!opened) std::this_thread::sleep_for(2ms);
    }
}

}  // namespace onehead
