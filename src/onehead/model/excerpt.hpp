// An excerpt: one .safetensors file with part of a checkpoint, enough for the heads of one layer on some
// sequence. Names are the checkpoint's. What goes into the layer is there as one of
//     wte.weight [vocab, d_model], or wte.rows [m, d_model] with wte.row_ids [m];
//         and wpe.weight [positions, d_model], which may hold the first positions only
//     hidden_states.L [pos, d_model], the input of layer L for the text in the metadata
// The metadata says whose part it is, for which tokens, and what these stand for, so the file needs no other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/safetensors.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/tokenizer.hpp"

namespace onehead {

// What an excerpt says about itself, in the texts of its header.
struct ExcerptMetadata {
    std::string model;  // whose part this is: "openai-community/gpt2"
    std::string text;
    Tokens tokens;            // the text's, without bytes where the file does not give them
    bool has_bytes = false;   // it gives them (`token_bytes`): each token's, in hexadecimal digits
    Rows rows = Rows::exact;  // the key is `residual`
    std::size_t n_head = 0;
    double layer_norm_epsilon = 0;
    std::optional<std::size_t> n_layer;  // of the whole model
};

class Excerpt final : public Model {
public:
    // Throws an Error if the file is damaged or not an excerpt.
    explicit Excerpt(std::filesystem::path const& path);

    std::string name() const override;  // "openai-community/gpt2 (block0.safetensors)"
    std::string file_name() const override;
    Config const& config() const override { return weights_.config; }

    // The vocabulary that comes with the program, where it is the excerpt's too; throws an Error where not.
    Tokenizer const& tokenizer() const override;
    std::vector<int> encode(std::string_view text) const override;
    Tokens tokens(std::vector<int> const& ids) const override;

    std::string own_text() const override { return metadata_.text; }
    std::vector<int> own_tokens() const override;
    Rows rows() const override { return metadata_.rows; }
    std::vector<std::size_t> layers() const override { return layers_; }
    void check_tokens(std::vector<int> const& tokens) const override;

    bool has_hidden_states(std::size_t layer) const override;
    Matrix hidden_states(std::size_t layer) const override;
    Embedding embed(std::vector<int> const& tokens) const override;
    AttentionWeights attention(std::size_t layer) const override;

    // What an excerpt never has: these throw.
    MlpWeights mlp(std::size_t layer) const override;
    LayerNorm final_norm() const override;
    Matrix unembedding(std::size_t first, std::size_t last) const override;

private:
    bool has(std::string const& tensor) const;
    Config make_config() const;
    void check_shapes() const;
    bool any_hidden_states() const;
    std::size_t row_of(int id) const;               // in the matrix of embeddings
    bool is_of(Tokenizer const& vocabulary) const;  // its own tokens mean the same there

    WeightFile weights_;
    ExcerptMetadata metadata_;
    std::vector<std::size_t> layers_;
    std::map<std::int64_t, std::size_t>
        rows_;  // token id to row of wte.rows; empty where all of wte.weight is there
    mutable std::optional<LazyTokenizer> tokenizer_;
};

// The counterpart: what one layer needs on one sequence, as the bytes of a .safetensors file. A trace from it
// has the same numbers as one from the whole model, to the bit. Layer 0 comes with the embeddings of the
// tokens (so any text made of them can be traced), a deeper one with the rows that arrive at it. Throws a
// UsageError if the model lacks the layer, or holds rows that are not exact, and an Error for rows that are
// not finite.
std::string make_excerpt(Model const& model, std::size_t layer, std::vector<int> const& ids);

// Which bytes of a checkpoint's model.safetensors `make_excerpt` reads after the header, in rising order and
// joined where they touch: what somebody downloads who wants a head of GPT-2 and not its 548 MB. A file of
// that length with these bytes and the header in their places gives the same excerpt.
struct ByteRange {
    std::uint64_t begin = 0, end = 0;  // counted from the beginning of the file
};
std::vector<ByteRange> excerpt_ranges(SafetensorsHeader const& header, std::size_t layer,
                                      std::vector<int> const& ids);

}  // namespace onehead
