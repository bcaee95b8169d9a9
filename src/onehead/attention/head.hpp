// One attention head: its whole situation as a Case, the arithmetic that runs it, and what came out, step by
// step. Everything is float32 in and float32 out; every sum runs in double, in index order, and is rounded
// once. Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1; Radford et al., GPT-2 (2019).
//
//     Case c{.residual = ..., .ln_1 = ..., .w_q = ..., ...};
//     c.divisor = 1;  // what if?
//     Trace const trace = trace_head(c, tokens);
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "onehead/math/tensor.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// The learned gain and bias of a LayerNorm, and what it adds to the variance.
struct LayerNorm {
    Vector gain{};  // [d_model]
    Vector bias{};  // [d_model]
    double epsilon = 1e-5;
};

// visible[i] is how many rows row i may read: rows 0 .. visible[i] - 1. Only the mask asks.
using Visible = std::vector<std::size_t>;

Visible causal(std::size_t n_seq);      // 1, 2, 3, ...: no row reads a later one
Visible everything(std::size_t n_seq);  // n_seq each

// The steps, in the order in which a head takes them. Each throws std::invalid_argument, before it reads
// anything, for shapes that do not fit.

// LayerNorm: each row [d_model] shifted to mean 0, divided by its standard deviation, then given the learned
// gain and bias: float((row - mean) / sqrt(variance + epsilon) * gain + bias), in double until the end.
Matrix normalize(Matrix const& residual, LayerNorm const& ln);  // [pos, d_model]

// x [pos, d_model] times w [d_model, d_head], plus b [d_head]: [pos, d_head].
Matrix project(Matrix const& x, Matrix const& w, Vector const& b);

// Each row of q [query_pos, d_head] with each row of k [key_pos, d_head], masked pairs too:
// [query_pos, key_pos].
Matrix dot_rows(Matrix const& q, Matrix const& k);

Matrix divide(Matrix const& scores, double divisor);  // [query_pos, key_pos]

// `value` where a row may not look: [query_pos, key_pos].
inline constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
Matrix mask(Matrix const& scaled, Visible const& visible, float value = minus_infinity);

// Each row to weights that sum to 1: [query_pos, key_pos]. It is not told what is masked: e to the power of
// -inf is 0. A row of nothing but -inf reads nothing: all its weights are 0.
Matrix softmax(Matrix const& masked);

// Each row of the pattern [query_pos, key_pos] mixes the rows of v [key_pos, d_head]: [query_pos, d_head].
// What comes after the row's last weight that is not 0 is not read: 0 times infinity would not be 0.
Matrix weigh_rows(Matrix const& pattern, Matrix const& v);

// The rows after the attention: residual plus the outputs of all heads in head order, [pos, d_model] each,
// plus bias [d_model]. One double sum, rounded once: what comes next in the model gets these bits.
Matrix add_heads(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias);

// The same a row at a time, for whoever shares rows among threads; shapes are not checked again.
void normalize_row(Matrix const& residual, LayerNorm const& ln, std::size_t i, Matrix& normalized);
void add_heads_to_row(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias,
                      std::size_t i, Matrix& after);

// What LayerNorm takes off a row, and the square of what it divides by.
struct Moments {
    double mean;
    double variance;  // biased: divided by the count, not by the count less one
};
Moments moments(std::span<float const> values);

struct AttentionWeights;  // in gpt2.hpp

// A head on a text. What is not given has the value of GPT-2's own head, and an experiment is a changed Case:
// other data, or another function for a step.
struct Case {
    // What arrives. A deeper head has no embeddings; they are empty then.
    Matrix token_embedding{};     // [pos, d_model]
    Matrix position_embedding{};  // [pos, d_model]
    Matrix residual{};            // [pos, d_model]

    // Rows that are right up to a shift or a factor give the right normalized rows, but must not be shown
    // themselves.
    bool residual_is_exact = true;

    // What the head has learned, and the bias that its layer adds once for all heads.
    LayerNorm ln_1{};
    Matrix w_q{}, w_k{}, w_v{};  // [d_model, d_head]
    Vector b_q{}, b_k{}, b_v{};  // [d_head]
    Matrix w_o{};                // [d_head, d_model]
    Vector b_o{};                // [d_model]

    // What the other heads of the layer add, in head order without this one.
    std::vector<Matrix> other_outputs{};  // [pos, d_model] each
    std::size_t head = 0;                 // this one's place among them

    // The layer's weights as in the model's file, for whoever cuts the head out of them in another way. A
    // head on its own has none.
    std::shared_ptr<AttentionWeights const> block{};

    double divisor = std::sqrt(static_cast<double>(column_count(w_q)));  // sqrt(d_head)
    Visible visible = causal(row_count(residual));                       // [query_pos]
    float masked_value = minus_infinity;

    Matrix (*normalize)(Matrix const& residual, LayerNorm const& ln_1) = onehead::normalize;
    Matrix (*softmax)(Matrix const& masked) = onehead::softmax;
};

// Throws std::invalid_argument, which names the member, what was expected and what was found, unless all that
// is in the case fits together.
void check(Case const& c);

// What a head computes, [rows, columns] as in trace/terms.
struct Steps {
    Matrix normalized, q, k, v, scores, scaled_scores, masked_scores, softmax, blend, output_projection;
};

Steps attend(Case const& c);

// Checks the case, runs it and keeps every intermediate result, steps 01 to 16. One token for each row.
Trace trace_head(Case const& c, Tokens tokens);

// The outputs of all heads of the layer, this head's in its place among the others'.
std::vector<Matrix const*> in_head_order(Case const& c, Matrix const& output);

}  // namespace onehead
