#include "onehead/model/model.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/system.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/excerpt.hpp"

namespace onehead {

namespace fs = std::filesystem;

std::vector<std::size_t> Model::layers() const {
    std::vector<std::size_t> all(config().n_layer);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void Model::check_layer(std::size_t layer) const {
    auto const there = layers();
    if (std::ranges::find(there, layer) == there.end())
        throw UsageError(fmt::format("layer {} is not in {}, which holds {}: choose one of them", layer,
                                     name(), fmt::join(there, ", ")));
}

void Model::check_tokens(std::vector<int> const& tokens) const {
    if (tokens.empty()) throw UsageError("expected a text of at least one token, found none");
    if (tokens.size() > config().n_ctx)
        throw UsageError(fmt::format("the text has {} tokens, {} takes at most {}: shorten it", tokens.size(),
                                     name(), config().n_ctx));
    for (int const id : tokens)
        if (id < 0 || static_cast<std::size_t>(id) >= config().vocab_size)
            throw UsageError(fmt::format("token id {} is not in the vocabulary of {}, which ends at {}", id,
                                         name(), config().vocab_size - 1));
}

std::unique_ptr<Model> open_model(fs::path const& path) {
    std::error_code not_there;  // which Excerpt reports
    if (fs::is_directory(path, not_there)) return std::make_unique<Checkpoint>(path);
    return std::make_unique<Excerpt>(path);
}

// Installed, a program lies in bin or in libexec/onehead, and the models in share/onehead.
fs::path data_folder() {
    auto const programs = program_path().parent_path();
    for (fs::path const& prefix : {programs.parent_path(), programs.parent_path().parent_path()})
        if (!programs.empty() && fs::is_directory(prefix / "share" / "onehead")) return prefix / "share" / "onehead";
    fs::path source_tree = ONEHEAD_DATA;
    if (fs::is_directory(source_tree)) return source_tree;
    throw Error(
        fmt::format("{}: expected the folder with the models beside it in share/onehead, found none: name a "
                    "model with --model",
                    programs.string()));
}

fs::path default_model() {
    char const* const chosen = std::getenv("ONEHEAD_MODEL");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    auto const downloaded = data_folder() / "gpt2";
    return fs::exists(downloaded / "model.safetensors") ? downloaded : data_folder() / "gpt2-mini";
}

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

namespace {

// The tensors of one block, by what comes after "h.3.".
class Block {
public:
    Block(WeightFile const& source, std::size_t layer)
        : source_(source), prefix_(fmt::format("h.{}.", layer)) {}

    Vector vector(std::string const& name, std::size_t n) const {
        source_.expect(prefix_ + name, {n});
        return source_.file.read_vector(source_.full_name(prefix_ + name), n);
    }

    Matrix matrix(std::string const& name, std::size_t rows, std::size_t columns) const {
        source_.expect(prefix_ + name, {rows, columns});
        return source_.file.read_matrix(source_.full_name(prefix_ + name), rows, columns);
    }

    LayerNorm layer_norm(std::string const& name) const {
        auto const& config = source_.config;
        return {vector(name + ".weight", config.d_model), vector(name + ".bias", config.d_model),
                config.layer_norm_epsilon};
    }

private:
    WeightFile const& source_;
    std::string prefix_;
};

}  // namespace

std::string WeightFile::full_name(std::string const& name) const {
    auto in_wrapper = fmt::format("transformer.{}", name);
    return file.find(in_wrapper) != nullptr ? in_wrapper : name;
}

void WeightFile::expect(std::string const& name, std::vector<std::uint64_t> const& shape) const {
    file.expect_shape(full_name(name), shape, shapes_from);
}

AttentionWeights read_attention(WeightFile const& source, std::size_t layer) {
    Block const block(source, layer);
    auto const n = source.config.d_model;
    return {.n_head = source.config.n_head,
            .ln_1 = block.layer_norm("ln_1"),
            .c_attn = block.matrix("attn.c_attn.weight", n, 3 * n),
            .c_attn_bias = block.vector("attn.c_attn.bias", 3 * n),
            .c_proj = block.matrix("attn.c_proj.weight", n, n),
            .c_proj_bias = block.vector("attn.c_proj.bias", n)};
}

MlpWeights read_mlp(WeightFile const& source, std::size_t layer) {
    Block const block(source, layer);
    auto const n = source.config.d_model;
    auto const d_mlp = source.config.d_mlp;
    return {.ln_2 = block.layer_norm("ln_2"),
            .c_fc = block.matrix("mlp.c_fc.weight", n, d_mlp),
            .c_fc_bias = block.vector("mlp.c_fc.bias", d_mlp),
            .c_proj = block.matrix("mlp.c_proj.weight", d_mlp, n),
            .c_proj_bias = block.vector("mlp.c_proj.bias", n)};
}

namespace {

using nlohmann::json;

constexpr std::size_t deepest = 16384;
constexpr std::size_t widest = 16384;  // GPT-2 XL has 1600; a matrix of it should still fit into memory

// A config and the file it is from.
struct Source {
    json values;
    std::string file;

    // Null where the key is missing: Hugging Face writes null for "as usual".
    json get(char const* key) const { return values.value(key, json()); }

    [[noreturn]] void refuse(char const* key, std::string_view expected) const {
        auto const found = get(key).dump(-1, ' ', true).substr(0, 80);
        throw Error(fmt::format("{}: {}: expected {}, found {}", file, key, expected, found));
    }

    std::size_t count(char const* key) const {
        if (!get(key).is_number_unsigned() || get(key) == 0) refuse(key, "a whole number above 0");
        return get(key).get<std::size_t>();
    }

    std::size_t count(char const* key, std::size_t usual) const {
        return get(key).is_null() ? usual : count(key);
    }
};

// An option that this program does not follow, and its value in GPT-2.
struct Fixed {
    char const* key;
    json usual;
};

// reorder_and_upcast_attn is not among them: it changes the order of two multiplications, hence rounding
// alone. gelu_pytorch_tanh is another name of gelu_new.
void refuse_other_arithmetic(Source const& source) {
    std::array const fixed{
        Fixed{"model_type", "gpt2"},
        Fixed{"scale_attn_weights", true},
        Fixed{"scale_attn_by_inverse_layer_idx", false},
        Fixed{"add_cross_attention", false},
    };
    for (auto const& [key, usual] : fixed)
        if (!source.get(key).is_null() && source.get(key) != usual)
            source.refuse(key, fmt::format("{}, since only GPT-2's arithmetic is traced", usual.dump()));
    json const activation = source.values.value("activation_function", json("gelu_new"));
    if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
        source.refuse("activation_function", "gelu_new, since only GPT-2's arithmetic is traced");
}

double epsilon(Source const& source) {
    json const value = source.get("layer_norm_epsilon");
    if (value.is_null()) return Config{}.layer_norm_epsilon;
    if (!value.is_number()) source.refuse("layer_norm_epsilon", "a number");
    return value.get<double>();
}

}  // namespace

Config read_config(std::filesystem::path const& path) {
    Source const source{read_json(path), path.string()};
    if (!source.values.is_object()) throw Error(fmt::format("{}: expected a JSON object", source.file));
    refuse_other_arithmetic(source);
    Config config;
    config.d_model = source.count("n_embd");
    config.n_head = source.count("n_head");
    config.n_layer = source.count("n_layer");
    config.n_ctx = source.count("n_positions", source.count("n_ctx", 1024));
    config.vocab_size = source.count("vocab_size", 50257);
    config.d_mlp = source.count("n_inner", 4 * config.d_model);
    config.layer_norm_epsilon = epsilon(source);
    check_config(config, source.file);
    return config;
}

void check_config(Config const& config, std::string const& source) {
    if (config.d_model > widest || config.d_mlp > 4 * widest)
        throw Error(
            fmt::format("{}: expected a width of at most {} (n_embd) and {} (n_inner), found {} and {}",
                        source, widest, 4 * widest, config.d_model, config.d_mlp));
    if (config.n_layer > deepest)
        throw Error(fmt::format("{}: n_layer: expected at most {} layers, found {}", source, deepest,
                                config.n_layer));
    if (config.n_head == 0 || config.d_model % config.n_head != 0)
        throw Error(fmt::format("{}: n_head {} does not divide the width {} (n_embd) evenly", source,
                                config.n_head, config.d_model));
    if (!std::isfinite(config.layer_norm_epsilon) || config.layer_norm_epsilon <= 0)
        throw Error(fmt::format("{}: layer_norm_epsilon: expected a small number above 0, found {}", source,
                                config.layer_norm_epsilon));
}

namespace {

static_assert(std::endian::native == std::endian::little, "the values are hashed as they lie in memory");

template <class Tensor>
std::span<std::byte const> bytes_of(Tensor const& values) {
    return std::as_bytes(std::span(values.data(), values.size()));
}

}  // namespace

std::string weights_sha256(LayerNorm const& ln_1, HeadWeights const& head, Vector const& c_proj_bias) {
    Sha256 hash;
    hash.add(bytes_of(ln_1.gain));
    hash.add(bytes_of(ln_1.bias));
    hash.add(bytes_of(head.w_q));
    hash.add(bytes_of(head.b_q));
    hash.add(bytes_of(head.w_k));
    hash.add(bytes_of(head.b_k));
    hash.add(bytes_of(head.w_v));
    hash.add(bytes_of(head.b_v));
    hash.add(bytes_of(head.w_o));
    hash.add(bytes_of(c_proj_bias));
    return hash.hex();
}

}  // namespace onehead
