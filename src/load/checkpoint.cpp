#include "load/checkpoint.hpp"

#include <fmt/format.h>

#include "error.hpp"
#include "trace/printable.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

constexpr auto as_one_file =
    R"(save it as one with transformers' save_pretrained(folder, max_shard_size="99GB"))";

bool is_there(fs::path const& path) {
    std::error_code refused;
    return fs::exists(path, refused);
}

std::string folder_name(fs::path const& folder) {
    std::error_code refused;
    return printable(fs::canonical(folder, refused).filename().string());
}

fs::path weights_path(fs::path const& folder) {
    auto path = folder / "model.safetensors";
    if (is_there(path)) return path;
    auto const expected = fmt::format("{}: expected model.safetensors, found ", folder.string());
    if (is_there(folder / "model.safetensors.index.json"))
        throw Error(fmt::format("{}a model in several files (model.safetensors.index.json): {}", expected,
                                as_one_file));
    if (is_there(folder / "pytorch_model.bin"))
        throw Error(fmt::format("{}only pytorch_model.bin: {}", expected, as_one_file));
    throw Error(
        fmt::format("{}no weights: expected a folder with config.json, model.safetensors, vocab.json, "
                    "merges.txt",
                    expected));
}

WeightFile open_weights(fs::path const& folder) {
    auto const path = weights_path(folder);
    auto const config_path = folder / "config.json";
    auto const config = read_config(config_path);
    return {Safetensors(path), config,
            fmt::format("n_embd {}, n_positions {}, vocab_size {}, n_inner {} in {}", config.d_model,
                        config.n_ctx, config.vocab_size, config.d_mlp, config_path.string())};
}

}  // namespace

Checkpoint::Checkpoint(fs::path const& folder)
    : name_(folder_name(folder)), weights_(open_weights(folder)), tokenizer_(folder) {
    check_weights();
}

// What can be seen from the header alone.
void Checkpoint::check_weights() const {
    auto const& [file, shape, shapes_from] = weights_;
    weights_.expect("wte.weight", {shape.vocab_size, shape.d_model});
    weights_.expect("wpe.weight", {shape.n_ctx, shape.d_model});
    weights_.expect(fmt::format("h.{}.ln_1.weight", shape.n_layer - 1), {shape.d_model});
    auto const beyond = weights_.full_name(fmt::format("h.{}.ln_1.weight", shape.n_layer));
    if (file.find(beyond) != nullptr)
        throw Error(
            fmt::format("{}: expected layers below {} (n_layer in config.json), found tensor {}: they are "
                        "not of one model",
                        file.name(), shape.n_layer, beyond));
}

Matrix Checkpoint::hidden_states(std::size_t layer) const {
    throw UsageError(
        fmt::format("{} holds no hidden states of layer {}: compute them from the embeddings", name_, layer));
}

Embedding Checkpoint::embed(std::vector<int> const& tokens) const {
    check_tokens(tokens);
    std::vector<std::size_t> const ids(tokens.begin(), tokens.end());
    return {.token = weights_.file.read_rows(weights_.full_name("wte.weight"), ids),
            .position = weights_.file.read_first_rows(weights_.full_name("wpe.weight"), ids.size())};
}

AttentionWeights Checkpoint::attention(std::size_t layer) const {
    check_layer(layer);
    return read_attention(weights_, layer);
}

MlpWeights Checkpoint::mlp(std::size_t layer) const {
    check_layer(layer);
    return read_mlp(weights_, layer);
}

}  // namespace onehead
