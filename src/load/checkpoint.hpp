// A checkpoint: a folder with config.json, model.safetensors, vocab.json and merges.txt, as Hugging Face
// writes it. Opening it reads the config and the header of the weights; of these only what is asked for is
// read later.
#pragma once

#include "load/block.hpp"
#include "load/lazy_tokenizer.hpp"
#include "load/model.hpp"

namespace onehead {

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

}  // namespace onehead
