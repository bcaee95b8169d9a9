// A small JSON file, read strictly: nothing that two readers could understand differently (a key given
// twice), and nothing built to exhaust one (endless nesting).
#pragma once

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

// Throws an Error that names the file, and the line if it is not JSON.
nlohmann::json read_json(std::filesystem::path const& path, std::size_t most_bytes = std::size_t{1} << 20);

// The same for JSON that is in memory; `source` names it in messages.
nlohmann::json parse_json(std::string const& text, std::string const& source);

// A JSON object whose values are asked for by key and kind. What is missing or of another kind is an Error
// that says where: "run/trace.json: steps[2]: file: expected a text, found 7".

class JsonObject {
public:
    JsonObject(nlohmann::json const& values, std::string place) : values_(values), place_(std::move(place)) {
        if (!values.is_object())
            throw Error(fmt::format("{}: expected a JSON object, found {}", place_, quote(values.dump())));
    }

    nlohmann::json const& get(char const* key) const {
        auto const found = values_.find(key);
        if (found == values_.end())
            throw Error(fmt::format("{}: expected a key \"{}\", found none", place_, key));
        return *found;
    }

    [[noreturn]] void refuse(char const* key, std::string_view expected) const {
        throw Error(
            fmt::format("{}: {}: expected {}, found {}", place_, key, expected, quote(get(key).dump())));
    }

    std::string text(char const* key) const {
        if (!get(key).is_string()) refuse(key, "a text");
        return get(key).get<std::string>();
    }

    // A text that a page shows as it is.
    std::string line(char const* key) const {
        if (printable(text(key)) != text(key)) refuse(key, "one line of text, all of it visible");
        return text(key);
    }

    std::string line_or_null(char const* key) const { return get(key).is_null() ? "" : line(key); }

    double number(char const* key) const {
        if (!get(key).is_number()) refuse(key, "a number");
        return get(key).get<double>();
    }

    std::size_t count(char const* key, std::size_t least, std::size_t most) const {
        nlohmann::json const& value = get(key);
        if (!value.is_number_unsigned() || value < least || value > most)
            refuse(key, fmt::format("a whole number from {} to {}", least, most));
        return value.get<std::size_t>();
    }

    nlohmann::json const& list(char const* key, std::size_t most) const {
        nlohmann::json const& value = get(key);
        if (!value.is_array() || value.empty() || value.size() > most)
            refuse(key, fmt::format("a list of 1 to {} entries", most));
        return value;
    }

    std::string const& place() const { return place_; }

private:
    nlohmann::json const& values_;
    std::string place_;
};

}  // namespace onehead
