#include "load/excerpt_index.hpp"

#include <fmt/format.h>
#include <charconv>
#include <optional>
#include <set>

#include "error.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

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
    if (weights.file.find(name) == nullptr) return rows;
    for (std::int64_t const id : weights.file.read_integers(name))
        if (!rows.emplace(id, rows.size()).second)
            throw Error(fmt::format("{}: tensor {}: token id {} is there twice", weights.file.name(),
                                    quote(name), id));
    return rows;
}

}  // namespace onehead
