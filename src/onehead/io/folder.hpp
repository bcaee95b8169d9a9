// Puts a folder of files on disk whole or not at all: everything is written to a folder beside the wanted
// one, which then takes its place. Only a folder of the same kind, with nothing else in it, is ever replaced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/file.hpp"

namespace onehead {

struct OutputFile {
    std::string name;                           // "below/name" for one in a folder below
    std::function<void(Sink const& out)> give;  // called when its turn comes, perhaps on another thread
};

// What tells a folder of ours from anybody else's. Nothing else is ever replaced or removed.
struct FolderKind {
    std::string_view called;                         // "an earlier trace"
    std::vector<std::string> const& (*names)();      // that a file in it can have
    std::string_view index;                          // the file that each has, such as "trace.json"
    bool (*is_ours)(std::string const& index_text);  // whether that file says that it is ours
};

// The first bytes of a file that is about to be replaced; nothing if there is none. It is not opened as a
// File: it is no input, which nothing can be written over.
std::string beginning_of(std::filesystem::path const& path, std::size_t most = std::size_t{1} << 24U);

// Throws an Error if the place is taken by something else, or if writing fails; then nothing has changed.
// With `at_once`, several files are written at the same time, if the machine has several processors.
void write_folder(std::filesystem::path const& folder, std::vector<OutputFile> const& files,
                  FolderKind const& kind, bool at_once = false);

// The check that write_folder begins with, for a program that would rather know before a long computation.
void expect_replaceable(std::filesystem::path const& folder, FolderKind const& kind);

// Calls `read` with the folder opened; again if meanwhile another one took its name, so that it reads one
// whole folder also while somebody replaces it. `what` says what is expected: "the folder of a trace".
void read_folder(std::filesystem::path const& folder, std::string_view what,
                 std::function<void(OpenFolder const&)> const& read);

}  // namespace onehead
