// The blocks around a head: what the other heads add, and what all the blocks below a deeper head do to its
// rows. It calls the head's own functions, so that a head is computed in one way only.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "onehead/attention/head.hpp"

namespace onehead {

// What one head reads out of the normalized rows.
struct Views {
    Matrix q, k, v;  // [pos, d_head]
};

// For every head of a block, from the rows that arrive at it [pos, d_model].
std::vector<Views> read_all_heads(Matrix const& residual, AttentionWeights const& block);

// Raw scores [query_pos, key_pos] to the attention pattern [query_pos, key_pos]: scaled, masked, softmax.
Matrix pattern_of(Matrix const& scores, std::size_t d_head);

// The outputs of those heads of a block for which wanted(head) holds, in head order; [pos, d_model] each.
std::vector<Matrix> head_outputs(Matrix const& residual, AttentionWeights const& block,
                                 std::function<bool(std::size_t)> const& wanted);

// The rows after a block's attention, and after its MLP: [pos, d_model] to [pos, d_model].
Matrix after_attention(Matrix const& residual, AttentionWeights const& block);
Matrix after_mlp(Matrix const& residual, MlpWeights const& mlp);

// x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3): GPT-2's GELU (Hendrycks and Gimpel, 2016), written
// so that nothing cancels for negative x.
double gelu(double x);

// Where a model's blocks come from; each is asked for once, in order.
struct Blocks {
    std::function<AttentionWeights(std::size_t layer)> attention;
    std::function<MlpWeights(std::size_t layer)> mlp;
};

// The rows that arrive at a layer, from those that arrive at layer 0.
Matrix residual_before(std::size_t layer, Matrix residual, Blocks const& blocks);

}  // namespace onehead
