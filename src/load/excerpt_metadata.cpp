#include "load/excerpt_metadata.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include "error.hpp"
#include "load/json.hpp"
#include "load/quote.hpp"
#include "trace/printable.hpp"

namespace onehead {
namespace {

// The texts by their keys, each turned into what it stands for.
class Reader {
public:
    explicit Reader(Safetensors const& file) : file_(file) {}

    bool has(std::string_view key) const { return file_.metadata().contains(key); }

    std::string const& text(std::string_view key) const {
        auto const found = file_.metadata().find(key);
        if (found != file_.metadata().end()) return found->second;
        throw Error(fmt::format(
            "{}: expected an excerpt with metadata {}, found none: of a checkpoint, give the folder",
            file_.name(), quote(key)));
    }

    [[noreturn]] void refuse(std::string_view key, std::string_view expected) const {
        throw Error(fmt::format("{}: metadata {}: expected {}, found {}", file_.name(), quote(key), expected,
                                quote(text(key))));
    }

    template <class Number>
    Number number(std::string_view key, std::string_view expected) const {
        auto const& digits = text(key);
        Number value{};
        auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) refuse(key, expected);
        return value;
    }

    std::size_t count(std::string_view key) const {
        auto const value = number<std::size_t>(key, "a whole number above 0");
        if (value == 0) refuse(key, "a whole number above 0");
        return value;
    }

    std::string one_line(std::string_view key) const {
        if (printable(text(key)) != text(key)) refuse(key, "a name on one line, all of it visible");
        return text(key);
    }

    std::vector<int> ids(std::string_view key) const {
        auto const list = parse_json(text(key), fmt::format("{}: metadata {}", file_.name(), quote(key)));
        auto const is_id = [](nlohmann::json const& id) {
            return id.is_number_unsigned() && id <= std::numeric_limits<int>::max();
        };
        if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_id))
            refuse(key, "a list of token ids");
        return list.get<std::vector<int>>();
    }

    Rows rows(std::string_view key) const {
        if (text(key) == "exact") return Rows::exact;
        if (text(key) == "shifted") return Rows::shifted;
        if (text(key) == "rescaled") return Rows::rescaled;
        refuse(key, "exact, shifted or rescaled");
    }

private:
    Safetensors const& file_;
};

}  // namespace

ExcerptMetadata read_excerpt_metadata(Safetensors const& file) {
    Reader const reader(file);
    return {.model = reader.one_line("model"),
            .text = reader.text("text"),
            .token_ids = reader.ids("token_ids"),
            .rows = reader.rows("residual"),
            .n_head = reader.count("n_head"),
            .layer_norm_epsilon = reader.number<double>("layer_norm_epsilon", "a number"),
            .n_layer = reader.has("n_layer") ? std::optional(reader.count("n_layer")) : std::nullopt};
}

}  // namespace onehead
