// The JSON is not kept as a document: each pair goes straight to its place, where a second one would show.
#include "load/vocabulary.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "error.hpp"
#include "load/byte_symbols.hpp"
#include "load/text_file.hpp"
#include "trace/token.hpp"

namespace onehead {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::unordered_map<std::string, int>;

constexpr std::size_t largest_file = 16U << 20U;
constexpr int largest_id = 500'000;  // GPT-2's is 50256

[[noreturn]] void refuse(fs::path const& file, std::string_view expected, std::string_view found) {
    throw Error(fmt::format("{}: expected {}, found {}; get the file again from where the model came from",
                            file.string(), expected, found));
}

// Called by the parser for each thing it meets. The answer says whether to keep it: of the outermost object,
// the shell.
struct PairReader {
    fs::path const& file;
    Ids& ids;
    std::string key;

    bool operator()(int depth, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (event == Event::array_start || (event == Event::object_start && depth > 0)) {
            refuse(file, "one JSON object of tokens and their ids", "an array or object inside");
        }
        if (event == Event::key) key = parsed.get<std::string>();
        if (event == Event::value && depth == 1) add(parsed);
        return depth == 0;
    }

    void add(json const& value) {
        bool const is_id = value.is_number_unsigned() && value.get<std::uint64_t>() <= largest_id;
        if (!is_id)
            refuse(file,
                   fmt::format("the id of {}, a whole number from 0 to {}", label(key.substr(0, 80)),
                               largest_id),
                   value.dump().substr(0, 80));
        if (ids.size() == largest_id) refuse(file, fmt::format("at most {} tokens", largest_id), "more");
        if (!ids.emplace(key, value.get<int>()).second)
            refuse(file, "each token once", label(key.substr(0, 80)) + " twice");
    }
};

Ids read_ids(fs::path const& file) {
    std::string const text = read_text_file(file, largest_file);
    Ids ids;
    try {
        json const shell = json::parse(text, PairReader{file, ids, {}});
        if (!shell.is_object()) refuse(file, "one JSON object of tokens and their ids", shell.type_name());
    } catch (json::parse_error const& error) {
        refuse(file, "JSON", fmt::format("something else at byte {}", error.byte));
    }
    return ids;
}

std::vector<std::string> bytes_by_id(fs::path const& file, Ids const& ids) {
    std::vector<std::optional<std::string>> found(ids.size());
    for (auto const& [characters, id] : ids) {
        auto const index = static_cast<std::size_t>(id);
        if (index >= found.size() || found[index]) {
            refuse(file, fmt::format("{} ids from 0 without a gap, each once", ids.size()),
                   fmt::format("{} for {}", id, label(characters.substr(0, 80))));
        }
        found[index] = bytes_of(characters).value_or(characters);
    }
    std::vector<std::string> bytes;
    bytes.reserve(found.size());
    for (auto& token : found) bytes.push_back(std::move(*token));
    return bytes;
}

}  // namespace

Vocabulary read_vocabulary(fs::path const& file, Merges const& merges) {
    Ids const ids = read_ids(file);
    Vocabulary vocabulary{bytes_by_id(file, ids), {}};
    vocabulary.ids.reserve(static_cast<std::size_t>(merges.size()));
    for (int symbol = 0; symbol < merges.size(); ++symbol) {
        auto const found = ids.find(merges.characters(symbol));
        if (found == ids.end()) {
            refuse(file, "the id of every symbol that merges.txt makes",
                   "none for " + label(merges.characters(symbol).substr(0, 80)));
        }
        vocabulary.ids.push_back(found->second);
    }
    return vocabulary;
}

}  // namespace onehead
