// The learned numbers that one attention block uses, as they lie in GPT-2's files, and one head's share of
// them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onehead/math/tensor.hpp"
#include "onehead/trace/trace.hpp"

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

// One head's whole situation: the rows that arrive, the head's weights, how far each row may look, what the
// scores are divided by, and the step functions that one might want to swap. `trace_head` runs a Case; an
// experiment is a changed Case.

// visible[i] is how many rows row i may read: rows 0 .. visible[i] - 1.
using Visible = std::vector<std::size_t>;

Visible causal(std::size_t n_seq);      // 1, 2, 3, ...: no row reads a later one
Visible everything(std::size_t n_seq);  // n_seq each

struct Case {
    // What arrives. A deeper head has no embeddings, an inexact excerpt no residual rows: then those are
    // empty.
    Matrix token_embedding;     // [pos, d_model]
    Matrix position_embedding;  // [pos, d_model]
    Matrix residual;            // [pos, d_model]

    // The block, this head's share of it, and what its other heads add.
    AttentionWeights block;
    std::size_t head = 0;
    HeadWeights w;
    std::vector<Matrix> other_outputs;  // [pos, d_model] each, in head order without this head

    Visible visible;     // [query_pos]
    double divisor = 1;  // sqrt(d_head)

    // Rows that are right up to a shift or a factor give the right normalized rows, but must not be shown
    // themselves.
    bool residual_is_exact = true;

    Matrix (*normalize)(Matrix const& residual, LayerNorm const& ln_1);
    Matrix (*mask)(Matrix const& scaled, Visible const& visible);
    Matrix (*softmax)(Matrix const& masked, Visible const& visible);
};

// A head of a block, as GPT-2 computes it. residual is [pos, d_model].
Case make_case(Matrix residual, AttentionWeights block, std::size_t head);

// LayerNorm: each row is shifted to mean 0, divided by its standard deviation, then given a learned gain and
// bias.

struct Moments {
    double mean;
    double variance;  // biased: divided by the count, not by the count less one
};

Moments moments(std::span<float const> values);

// rows [n, d_model], gain and bias [d_model]: float((row - mean) / sqrt(variance + epsilon) * gain + bias),
// in double until the end. torch.nn.LayerNorm.
Matrix layer_norm(Matrix const& rows, Vector const& gain, Vector const& bias, double epsilon);

// The arithmetic of one attention head, a function a step. Everything here is float32 in, float32 out;
// every sum runs in double, in index order, and is rounded once.
// Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1; Radford et al., GPT-2 (2019).

// Runs one head and keeps every intermediate result, steps 01 to 16.
Trace trace_head(Case const& c);

// residual [pos, d_model] to the rows that the head reads [pos, d_model].
Matrix normalize(Matrix const& residual, LayerNorm const& ln);

// x [pos, d_model] times w [d_model, d_head], plus b [d_head]: [pos, d_head].
Matrix project(Matrix const& x, Matrix const& w, Vector const& b);

// Each row of q [query_pos, d_head] with each row of k [key_pos, d_head]: [query_pos, key_pos]. All pairs,
// masked ones too.
Matrix dot_rows(Matrix const& q, Matrix const& k);

Matrix divide(Matrix const& scores, double divisor);  // [query_pos, key_pos]

// -inf where a row may not look.
Matrix mask(Matrix const& scaled, Visible const& visible);  // [query_pos, key_pos]

// Each row to shares that sum to 1; exactly 0 where a row may not look.
Matrix softmax(Matrix const& masked, Visible const& visible);  // [query_pos, key_pos]

// Each row of the pattern [query_pos, key_pos] mixes the rows of v [key_pos, d_head] that it may see:
// [query_pos, d_head]. It stops at the last of them: 0 times an infinity further down would not be 0.
Matrix weigh_rows(Matrix const& pattern, Matrix const& v, Visible const& visible);

// The outputs of all heads of the block, this head's in its place among the others'.
std::vector<Matrix const*> in_head_order(Case const& c, Matrix const& output);

// The rows after the attention: residual plus the heads' outputs in head order, all [pos, d_model], plus bias
// [d_model]. One double sum, rounded once: what comes next in the model gets these bits.
Matrix add_heads(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias);

}  // namespace onehead
