#include "load/excerpt_index.hpp"

#include <fmt/format.h>
#include <charconv>
#include <optional>
#include <set>

#include "error.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

constexpr std::uint64_t most_rows = 1'000'000;  // far beyond GPT-2's 50257 tokens

// "h.4.attn.c_attn.weight" or "transformer.h.4.attn.c_attn.weight": 4. Nothing for another name.
std::optional<std::size_t> layer_in(std::string_view name) {
    if (name.starts_with("transformer.")) name.remove_prefix(std::string_view("transformer.").size());
    if (!name.starts_with("h.")) return std::nullopt;
    std::uint16_t layer = 0;
    auto const [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), layer);
    if (error != std::errc{} || std::string_view(end, name.data() + name.size()) != ".attn.c_attn.weight")
        return std::nullopt;
    return layer;
}

}  // namespace

std::vector<std::size_t> find_layers(Safetensors const& file) {
    std::set<std::size_t> layers;
    for (auto const& [name, _] : file.tensors())
        if (auto const layer = layer_in(name)) layers.insert(*layer);
    if (layers.empty())
        throw Error(
            fmt::format("{}: expected the attention weights of a block (h.0.attn.c_attn.weight), found none: "
                        "not an excerpt",
                        file.name()));
    return {layers.begin(), layers.end()};
}

std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights) {
    auto const name = weights.full_name("wte.row_ids");
    std::map<std::int64_t, std::size_t> rows;
    auto const* const ids = weights.file.find(name);
    if (ids == nullptr) return rows;
    if (ids->shape.size() != 1 || ids->shape[0] > most_rows)
        throw Error(fmt::format("{}: tensor {}: expected shape [m] with at most {} token ids, found [{}]",
                                weights.file.name(), quote(name), most_rows, fmt::join(ids->shape, ", ")));
    for (std::int64_t const id : weights.file.read_integers(name))
        if (!rows.emplace(id, rows.size()).second)
            throw Error(fmt::format("{}: tensor {}: token id {} is there twice", weights.file.name(),
                                    quote(name), id));
    return rows;
}

}  // namespace onehead
