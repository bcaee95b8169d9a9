#include "load/excerpt_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "load/memory.hpp"
#include "load/run.hpp"

namespace onehead {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// Tensors one after the other, and the header that says where each is.
class SafetensorsBytes {  // NOLINT(bugprone-exception-escape): of the JSON library's move
public:
    void add(std::string const& name, Matrix const& m) {
        add(name, "F32", {m.shape(0), m.shape(1)}, m.data(), m.size() * sizeof(float));
    }
    void add(std::string const& name, Vector const& v) {
        add(name, "F32", {v.size()}, v.data(), v.size() * sizeof(float));
    }
    void add(std::string const& name, std::vector<std::int64_t> const& v) {
        add(name, "I64", {v.size()}, v.data(), v.size() * sizeof(std::int64_t));
    }
    void set_metadata(nlohmann::ordered_json metadata) { header_["__metadata__"] = std::move(metadata); }

    std::string bytes() const {
        std::string header = header_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        header.resize((header.size() + 7) / 8 * 8, ' ');
        auto const length = static_cast<std::uint64_t>(header.size());
        return std::string(reinterpret_cast<char const*>(&length), sizeof length) + header + data_;
    }

private:
    void add(std::string const& name, char const* dtype, std::vector<std::size_t> const& shape,
             void const* values, std::size_t size) {
        header_[name] = {
            {"dtype", dtype}, {"shape", shape}, {"data_offsets", {data_.size(), data_.size() + size}}};
        data_.append(static_cast<char const*>(values), size);
    }

    nlohmann::ordered_json header_;
    std::string data_;
};

void add_attention(SafetensorsBytes& file, AttentionWeights const& block, std::size_t layer) {
    auto const add = [&](char const* name, auto const& values) {
        file.add(fmt::format("h.{}.{}", layer, name), values);
    };
    add("ln_1.weight", block.ln_1.gain);
    add("ln_1.bias", block.ln_1.bias);
    add("attn.c_attn.weight", block.c_attn);
    add("attn.c_attn.bias", block.c_attn_bias);
    add("attn.c_proj.weight", block.c_proj);
    add("attn.c_proj.bias", block.c_proj_bias);
}

void add_embeddings(SafetensorsBytes& file, Model const& model, std::vector<int> const& ids) {
    std::vector<int> distinct = ids;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    file.add("wte.rows", model.embed(distinct).token);
    file.add("wte.row_ids", std::vector<std::int64_t>(distinct.begin(), distinct.end()));
    file.add("wpe.weight", model.embed(ids).position);
}

nlohmann::ordered_json metadata(Model const& model, std::size_t layer, std::vector<int> const& ids) {
    return {{"format", "pt"},
            {"model", model.name()},
            {"n_head", std::to_string(model.config().n_head)},
            {"n_layer", std::to_string(model.config().n_layer)},
            {"layer_norm_epsilon", fmt::format("{}", model.config().layer_norm_epsilon)},
            {"text", model.tokenizer().decode(ids)},
            {"token_ids", fmt::format("[{}]", fmt::join(ids, ", "))},
            {"layers", std::to_string(layer)},
            {"residual", "exact"}};
}

}  // namespace

std::string make_excerpt(Model const& model, std::size_t layer, std::vector<int> const& ids) {
    model.check_layer(layer);
    model.check_tokens(ids);
    expect_memory(model.config(), ids.size());
    if (model.rows() != Rows::exact)
        throw UsageError(fmt::format(
            "{}: its rows are not exact, so that no exact excerpt can be cut from it; use the whole model",
            model.name()));
    SafetensorsBytes file;
    file.set_metadata(metadata(model, layer, ids));
    add_attention(file, model.attention(layer), layer);
    if (layer == 0 && !model.has_hidden_states(0))
        add_embeddings(file, model, ids);
    else
        file.add(fmt::format("hidden_states.{}", layer), arriving_rows(model, ids, layer));
    return file.bytes();
}

}  // namespace onehead
