#include "load/excerpt.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "error.hpp"
#include "load/excerpt_index.hpp"
#include "load/quote.hpp"
#include "trace/printable.hpp"

namespace onehead {
namespace {

constexpr std::size_t bundled_vocabulary = 50257;  // GPT-2's

std::string hidden_states_name(std::size_t layer) {
    return fmt::format("hidden_states.{}", layer);
}

}  // namespace

Excerpt::Excerpt(std::filesystem::path const& path)
    : weights_{Safetensors(path), {}, "to fit the excerpt's other parts"},
      metadata_(read_excerpt_metadata(weights_.file)),
      layers_(find_layers(weights_.file)),
      rows_(find_rows(weights_)),
      tokenizer_(data_folder() / "gpt2-mini") {
    weights_.config = make_config();
    check_config(weights_.config, weights_.file.name());
    check_shapes();
    try {
        Excerpt::check_tokens(own_tokens());
    } catch (UsageError const& error) {
        throw Error(
            fmt::format("{}: does not hold what its own text needs: {}", weights_.file.name(), error.what()));
    }
}

bool Excerpt::has(std::string const& tensor) const {
    return weights_.file.find(weights_.full_name(tensor)) != nullptr;
}

Config Excerpt::make_config() const {
    auto const first_size = [this](std::string const& name) {
        auto const& shape = weights_.file.at(weights_.full_name(name)).shape;
        return shape.empty() ? 0 : shape[0];
    };
    Config config;
    config.d_model = first_size(fmt::format("h.{}.ln_1.weight", layers_.front()));
    config.n_head = metadata_.n_head;
    config.n_layer = metadata_.n_layer.value_or(layers_.back() + 1);
    config.n_ctx = any_hidden_states() ? own_tokens().size() : first_size("wpe.weight");
    config.vocab_size = has("wte.weight") ? first_size("wte.weight") : bundled_vocabulary;
    config.layer_norm_epsilon = metadata_.layer_norm_epsilon;
    return config;
}

void Excerpt::check_shapes() const {
    auto const& [d_model, n_head, n_layer, n_ctx, vocab_size, epsilon, d_mlp] = config();
    if (has("wpe.weight") && !any_hidden_states()) weights_.expect("wpe.weight", {n_ctx, d_model});
    if (has("wte.weight")) weights_.expect("wte.weight", {vocab_size, d_model});
    if (has("wte.rows") || !rows_.empty()) weights_.expect("wte.rows", {rows_.size(), d_model});
    if (n_layer <= layers_.back())
        throw Error(fmt::format("{}: expected layers below n_layer {}, found {}", weights_.file.name(),
                                n_layer, layers_.back()));
    for (auto const layer : layers_)
        if (has_hidden_states(layer))
            weights_.expect(hidden_states_name(layer), {own_tokens().size(), d_model});
}

std::string Excerpt::name() const {
    return fmt::format("{} ({})", metadata_.model,
                       printable(std::filesystem::path(weights_.file.name()).filename().string()));
}

bool Excerpt::has_hidden_states(std::size_t layer) const {
    return has(hidden_states_name(layer));
}

bool Excerpt::any_hidden_states() const {
    return std::ranges::any_of(layers_, [this](std::size_t layer) { return has_hidden_states(layer); });
}

void Excerpt::check_tokens(std::vector<int> const& tokens) const {
    Model::check_tokens(tokens);
    if (!any_hidden_states())
        for (int const id : tokens) row_of(id);
    else if (tokens != own_tokens())
        throw UsageError(
            fmt::format("{}: holds no embeddings but the hidden states of its own text: use that, {}", name(),
                        quote(own_text())));
}

std::size_t Excerpt::row_of(int id) const {
    if (rows_.empty() && has("wte.weight")) return static_cast<std::size_t>(id);
    if (auto const found = rows_.find(id); found != rows_.end()) return found->second;
    throw UsageError(fmt::format("{}: holds no embedding of token {}: it is made for the text {} (ids {})",
                                 name(), id, quote(own_text()), fmt::join(own_tokens(), ", ")));
}

Matrix Excerpt::hidden_states(std::size_t layer) const {
    check_layer(layer);
    if (!has_hidden_states(layer))
        throw UsageError(fmt::format("{}: holds embeddings, not the input of layer {}", name(), layer));
    return weights_.file.read_matrix(weights_.full_name(hidden_states_name(layer)), own_tokens().size(),
                                     config().d_model);
}

Embedding Excerpt::embed(std::vector<int> const& tokens) const {
    check_tokens(tokens);
    if (any_hidden_states())
        throw UsageError(
            fmt::format("{}: holds no embeddings, only the input of layer {}", name(), layers_.front()));
    std::vector<std::size_t> rows;
    rows.reserve(tokens.size());
    for (int const id : tokens) rows.push_back(row_of(id));
    return {
        .token = weights_.file.read_rows(weights_.full_name(rows_.empty() ? "wte.weight" : "wte.rows"), rows),
        .position = weights_.file.read_first_rows(weights_.full_name("wpe.weight"), tokens.size())};
}

AttentionWeights Excerpt::attention(std::size_t layer) const {
    check_layer(layer);
    return read_attention(weights_, layer);
}

MlpWeights Excerpt::mlp(std::size_t layer) const {
    throw UsageError(fmt::format(
        "{}: holds no MLP of layer {}, which the layers above it need: use the whole model", name(), layer));
}

}  // namespace onehead
