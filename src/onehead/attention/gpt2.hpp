// The model around a head: the weights of a layer as they lie in GPT-2's files, one head cut out of them,
// what the other heads add, and what all layers below a deeper head do to its rows. It calls the head's own
// functions, so a head is computed in one way only; heads and rows are shared among threads here.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "onehead/attention/head.hpp"

namespace onehead {

// A layer's attention. Matrices are [in, out]: a row times a matrix.
struct AttentionWeights {
    std::size_t n_head = 0;
    LayerNorm ln_1{};
    Matrix c_attn{};  // [d_model, 3 * d_model]   the queries of all heads, then all keys, then all values
    Vector c_attn_bias{};  // [3 * d_model]
    Matrix c_proj{};       // [n_head * d_head, d_model]
    Vector c_proj_bias{};  // [d_model]
};

// The MLP of a layer, which follows its attention.
struct MlpWeights {
    LayerNorm ln_2{};
    Matrix c_fc{};         // [d_model, d_mlp]
    Vector c_fc_bias{};    // [d_mlp]
    Matrix c_proj{};       // [d_mlp, d_model]
    Vector c_proj_bias{};  // [d_model]
};

// Both throw std::invalid_argument, which names the tensor, what was expected and what was found, unless all
// shapes fit together and n_head divides d_model.
void check(AttentionWeights const& block);
void check(MlpWeights const& mlp);

// A head of a layer, as GPT-2 computes it, with the other heads' outputs worked out. residual is
// [pos, d_model].
Case make_case(Matrix residual, AttentionWeights block, std::size_t head);

// Gives the case the queries, keys and values that begin at these columns of its block's c_attn, for whoever
// packs them in another way than GPT-2. Throws std::invalid_argument if the case has no block.
struct FirstColumns {
    std::size_t q = 0, k = 0, v = 0;
};
void cut_columns(Case& c, FirstColumns const& first);

// A head's w_o out of c_proj: rows d_head * head and so on.
Matrix cut_output(Matrix const& c_proj, std::size_t d_head, std::size_t head);

// What one head reads out of the normalized rows.
struct Views {
    Matrix q, k, v;  // [pos, d_head]
};

// For every head of a layer, from the rows that arrive at it [pos, d_model].
std::vector<Views> read_all_heads(Matrix const& residual, AttentionWeights const& block);

// Raw scores [query_pos, key_pos] to the attention pattern [query_pos, key_pos]: scaled, masked, softmax.
Matrix pattern_of(Matrix const& scores, std::size_t d_head);

// The outputs of those heads of a layer for which wanted(head) holds, in head order; [pos, d_model] each.
std::vector<Matrix> head_outputs(Matrix const& residual, AttentionWeights const& block,
                                 std::function<bool(std::size_t)> const& wanted);

// The rows after a layer's attention, and after its MLP: [pos, d_model] to [pos, d_model].
Matrix after_attention(Matrix const& residual, AttentionWeights const& block);
Matrix after_mlp(Matrix const& residual, MlpWeights const& mlp);

// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3): GPT-2's GELU (Hendrycks and Gimpel, 2016), written
// so that nothing cancels for negative x.
double gelu(double x);

// Where a model's weights come from; each is asked for when it is needed.
struct Blocks {
    std::function<AttentionWeights(std::size_t layer)> attention{};
    std::function<MlpWeights(std::size_t layer)> mlp{};

    // What comes after the layers; not asked for by who only looks at a head.
    std::size_t n_layer = 0;
    std::size_t vocab_size = 0;
    std::function<LayerNorm()> final_norm{};
    // A row for each token id from `first` to last - 1: [last - first, d_model].
    std::function<Matrix(std::size_t first, std::size_t last)> unembedding{};
};

// The rows that arrive at a layer, from those that arrive at layer 0.
Matrix residual_before(std::size_t layer, Matrix residual, Blocks const& blocks);

// What the model makes of rows that left its last layer [n, d_model]: a number for each token of the
// vocabulary, the larger the likelier it comes next, [n, vocab_size]. Softmax turns a row of them into
// probabilities. The vocabulary is read in pieces.
Matrix logits(Matrix const& residual, Blocks const& blocks);

}  // namespace onehead
