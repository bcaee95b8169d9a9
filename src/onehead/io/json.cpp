#include "onehead/io/json.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

namespace {

using nlohmann::json;

constexpr std::size_t deepest = 16;
constexpr std::size_t most_parts = 200'000;  // a list of token ids is the longest that is read

// Sees each part of the text before it is kept.
class Guard {
public:
    explicit Guard(std::string source) : source_(std::move(source)) {}

    bool operator()(int /*depth*/, json::parse_event_t event, json const& part) {
        using Event = json::parse_event_t;
        if (++parts_ > most_parts)
            throw Error(fmt::format("{}: expected at most {} values, found more", source_, most_parts));
        if (event == Event::object_start || event == Event::array_start) enter();
        if (event == Event::object_end || event == Event::array_end) keys_.pop_back();
        if (event == Event::key) check_key(part.get_ref<std::string const&>());
        return true;
    }

private:
    void enter() {
        if (keys_.size() == deepest)
            throw Error(fmt::format("{}: nested more than {} levels deep", source_, deepest));
        keys_.emplace_back();
    }

    void check_key(std::string const& key) {
        if (!keys_.back().insert(key).second)
            throw Error(fmt::format("{}: key {} is given twice: remove one", source_, quote(key)));
    }

    std::string source_;
    std::size_t parts_ = 0;
    std::vector<std::set<std::string>> keys_;  // of each object or list that is open
};

std::ptrdiff_t line_of(std::string const& text, std::size_t byte) {
    auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    return 1 + std::count(text.begin(), end, '\n');
}

}  // namespace

json parse_json(std::string const& text, std::string const& source) {
    try {
        return json::parse(text, Guard(source));
    } catch (json::parse_error const& error) {
        throw Error(fmt::format("{}: expected JSON, found something else in line {}", source,
                                line_of(text, error.byte)));
    } catch (json::exception const&) {
        throw Error(fmt::format("{}: holds a number that is too large", source));
    }
}

json read_json(std::filesystem::path const& path, std::size_t most_bytes) {
    return parse_json(read_text(path, most_bytes), path.string());
}

}  // namespace onehead
