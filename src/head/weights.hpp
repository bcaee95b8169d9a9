// The learned numbers that one attention block uses, as they lie in GPT-2's files, and one head's share of
// them.
#pragma once

#include <cstddef>

#include "math/tensor.hpp"

namespace onehead {

// The gain and the bias of a LayerNorm, and what it adds to the variance.
struct LayerNorm {
    Vector gain;  // [d_model]
    Vector bias;  // [d_model]
    double epsilon = 1e-5;
};

// A block's attention. Matrices are [in, out]: a row times a matrix.
struct AttentionWeights {
    std::size_t n_head = 0;
    LayerNorm ln_1;
    Matrix c_attn;       // [d_model, 3 * d_model]   the queries of all heads, then all keys, then all values
    Vector c_attn_bias;  // [3 * d_model]
    Matrix c_proj;       // [n_head * d_head, d_model]
    Vector c_proj_bias;  // [d_model]
};

// The MLP of a block, which follows its attention.
struct MlpWeights {
    LayerNorm ln_2;
    Matrix c_fc;         // [d_model, d_mlp]
    Vector c_fc_bias;    // [d_mlp]
    Matrix c_proj;       // [d_mlp, d_model]
    Vector c_proj_bias;  // [d_model]
};

// One head's columns of c_attn and rows of c_proj.
struct HeadWeights {
    Matrix w_q, w_k, w_v;  // [d_model, d_head]
    Vector b_q, b_k, b_v;  // [d_head]
    Matrix w_o;            // [d_head, d_model]
};

Matrix cut_output(AttentionWeights const& block, std::size_t head);  // w_o
HeadWeights cut_head(AttentionWeights const& block, std::size_t head);

// The same from other columns of c_attn, for whoever packs queries, keys and values in another way.
struct FirstColumns {
    std::size_t q = 0, k = 0, v = 0;
};
HeadWeights cut_head_at(AttentionWeights const& block, std::size_t head, FirstColumns const& first);

}  // namespace onehead
