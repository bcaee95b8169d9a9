// Puts a trace on disk whole or not at all: everything is written to a folder beside the wanted one, which is
// then put in its place. Only a folder that holds a trace and nothing else is ever replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace onehead {

struct OutputFile {
    std::string name;
    std::function<std::string()> bytes;  // made when its turn comes, so that one file at a time is in memory
};

// Throws an Error if the place is taken by something else, or if writing fails; then nothing has changed.
void write_folder(std::filesystem::path const& folder, std::vector<OutputFile> const& files);

// The check that write_folder begins with, for a program that would rather know before a long computation.
void expect_replaceable(std::filesystem::path const& folder);

}  // namespace onehead
