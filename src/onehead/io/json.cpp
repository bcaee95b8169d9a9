#include "onehead/io/json.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

using nlohmann::json;

json read_json(std::filesystem::path const& path, std::size_t most_bytes) {
    return parse_json(read_text(path, most_bytes), path.string());
}

namespace {

constexpr std::size_t deepest = 16;
constexpr std::size_t most_parts = 200'000;    // a list of token ids is the longest that is read
constexpr std::size_t most_work = 20'000'000;  // a header of 580 tensors, as GPT-2 XL's, takes 500'000

// Sees each part of the text before it is kept.
class Guard {
public:
    explicit Guard(std::string const& source) : source_(source) {}

    bool operator()(int /*depth*/, json::parse_event_t event, json const& part) {
        using Event = json::parse_event_t;
        if (++parts_ > most_parts)
            throw Error({source_, fmt::format("at most {} values", most_parts), "more"});
        if (!open_.empty()) ++open_.back().parts;
        if (event == Event::object_start || event == Event::array_start) enter();
        if (event == Event::object_end || event == Event::array_end) open_.pop_back();
        if (event == Event::object_end) count_work();
        if (event == Event::key) check_key(part.get_ref<std::string const&>());
        return true;
    }

private:
    // An object or list that has not ended yet.
    struct Open {
        std::set<std::string> keys;
        std::size_t parts = 0;
    };

    void enter() {
        if (open_.size() == deepest)
            throw Error({source_, fmt::format("at most {} levels of nesting", deepest), "more"});
        open_.emplace_back();
    }

    // Where an object ends, the library looks through all that the list or object around it holds so far:
    // many objects side by side take time that grows with the square of their number.
    void count_work() {
        if (!open_.empty()) work_ += open_.back().parts;
        if (work_ > most_work) throw Error({source_, "fewer objects side by side", "thousands"});
    }

    void check_key(std::string const& key) {
        if (!open_.back().keys.insert(key).second)
            throw Error({source_, "each key once", fmt::format("{} twice", quote(key)), "remove one"});
    }

    std::string const& source_;
    std::size_t parts_ = 0;
    std::size_t work_ = 0;
    std::vector<Open> open_;
};

// byte: of the text, from 0, where it goes wrong.
[[noreturn]] void refuse_text(std::string const& text, std::string const& source, std::size_t byte) {
    byte = std::min(byte, text.size());
    auto const line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    throw Error({source, "JSON",
                 fmt::format("something else at byte {}, in line {}: {}", byte, line,
                             quote(text.substr(byte - std::min<std::size_t>(byte, 10), 20)))});
}

}  // namespace

json parse_json(std::string const& text, std::string const& source) {
    // The library takes a zero byte for the end of the text.
    if (std::size_t const zero = text.find('\0'); zero != text.npos) refuse_text(text, source, zero);
    try {
        return json::parse(text, Guard(source));
    } catch (json::parse_error const& error) {
        refuse_text(text, source, error.byte);
    } catch (json::exception const&) {
        throw Error({source, "JSON", "a number that is too large"});
    }
}

namespace {

// The beginning of a value, as it is written in JSON.
std::string shown(json const& value) {
    std::string const text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return printable(text.size() <= 80 ? text : text.substr(0, 80) + "...");
}

}  // namespace

JsonObject::JsonObject(json const& values, std::string place) : values_(values), place_(std::move(place)) {
    if (!values.is_object()) throw Error({place_, "a JSON object", shown(values)});
}

bool JsonObject::has(std::string_view key) const {
    auto const found = values_.find(std::string{key});
    return found != values_.end() && !found->is_null();
}

json const& JsonObject::get(char const* key) const {
    auto const found = values_.find(key);
    if (found == values_.end()) throw Error({place_, fmt::format("a key \"{}\"", key), "none"});
    return *found;
}

void JsonObject::refuse(char const* key, std::string_view expected) const {
    throw Error({fmt::format("{}: {}", place_, key), std::string{expected}, shown(get(key))});
}

std::string JsonObject::text(char const* key) const {
    if (!get(key).is_string()) refuse(key, "a text");
    return get(key).get<std::string>();
}

std::string JsonObject::line(char const* key) const {
    if (printable(text(key)) != text(key)) refuse(key, "one line of text, all of it visible");
    return text(key);
}

std::string JsonObject::line_or_null(char const* key) const {
    return get(key).is_null() ? "" : line(key);
}

double JsonObject::number(char const* key) const {
    if (!get(key).is_number()) refuse(key, "a number");
    return get(key).get<double>();
}

bool is_count(json const& value, std::size_t least, std::size_t most) {
    return value.is_number_unsigned() && value >= least && value <= most;
}

std::size_t JsonObject::count(char const* key, std::size_t least, std::size_t most) const {
    if (!is_count(get(key), least, most))
        refuse(key, fmt::format("a whole number from {} to {}", least, most));
    return get(key).get<std::size_t>();
}

json const& JsonObject::list(char const* key, std::size_t most) const {
    json const& value = get(key);
    if (!value.is_array() || value.empty() || value.size() > most)
        refuse(key, fmt::format("a list of 1 to {} entries", most));
    return value;
}

}  // namespace onehead
