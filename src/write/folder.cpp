#include "write/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <system_error>

#include "error.hpp"
#include "math/parallel.hpp"
#include "trace/terms.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

// A folder that is gone at the end of the scope, whatever happens.
class TemporaryFolder {
public:
    explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {
        std::error_code error;
        fs::remove_all(path_, error);
        fs::create_directories(path_, error);
        if (error)
            throw Error(
                fmt::format("{}: cannot be made: {}; choose another --out", path_.string(), error.message()));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder(TemporaryFolder&&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;

    fs::path const& path() const { return path_; }

private:
    fs::path path_;
};

// Every name that a trace's files can have.
std::set<std::string> names_of_a_trace() {
    std::set<std::string> names{"tokens.csv", "trace.txt", "trace.json"};
    for (Term const& term : terms::all)
        for (char const* const ending : {".csv", ".npy"}) names.insert(file_stem(term) + ending);
    return names;
}

bool is_ours(std::string const& name) {
    static auto const ours = names_of_a_trace();
    return ours.contains(name);
}

fs::path without_trailing_slash(fs::path const& folder) {
    fs::path const absolute = fs::absolute(folder).lexically_normal();
    return absolute.has_filename() ? absolute : absolute.parent_path();
}

[[noreturn]] void refuse(fs::path const& folder, std::string const& found) {
    throw Error(
        fmt::format("{}: {}, expected a free name, an empty folder or an earlier trace; choose another --out",
                    folder.string(), found));
}

// Gives the temporary folder the wanted name; what stood there takes the temporary one and goes with it.
void put_in_place(fs::path const& made, fs::path const& wanted) {
    if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, wanted.c_str(), RENAME_EXCHANGE) == 0) return;
    std::error_code error;
    fs::remove_all(wanted, error);
    if (!error) fs::rename(made, wanted, error);
    if (error) throw Error(fmt::format("{}: cannot be put in place: {}", wanted.string(), error.message()));
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
        if (!is_ours(name) || !entry.is_regular_file())
            refuse(wanted, fmt::format("holds \"{}\", which no trace has", name));
        empty = false;
    }
    if (!empty && !fs::exists(wanted / "trace.json")) refuse(wanted, "holds no trace.json");
}

void write_folder(fs::path const& folder, std::vector<OutputFile> const& files, bool at_once) {
    fs::path const wanted = without_trailing_slash(folder);
    expect_replaceable(wanted);
    TemporaryFolder const made{wanted.parent_path() /
                               fmt::format(".{}.{}", wanted.filename().string(), getpid())};
    auto const write = [&](std::size_t i) { write_file(made.path() / files[i].name, files[i].give); };
    if (at_once)
        for_tasks(files.size(), write);
    else
        for (std::size_t i = 0; i < files.size(); ++i) write(i);
    put_in_place(made.path(), wanted);
}

}  // namespace onehead
