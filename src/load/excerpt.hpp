// An excerpt: one .safetensors file with part of a checkpoint, enough for the heads of a block on some
// sequence. Names are the checkpoint's. What goes into the block is there as one of
//     wte.weight [vocab, d_model], or wte.rows [m, d_model] with wte.row_ids [m];
//         and wpe.weight [positions, d_model], which may hold the first positions only
//     hidden_states.L [pos, d_model], the input of block L for the text in the metadata
// Text is cut into tokens with the vocabulary that comes with the program.
#pragma once

#include <map>

#include "load/block.hpp"
#include "load/excerpt_metadata.hpp"
#include "load/lazy_tokenizer.hpp"
#include "load/model.hpp"

namespace onehead {

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

}  // namespace onehead
