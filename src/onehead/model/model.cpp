#include "onehead/model/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
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
using nlohmann::json;

std::vector<int> Model::encode(std::string_view text) const {
    std::size_t const n_ctx = config().n_ctx;
    if (text.size() > n_ctx && text.size() / n_ctx >= tokenizer().longest())
        throw UsageError("text", {"",
                                  fmt::format("at most {} tokens of at most {} bytes, which {} takes", n_ctx,
                                              tokenizer().longest(), name()),
                                  fmt::format("{} bytes", text.size()), "shorten it"});
    return tokenizer().encode(text);
}

Tokens Model::tokens(std::vector<int> const& ids) const {
    Tokens tokens;
    try {
        for (int const id : ids) tokens.push_back(tokenizer().token(id));
    } catch (Error const&) {
        tokens.clear();
        for (int const id : ids) tokens.push_back({.id = id});
    }
    return tokens;
}

std::vector<std::size_t> Model::layers() const {
    std::vector<std::size_t> all(config().n_layer);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void Model::check_layer(std::size_t layer) const {
    auto const there = layers();
    if (std::ranges::find(there, layer) == there.end())
        throw UsageError("layer",
                         {"", fmt::format("one of those that {} holds: {}", name(), fmt::join(there, ", ")),
                          std::to_string(layer)});
}

void Model::check_tokens(std::vector<int> const& tokens) const {
    if (tokens.empty())
        throw UsageError("text", {"", "at least one token, for a head needs a row to read", "none"});
    if (tokens.size() > config().n_ctx)
        throw UsageError("text",
                         {"", fmt::format("at most {} tokens, which {} takes", config().n_ctx, name()),
                          fmt::format("{} tokens", tokens.size()), "shorten it"});
    for (int const id : tokens)
        if (id < 0 || static_cast<std::size_t>(id) >= config().vocab_size)
            throw UsageError("token_ids",
                             {"", fmt::format("ids of {}, from 0 to {}", name(), config().vocab_size - 1),
                              std::to_string(id)});
}

std::unique_ptr<Model> open_model(fs::path const& path) {
    std::error_code not_there;  // which Excerpt reports
    if (fs::is_directory(path, not_there)) return std::make_unique<Checkpoint>(path);
    if (!fs::exists(path, not_there) && !path.has_parent_path() && path.has_filename())
        if (auto const bundled = data_folder() / path; fs::is_directory(bundled, not_there))
            return std::make_unique<Checkpoint>(bundled);
    return std::make_unique<Excerpt>(path);
}

std::unique_ptr<Model> open_default_model() {
    char const* const chosen = std::getenv("ONEHEAD_MODEL");
    if (chosen == nullptr || *chosen == '\0') return open_model(data_folder() / "gpt2-mini");
    try {
        return open_model(chosen);
    } catch (UsageError const&) {
        throw;
    } catch (Error const& error) {
        throw Error({.where = "$ONEHEAD_MODEL", .found = error.what()});
    }
}

// Installed, a program is in bin or in libexec/onehead, and the models in share/onehead.
fs::path data_folder() {
    std::error_code not_there;
    auto const programs = program_path().parent_path();
    for (fs::path const& prefix : {programs.parent_path(), programs.parent_path().parent_path()})
        if (!programs.empty() && fs::is_directory(prefix / "share" / "onehead", not_there))
            return prefix / "share" / "onehead";
    fs::path source_tree = ONEHEAD_DATA;
    if (fs::is_directory(source_tree, not_there)) return source_tree;
    throw Error({programs.string(), "the folder with the models beside it in share/onehead", "none",
                 "name a model of your own"});
}

// A folder as Hugging Face writes it.

namespace {

constexpr auto as_one_file =
    R"(save it as one with transformers' save_pretrained(folder, max_shard_size="99GB"))";

std::string folder_name(fs::path const& folder) {
    std::error_code refused;
    return printable(fs::canonical(folder, refused).filename().string());
}

fs::path weights_path(fs::path const& folder) {
    auto path = folder / "model.safetensors";
    if (is_there(path)) return path;
    auto const refuse = [&](std::string const& found, std::string const& advice) {
        throw Error({folder.string(), "model.safetensors", found, advice});
    };
    if (is_there(folder / "model.safetensors.index.json"))
        refuse("a model in several files (model.safetensors.index.json)", as_one_file);
    if (is_there(folder / "pytorch_model.bin")) refuse("only pytorch_model.bin", as_one_file);
    refuse("no weights", "name a folder with config.json, model.safetensors, vocab.json and merges.txt");
    return path;
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
    : name_(folder_name(folder)), folder_(folder), weights_(open_weights(folder)), tokenizer_(folder) {
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
        throw Error({file.name(), fmt::format("layers below {} (n_layer in config.json)", shape.n_layer),
                     fmt::format("tensor {}", beyond), "config.json and the weights are not of one model"});
}

Matrix Checkpoint::hidden_states(std::size_t layer) const {
    throw UsageError(
        fmt::format("{} holds no hidden states of layer {}: compute them from the embeddings", name_, layer));
}

Embedding Checkpoint::embed(std::vector<int> const& tokens) const {
    check_tokens(tokens);
    std::vector<std::size_t> const ids(tokens.begin(), tokens.end());
    return {.token = weights_.file.read_rows(weights_.full_name("wte.weight"), ids),
            .position = weights_.file.read_rows_from_to(weights_.full_name("wpe.weight"), 0, ids.size())};
}

AttentionWeights Checkpoint::attention(std::size_t layer) const {
    check_layer(layer);
    return read_attention(weights_, layer);
}

// Four names of one function, the tanh form of GELU. Layer 0's head needs no MLP, so only here does another
// activation matter.
MlpWeights Checkpoint::mlp(std::size_t layer) const {
    check_layer(layer);
    constexpr std::array<std::string_view, 4> same{"gelu_new", "gelu_pytorch_tanh", "gelu_fast",
                                                   "gelu_accurate"};
    if (std::ranges::find(same, config().activation) == same.end())
        throw Error({(folder_ / "config.json").string() + ": activation_function",
                     "gelu_new, since only GPT-2's arithmetic is traced", quote(config().activation),
                     "layer 0, which no MLP comes before, can be traced"});
    return read_mlp(weights_, layer);
}

LayerNorm Checkpoint::final_norm() const {
    std::size_t const n = config().d_model;
    auto const vector = [&](char const* name) {
        weights_.expect(name, {n});
        return weights_.file.read_vector(weights_.full_name(name), n);
    };
    return {vector("ln_f.weight"), vector("ln_f.bias"), config().layer_norm_epsilon};
}

// Hugging Face's GPT-2 ties the two, whatever else the file holds, unless its config says otherwise.
Matrix Checkpoint::unembedding(std::size_t first, std::size_t last) const {
    std::string const name = config().tied ? "wte.weight" : "lm_head.weight";
    weights_.expect(name, {config().vocab_size, config().d_model});
    return weights_.file.read_rows_from_to(weights_.full_name(name), first, last);
}

// Tensors by their names.

std::string name_in(SafetensorsHeader::Tensors const& tensors, std::string const& name) {
    auto wrapped = "transformer." + name;
    if (tensors.contains(wrapped)) return wrapped;
    if (name == "wte.weight" && !tensors.contains(name) && tensors.contains("lm_head.weight"))
        return "lm_head.weight";
    return name;
}

std::string WeightFile::full_name(std::string const& name) const {
    return name_in(file.tensors(), name);
}

namespace {

// What to do about names that begin with something else than GPT-2's.
std::string advice_about(std::string_view prefix) {
    if (prefix.starts_with("_orig_mod."))
        return "save the model itself (model._orig_mod), not what torch.compile has wrapped around it";
    if (prefix.starts_with("module."))
        return "save the model itself (model.module), not what DataParallel has wrapped around it";
    return fmt::format("rename the tensors without {}", quote(prefix));
}

// Throws an Error that names what is there instead of a tensor, and what to do.
[[noreturn]] void refuse_missing(Safetensors const& file, std::string const& name) {
    auto const refuse = [&](std::string const& found, std::string const& advice) {
        throw Error({file.name(), fmt::format("tensor {}, which is missing", quote(name)), found, advice});
    };
    for (std::string const& wanted : {name, std::string{name == "wte.weight" ? "lm_head.weight" : name}})
        for (auto const& [found, _] : file.tensors()) {
            if (!found.ends_with("." + wanted)) continue;
            std::string_view prefix{found};
            prefix.remove_suffix(wanted.size());
            if (prefix.ends_with("transformer.") && prefix != "transformer.")
                prefix.remove_suffix(std::string_view{"transformer."}.size());
            refuse(quote(found), advice_about(prefix));
        }
    if (name.ends_with(".bias")) {
        std::string const weight = name.substr(0, name.size() - 4) + "weight";
        std::string const there = name_in(file.tensors(), weight);
        if (file.find(there) != nullptr)
            refuse(quote(there) + " without it",
                   "a model that was trained without biases is the same as one with zeros there: add them");
    }
    refuse(fmt::format("{} others", file.tensors().size()), "the file is incomplete, or not GPT-2's");
    std::abort();
}

}  // namespace

void WeightFile::expect(std::string const& name, std::vector<std::uint64_t> const& shape) const {
    std::string const there = full_name(name);
    if (file.find(there) == nullptr) refuse_missing(file, name);
    file.expect_shape(there, shape, shapes_from);
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

// config.json.

namespace {

constexpr std::size_t deepest = 16384;
constexpr std::size_t widest = 16384;  // GPT-2 XL has 1600; a matrix of it should still fit into memory
// Of what the weights' own shapes limit; a browser's addresses have 32 bits.
constexpr auto most = static_cast<std::size_t>(
    std::min(std::uint64_t{1} << 40U, std::uint64_t{std::numeric_limits<std::size_t>::max()}));
constexpr std::size_t largest_config = std::size_t{1} << 20U;

// An option that this program does not follow, and its value in GPT-2. reorder_and_upcast_attn is not among
// them: it changes the order of two multiplications, hence rounding alone.
void refuse_other_arithmetic(JsonObject const& config) {
    std::array<std::pair<char const*, json>, 4> const fixed{{
        {"model_type", "gpt2"},
        {"scale_attn_weights", true},
        {"scale_attn_by_inverse_layer_idx", false},
        {"add_cross_attention", false},
    }};
    for (auto const& [key, usual] : fixed)
        if (config.has(key) && config.get(key) != usual)
            config.refuse(key, fmt::format("{}, since only GPT-2's arithmetic is traced", usual.dump()));
}

}  // namespace

Config read_config(fs::path const& path) {
    json const values = parse_json(read_text_file(path, largest_config), path.string());
    JsonObject const file(values, path.string());
    refuse_other_arithmetic(file);
    // Hugging Face writes null for "as usual".
    auto const count = [&](char const* key, std::size_t usual) {
        return file.has(key) ? file.count(key, 1, most) : usual;
    };
    Config config;
    config.d_model = file.count("n_embd", 1, widest);
    config.n_head = file.count("n_head", 1, widest);
    config.n_layer = file.count("n_layer", 1, deepest);
    config.n_ctx = count("n_positions", count("n_ctx", 1024));
    config.vocab_size = count("vocab_size", 50257);
    config.d_mlp = count("n_inner", 4 * config.d_model);
    if (file.has("layer_norm_epsilon")) config.layer_norm_epsilon = file.number("layer_norm_epsilon");
    if (values.contains("activation_function"))
        config.activation = file.has("activation_function") ? file.line("activation_function") : "null";
    config.tied = !file.has("tie_word_embeddings") || file.get("tie_word_embeddings") != false;
    check_config(config, path.string());
    return config;
}

void check_config(Config const& config, std::string const& source) {
    if (config.d_model > widest || config.d_mlp > 4 * widest)
        throw Error({source,
                     fmt::format("a width of at most {} (n_embd) and {} (n_inner)", widest, 4 * widest),
                     fmt::format("{} and {}", config.d_model, config.d_mlp)});
    if (config.n_layer > deepest)
        throw Error({source + ": n_layer", fmt::format("at most {} layers", deepest),
                     std::to_string(config.n_layer)});
    if (config.n_head == 0 || config.d_model % config.n_head != 0)
        throw Error({source, fmt::format("heads that divide the width {} (n_embd) evenly", config.d_model),
                     fmt::format("n_head {}", config.n_head)});
    if (!std::isfinite(config.layer_norm_epsilon) || config.layer_norm_epsilon <= 0)
        throw Error({source + ": layer_norm_epsilon", "a small number above 0",
                     fmt::format("{}", config.layer_norm_epsilon)});
}

namespace {

static_assert(std::endian::native == std::endian::little, "the values are hashed as they lie in memory");

template <class Tensor>
std::span<std::byte const> bytes_in(Tensor const& values) {
    return std::as_bytes(std::span(values.data(), values.size()));
}

}  // namespace

std::string weights_sha256(Case const& c) {
    Sha256 hash;
    hash.add(bytes_in(c.ln_1.gain));
    hash.add(bytes_in(c.ln_1.bias));
    hash.add(bytes_in(c.w_q));
    hash.add(bytes_in(c.b_q));
    hash.add(bytes_in(c.w_k));
    hash.add(bytes_in(c.b_k));
    hash.add(bytes_in(c.w_v));
    hash.add(bytes_in(c.b_v));
    hash.add(bytes_in(c.w_o));
    hash.add(bytes_in(c.b_o));
    return hash.hex();
}

}  // namespace onehead
