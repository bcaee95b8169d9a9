// Where weights come from: a checkpoint folder as Hugging Face writes it, or an excerpt, one file with a part
// of one. Both answer the same questions, so whoever traces a head need not know which it has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/model/tokenizer.hpp"

namespace onehead {

// What config.json (or an excerpt's metadata) says about the architecture.
struct Config {
    std::size_t d_model = 0;
    std::size_t n_head = 0;
    std::size_t n_layer = 0;
    std::size_t n_ctx = 0;  // the longest sequence
    std::size_t vocab_size = 0;
    double layer_norm_epsilon = 1e-5;
    std::size_t d_mlp = 0;                // 0 in an excerpt, which has no MLP
    std::string activation = "gelu_new";  // of the MLP
    bool tied = true;                     // the rows of wte are the unembedding too

    std::size_t d_head() const { return d_model / n_head; }
};

// How far rows that an excerpt holds can be trusted. LayerNorm removes a constant added to a row (shifted)
// and a factor (rescaled), so all that it feeds is right.
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

    virtual std::string name() const = 0;                     // for people: "gpt2-mini"
    virtual std::string file_name() const { return name(); }  // where it is, without its folder
    virtual Config const& config() const = 0;

    // The vocabulary, read when it is first asked for. Throws an Error where there is none.
    virtual Tokenizer const& tokenizer() const = 0;

    // The ids of a text. One that no tokens could make short enough is refused unseen.
    virtual std::vector<int> encode(std::string_view text) const;

    // What ids stand for. Where the vocabulary does not say, or cannot be read, a token has no bytes: a run
    // that is given ids needs none.
    virtual Tokens tokens(std::vector<int> const& ids) const;

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

    // What follows the last block: its LayerNorm, and the rows that turn what comes out into logits, one for
    // each token [last - first, d_model]. They are many (50257), hence in pieces: token ids first to last
    // - 1.
    virtual LayerNorm final_norm() const = 0;
    virtual Matrix unembedding(std::size_t first, std::size_t last) const = 0;
};

// Opens a folder as a checkpoint, a file as an excerpt, and else the folder of that name in the data folder.
std::unique_ptr<Model> open_model(std::filesystem::path const& path);

// Opens the model that is meant when none is named: $ONEHEAD_MODEL, else data/gpt2-mini, always: the numbers
// of the lessons do not change because somebody has downloaded GPT-2. An Error names the variable.
std::unique_ptr<Model> open_default_model();

// The folder with the models that come with the program.
std::filesystem::path data_folder();

// A file, what shapes to expect in it, and who says so: "n_embd 768 in config.json".
struct WeightFile {
    Safetensors file;
    Config config;
    std::string shapes_from;

    // The name of a tensor in this file.
    std::string full_name(std::string const& name) const;

    // Throws an Error unless the tensor is there in this shape.
    void expect(std::string const& name, std::vector<std::uint64_t> const& shape) const;
};

// The name that a weight has among the tensors of a file: some files have "transformer." before all names,
// and safetensors keeps one of two tied weights, perhaps lm_head.weight in place of wte.weight.
std::string name_in(SafetensorsHeader::Tensors const& tensors, std::string const& name);

// One block's weights, by the names and in the shapes of Hugging Face's GPT-2. Linear layers are [in, out]
// there, and `attn.bias` and `attn.masked_bias` are the causal mask, not weights: they are not read. Both
// throw an Error that names file and tensor if one is missing (a bias too), misshapen or damaged.
AttentionWeights read_attention(WeightFile const& source, std::size_t layer);
MlpWeights read_mlp(WeightFile const& source, std::size_t layer);

// A checkpoint: a folder with config.json, model.safetensors and a vocabulary. Opening it reads the config
// and the header of the weights; of these only what is asked for is read later.
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
    LayerNorm final_norm() const override;
    Matrix unembedding(std::size_t first, std::size_t last) const override;

private:
    void check_weights() const;

    std::string name_;
    std::filesystem::path folder_;
    WeightFile weights_;
    LazyTokenizer tokenizer_;
};

// Reads a config.json of Hugging Face's GPT-2. n_embd, n_head and n_layer must be there, the rest has GPT-2's
// values where it is not. Throws an Error for a value that cannot be, and for an option that would need other
// arithmetic than GPT-2's: wrong numbers would be the result of overlooking it.
Config read_config(std::filesystem::path const& path);

// Throws an Error, `source` first, unless the heads divide the width evenly and all numbers are in sane
// limits.
void check_config(Config const& config, std::string const& source);

// A fingerprint of the weights that one head works with, by which two traces can tell whether they are of the
// same head. It is taken from the values as float32, so an F16 file, its F32 twin and an excerpt give the
// same. sha256 in hex of, one after the other, row-major, little-endian float32:
// ln_1 gain and bias, w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o.
std::string weights_sha256(Case const& c);

}  // namespace onehead
