// What an excerpt says about itself, in the string-to-string metadata of its header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onehead/io/safetensors.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/tokenizer.hpp"

namespace onehead {

struct ExcerptMetadata {
    std::string model;  // whose part this is: "openai-community/gpt2"
    std::string text;
    std::vector<int> token_ids;  // the text's
    Rows rows = Rows::exact;     // the key is `residual`
    std::size_t n_head = 0;
    double layer_norm_epsilon = 0;
    std::optional<std::size_t> n_layer;  // of the whole model
};

// Throws an Error that names the file and the key.
ExcerptMetadata read_excerpt_metadata(Safetensors const& file);

// An excerpt: one .safetensors file with part of a checkpoint, enough for the heads of a block on some
// sequence. Names are the checkpoint's. What goes into the block is there as one of
//     wte.weight [vocab, d_model], or wte.rows [m, d_model] with wte.row_ids [m];
//         and wpe.weight [positions, d_model], which may hold the first positions only
//     hidden_states.L [pos, d_model], the input of block L for the text in the metadata
// Text is cut into tokens with the vocabulary that comes with the program.

class Excerpt final : public Model {
public:
    // Throws an Error if the file is damaged or not an excerpt.
    explicit Excerpt(std::filesystem::path const& path);

    std::string name() const override;  // "openai-community/gpt2 (block0.safetensors)"
    Config const& config() const override { return weights_.config; }
    Tokenizer const& tokenizer() const override { return tokenizer_.get(); }

    std::string own_text() const override { return metadata_.text; }
    std::vector<int> own_tokens() const override { return metadata_.token_ids; }
    Rows rows() const override { return metadata_.rows; }
    std::vector<std::size_t> layers() const override { return layers_; }
    void check_tokens(std::vector<int> const& tokens) const override;

    bool has_hidden_states(std::size_t layer) const override;
    Matrix hidden_states(std::size_t layer) const override;
    Embedding embed(std::vector<int> const& tokens) const override;
    AttentionWeights attention(std::size_t layer) const override;
    MlpWeights mlp(std::size_t layer) const override;  // always throws: there is none

private:
    bool has(std::string const& tensor) const;
    Config make_config() const;
    void check_shapes() const;
    bool any_hidden_states() const;
    std::size_t row_of(int id) const;  // in the matrix of embeddings

    WeightFile weights_;
    ExcerptMetadata metadata_;
    std::vector<std::size_t> layers_;
    std::map<std::int64_t, std::size_t>
        rows_;  // token id to row of wte.rows; empty where all of wte.weight is there
    LazyTokenizer tokenizer_;
};

// Which parts of a model an excerpt holds, as its tensors' names and token ids say.

// The layers whose attention is there, rising. Throws an Error if there is none.
std::vector<std::size_t> find_layers(Safetensors const& file);

// For each token id in wte.row_ids, the row of wte.rows with its embedding. Empty if there are none; throws
// an Error for an id that is there twice.
std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights);

// The counterpart of `excerpt`: what one block needs on one sequence, as the bytes of a .safetensors file. A
// trace from it has the same numbers as one from the whole model, to the bit.

// Layer 0 comes with the embeddings of the tokens (so that any text made of them can be traced), a deeper one
// with the rows that arrive at it. Throws a UsageError if the model lacks the layer, or holds rows that are
// not exact.
std::string make_excerpt(Model const& model, std::size_t layer, std::vector<int> const& ids);

}  // namespace onehead
