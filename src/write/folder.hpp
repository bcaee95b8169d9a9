// Puts a trace on disk whole or not at all: everything is written to a folder beside the wanted one, which is
// then put in its place. Only a folder that holds a trace and nothing else is ever replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "write/file.hpp"

namespace onehead {

struct OutputFile {
    std::string name;
    std::function<void(Sink const& out)> give;  // called when its turn comes, perhaps on another thread
};

// Throws an Error if the place is taken by something else, or if writing fails; then nothing has changed.
// With `at_once`, several files are written at the same time, if the machine has several processors.
void write_folder(std::filesystem::path const& folder, std::vector<OutputFile> const& files,
                  bool at_once = false);

// The check that write_folder begins with, for a program that would rather know before a long computation.
void expect_replaceable(std::filesystem::path const& folder);

}  // namespace onehead
