// Where weights come from: a checkpoint folder as Hugging Face writes it, or an excerpt, one file with a part
// of one. Both answer the same questions, so that whoever traces a head need not know which it has.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "head/weights.hpp"
#include "load/config.hpp"
#include "load/tokenizer.hpp"

namespace onehead {

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

}  // namespace onehead
