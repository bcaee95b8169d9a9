// A small JSON file, read strictly: nothing that two readers could understand differently (a key given
// twice), and nothing built to exhaust one (endless nesting).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace onehead {

// Throws an Error that names the file, and the line if it is not JSON.
nlohmann::json read_json(std::filesystem::path const& path, std::size_t most_bytes = std::size_t{1} << 20);

// The same for JSON that is in memory; `source` names it in messages.
nlohmann::json parse_json(std::string const& text, std::string const& source);

}  // namespace onehead
