// The arithmetic of one attention head, a function a step. Everything here is float32 in, float32 out;
// every sum runs in double, in index order, and is rounded once.
// Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1; Radford et al., GPT-2 (2019).
#pragma once

#include <vector>

#include "head/case.hpp"
#include "trace/trace.hpp"

namespace onehead {

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
