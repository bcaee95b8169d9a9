// A text file of a model, read whole. What often lies under the right name and is something else is named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace onehead {

// Throws an Error if the file cannot be read, is empty, is larger than `largest` bytes, or is a Git LFS
// pointer or a web page.
std::string read_text_file(std::filesystem::path const& file, std::size_t largest);

}  // namespace onehead
