// JSON from outside, read strictly: nothing that two readers could understand differently (a key given twice,
// bytes after the end), and nothing built to exhaust one (endless nesting, millions of values).
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace onehead {

// Throws an Error that names the file, and the line if it is not JSON.
nlohmann::json read_json(std::filesystem::path const& path, std::size_t most_bytes = std::size_t{1} << 20);

// The same for JSON that is in memory; `source` names it in messages.
nlohmann::json parse_json(std::string const& text, std::string const& source);

// A JSON object whose values are asked for by key and kind. What is missing or of another kind is an Error
// that says where: "run/trace.json: steps[2]: file: expected a text, found 7".
class JsonObject {
public:
    JsonObject(nlohmann::json const& values, std::string place);
    JsonObject(nlohmann::json&& values, std::string place) = delete;  // it keeps a reference

    bool has(std::string_view key) const;  // it is there, and not null
    nlohmann::json const& get(char const* key) const;
    [[noreturn]] void refuse(char const* key, std::string_view expected) const;

    std::string text(char const* key) const;
    std::string line(char const* key) const;  // a text that a page shows as it is
    std::string line_or_null(char const* key) const;
    double number(char const* key) const;
    std::size_t count(char const* key, std::size_t least, std::size_t most) const;
    nlohmann::json const& list(char const* key, std::size_t most) const;

    std::string const& place() const { return place_; }

private:
    nlohmann::json const& values_;
    std::string place_;
};

// A whole number in a range; false for everything else, negative ones and fractions too.
bool is_count(nlohmann::json const& value, std::size_t least, std::size_t most);

}  // namespace onehead
