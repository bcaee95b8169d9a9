// Writes a file whole, or throws.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace onehead {

// Takes the bytes of a file, piece by piece.
using Sink = std::function<void(std::string_view)>;

// Writes what `give` hands over. Throws an Error that names the file and the system's reason.
void write_file(std::filesystem::path const& path, std::function<void(Sink const& out)> const& give);

void write_file(std::filesystem::path const& path, std::string_view bytes);

// The same, but an earlier file of that name stays until the new one is whole. A device or a pipe is written
// to.
void write_file_in_place(std::filesystem::path const& path, std::string_view bytes);

}  // namespace onehead
