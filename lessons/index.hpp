// index.html in the folder of the lessons' traces: a list of the pages that are there.
#pragma once

#include <filesystem>

namespace onehead {

// Throws an Error if a file of that name is there that is not such a list.
void write_index(std::filesystem::path const& folder);

}  // namespace onehead
