// One head's whole situation: the rows that arrive, the head's weights, how far each row may look, what the
// scores are divided by, and the step functions that one might want to swap. `trace_head` runs a Case; an
// experiment is a changed Case.
#pragma once

#include <cstddef>
#include <vector>

#include "head/weights.hpp"
#include "math/tensor.hpp"

namespace onehead {

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

}  // namespace onehead
