// Puts a trace on disk whole or not at all: everything is written to a folder beside the wanted one, which is
// then put in its place. Only a folder that holds a trace and nothing else is ever replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "onehead/io/file.hpp"

namespace onehead {

struct OutputFile {
    std::string name;
    std::function<void(Sink const& out)> give;  // called when its turn comes, perhaps on another thread
};

// Whether a file of that name may be in the folder. Nothing else is ever replaced or removed.
using IsOurs = bool (*)(std::string const& name);

// Throws an Error if the place is taken by something else, or if writing fails; then nothing has changed.
// With `at_once`, several files are written at the same time, if the machine has several processors.
void write_folder(std::filesystem::path const& folder, std::vector<OutputFile> const& files, IsOurs is_ours,
                  bool at_once = false);

// The check that write_folder begins with, for a program that would rather know before a long computation.
void expect_replaceable(std::filesystem::path const& folder, IsOurs is_ours);

// A folder `.<name>.<number>` beside the wanted folder, in which a trace becomes whole. It is gone at the end
// of the scope, whatever happens; if the process is killed before, a later run to the same name removes it.

class TemporaryFolder {
public:
    // Makes the folder, and those above it. Throws an Error if it cannot.
    TemporaryFolder(std::filesystem::path const& wanted, IsOurs is_ours);
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder(TemporaryFolder&&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;

    std::filesystem::path const& path() const { return path_; }

private:
    bool make(std::filesystem::path const& wanted);  // false if the name is taken

    IsOurs is_ours_;
    std::filesystem::path path_;
    int lock_ = -1;  // held on the folder while the process lives
};

// Removes the temporary folders of that name whose process is gone, if they hold nothing but files of a
// trace.
void remove_leftovers(std::filesystem::path const& wanted, IsOurs is_ours);

}  // namespace onehead
