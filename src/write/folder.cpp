#include "write/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "error.hpp"
#include "math/parallel.hpp"
#include "write/temporary_folder.hpp"
#include "write/trace_files.hpp"

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
std::error_code put_aside_and_rename(fs::path const& made, fs::path const& wanted) {
    TemporaryFolder const aside{wanted};
    std::error_code error;
    fs::rename(wanted, aside.path(), error);
    if (error) return error;
    fs::rename(made, wanted, error);
    std::error_code ignored;
    if (error) fs::rename(aside.path(), wanted, ignored);
    return error;
}

// Gives the temporary folder the wanted name; what stood there takes the temporary one and goes with it.
void put_in_place(fs::path const& made, fs::path const& wanted) {
    if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, wanted.c_str(), RENAME_EXCHANGE) == 0) return;
    std::error_code error{errno, std::generic_category()};
    if (error == std::errc::no_such_file_or_directory)
        fs::rename(made, wanted, error);
    else if (error == std::errc::invalid_argument || error == std::errc::function_not_supported)
        error = put_aside_and_rename(made, wanted);
    if (error)
        throw Error(fmt::format("{}: cannot be put in place: {}; choose another --out", wanted.string(),
                                error.message()));
}

}  // namespace

void expect_replaceable(fs::path const& folder) {
    fs::path const wanted = without_trailing_slash(folder);
    fs::file_status const status = fs::symlink_status(wanted);
    if (!fs::exists(status)) return;
    if (!fs::is_directory(status)) refuse(wanted, "is not a folder");
    bool empty = true;
    for (auto const& entry : fs::directory_iterator(wanted)) {
        std::string const name = entry.path().filename().string();
        if (!is_trace_file(name) || !entry.is_regular_file())
            refuse(wanted, fmt::format("holds \"{}\", which no trace has", name));
        empty = false;
    }
    if (!empty && !fs::exists(wanted / "trace.json")) refuse(wanted, "holds no trace.json");
    if (::access(wanted.c_str(), W_OK) != 0)
        refuse(wanted, fmt::format("cannot be replaced: {}", std::generic_category().message(errno)));
}

void write_folder(fs::path const& folder, std::vector<OutputFile> const& files, bool at_once) {
    fs::path const wanted = without_trailing_slash(folder);
    expect_replaceable(wanted);
    TemporaryFolder const made{wanted};
    auto const write = [&](std::size_t i) { write_file(made.path() / files[i].name, files[i].give); };
    if (at_once)
        for_tasks(files.size(), write);
    else
        for (std::size_t i = 0; i < files.size(); ++i) write(i);
    expect_replaceable(wanted);  // others may have written there meanwhile
    put_in_place(made.path(), wanted);
    remove_leftovers(wanted);
}

}  // namespace onehead
