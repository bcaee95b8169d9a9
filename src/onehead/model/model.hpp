// What config.json (or an excerpt's metadata) says about the architecture.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "onehead/attention/head.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/model/tokenizer.hpp"

namespace onehead {

struct Config {
    std::size_t d_model = 0;
    std::size_t n_head = 0;
    std::size_t n_layer = 0;
    std::size_t n_ctx = 0;  // the longest sequence
    std::size_t vocab_size = 0;
    double layer_norm_epsilon = 1e-5;
    std::size_t d_mlp = 0;  // 0 in an excerpt, which has no MLP

    std::size_t d_head() const { return d_model / n_head; }
};

// Reads a config.json of Hugging Face's GPT-2. n_embd, n_head and n_layer must be there, the rest has GPT-2's
// values where it is not. Throws an Error for a value that cannot be, and for an option that would need other
// arithmetic than GPT-2's: wrong numbers would be the result of overlooking it.
Config read_config(std::filesystem::path const& path);

// Throws an Error, `source` first, unless the heads divide the width evenly and all numbers are in sane
// limits.
void check_config(Config const& config, std::string const& source);

// Where weights come from: a checkpoint folder as Hugging Face writes it, or an excerpt, one file with a part
// of one. Both answer the same questions, so that whoever traces a head need not know which it has.

// How far rows that an excerpt holds can be trusted. LayerNorm removes a constant added to a row (shifted)
// and a factor (rescaled), so that all it feeds is right.
enum class Rows { exact, shifted, rescaled };

// The rows that go into the first block.
struct Embedding {
    Matrix token;     // [pos, d_model]   rows of wte
    Matrix position;  // [pos, d_model]   rows of wpe
};

// Every function may throw an Error for a file that is damaged, and a UsageError for a layer or a token that
// is not there.
class Model {
public:
    Model() = default;
    virtual ~Model() = default;
    Model(Model const&) = delete;
    Model(Model&&) = delete;
    Model& operator=(Model const&) = delete;
    Model& operator=(Model&&) = delete;

    virtual std::string name() const = 0;  // for people: "gpt2-mini"
    virtual Config const& config() const = 0;
    virtual Tokenizer const& tokenizer() const = 0;  // read when first asked for

    // The one sequence that the model is for; empty if it takes any text (a checkpoint).
    virtual std::string own_text() const { return {}; }
    virtual std::vector<int> own_tokens() const { return {}; }
    virtual Rows rows() const { return Rows::exact; }

    // The layers whose attention is there, rising: all of a checkpoint's.
    virtual std::vector<std::size_t> layers() const;
    void check_layer(std::size_t layer) const;  // throws a UsageError for any other

    // Throws a UsageError unless the model can take this sequence: too long, unknown ids, not an excerpt's
    // own.
    virtual void check_tokens(std::vector<int> const& tokens) const;

    // What goes into a block: `embed` gives that of layer 0. An excerpt may hold `hidden_states`, the input
    // of one deeper block for its own tokens, instead of embeddings.
    virtual bool has_hidden_states(std::size_t /*layer*/) const { return false; }
    virtual Matrix hidden_states(std::size_t layer) const = 0;  // [pos, d_model]
    virtual Embedding embed(std::vector<int> const& tokens) const = 0;

    virtual AttentionWeights attention(std::size_t layer) const = 0;
    virtual MlpWeights mlp(std::size_t layer) const = 0;
};

// Opens a folder as a checkpoint and a file as an excerpt.
std::unique_ptr<Model> open_model(std::filesystem::path const& path);

// The model that is used when none is named: $ONEHEAD_MODEL, else data/gpt2 if it was downloaded, else
// data/gpt2-mini.
std::filesystem::path default_model();

// The folder with the vocabulary and the models that come with the program.
std::filesystem::path data_folder();

// One block's weights out of a file, by the names and in the shapes of Hugging Face's GPT-2. Linear layers
// lie as [in, out] there, and `attn.bias` and `attn.masked_bias` are the causal mask, not weights: they are
// not read.

// A file, what shapes to expect in it, and who says so: "config.json".
struct WeightFile {
    Safetensors file;
    Config config;
    std::string shapes_from;

    // The name of a tensor in this file: some have "transformer." before all names.
    std::string full_name(std::string const& name) const;

    // Throws an Error unless the tensor is there in this shape.
    void expect(std::string const& name, std::vector<std::uint64_t> const& shape) const;
};

// Both throw an Error that names file and tensor if one is missing (a bias too), misshapen or damaged.
AttentionWeights read_attention(WeightFile const& source, std::size_t layer);
MlpWeights read_mlp(WeightFile const& source, std::size_t layer);

// A checkpoint: a folder with config.json, model.safetensors, vocab.json and merges.txt, as Hugging Face
// writes it. Opening it reads the config and the header of the weights; of these only what is asked for is
// read later.

class Checkpoint final : public Model {
public:
    // Throws an Error if a file is missing or damaged, or if config and weights disagree.
    explicit Checkpoint(std::filesystem::path const& folder);

    std::string name() const override { return name_; }  // the folder's
    Config const& config() const override { return weights_.config; }
    Tokenizer const& tokenizer() const override { return tokenizer_.get(); }

    Matrix hidden_states(std::size_t layer) const override;  // always throws: embeddings are here
    Embedding embed(std::vector<int> const& tokens) const override;
    AttentionWeights attention(std::size_t layer) const override;
    MlpWeights mlp(std::size_t layer) const override;

private:
    void check_weights() const;

    std::string name_;
    WeightFile weights_;
    LazyTokenizer tokenizer_;
};

// A fingerprint of the weights that one head works with, by which two traces can tell whether they are of the
// same head. It is taken from the values as float32, so that an F16 file, its F32 twin and an excerpt give
// the same.

// sha256 in hex of, one after the other, row-major, little-endian float32:
// ln_1 gain and bias, w_q, b_q, w_k, b_k, w_v, b_v, w_o, c_proj_bias.
std::string weights_sha256(LayerNorm const& ln_1, HeadWeights const& head, Vector const& c_proj_bias);

}  // namespace onehead
