// Which files the folder of a trace can hold. Nothing else is ever replaced or removed.
#pragma once

#include <filesystem>
#include <string>

namespace onehead {

bool is_trace_file(std::string const& name);

// Removes the files of a trace from a folder, and the folder itself if it is empty then. What cannot be
// removed stays.
void remove_trace(std::filesystem::path const& folder);

}  // namespace onehead
