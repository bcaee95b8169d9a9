// What experiments are made of: step functions that a head could have instead of its own, and changes of its
// data.
#pragma once

#include "head/case.hpp"

namespace onehead {

// Instead of `normalize`; [pos, d_model].
Matrix leave_raw(Matrix const& residual, LayerNorm const& ln);
Matrix normalize_unbiased(Matrix const& residual, LayerNorm const& ln);  // squares divided by d_model - 1

// Instead of `mask`; [query_pos, key_pos]. The finite ones write over everything later than the query.
Matrix mask_nothing(Matrix const& scaled, Visible const& visible);
Matrix mask_with_zero(Matrix const& scaled, Visible const& visible);
Matrix mask_with_10000(Matrix const& scaled, Visible const& visible);  // -10000

// Instead of `softmax`; [query_pos, key_pos].
Matrix softmax_then_mask(Matrix const& scores, Visible const& visible);

void see_everything(Case& c);
void drop_biases(Case& c);
void cut_as_head_major(Case& c);  // c_attn's columns taken as [head, 3, d_head] instead of [3, head, d_head]
void transpose_output(Case& c);
void silence_other_heads(Case& c);

}  // namespace onehead
