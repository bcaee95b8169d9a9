#include "head/changes.hpp"

#include <cmath>

#include "head/head.hpp"

namespace onehead {
namespace {

Matrix write_over_later(Matrix const& scaled, float value) {
    Matrix masked = scaled;
    for (std::size_t i = 0; i < row_count(masked); ++i)
        for (float& later : row(masked, i).subspan(i + 1)) later = value;
    return masked;
}

}  // namespace

Matrix leave_raw(Matrix const& residual, LayerNorm const& /*ln*/) {
    return residual;
}

Matrix normalize_unbiased(Matrix const& residual, LayerNorm const& ln) {
    // sqrt(variance * n / (n - 1) + epsilon), with the factor taken out of the root and into the gain.
    auto const n = static_cast<double>(column_count(residual));
    double const factor = (n - 1) / n;
    LayerNorm unbiased = ln;
    unbiased.epsilon *= factor;
    for (float& gain : unbiased.gain) gain = static_cast<float>(gain * std::sqrt(factor));
    return normalize(residual, unbiased);
}

Matrix mask_nothing(Matrix const& scaled, Visible const& /*visible*/) {
    return scaled;
}

Matrix mask_with_zero(Matrix const& scaled, Visible const& /*visible*/) {
    return write_over_later(scaled, 0);
}

Matrix mask_with_10000(Matrix const& scaled, Visible const& /*visible*/) {
    return write_over_later(scaled, -10000);
}

Matrix softmax_then_mask(Matrix const& scores, Visible const& visible) {
    Matrix pattern = softmax(scores, everything(row_count(scores)));
    for (std::size_t i = 0; i < row_count(pattern); ++i)
        for (float& later : row(pattern, i).subspan(visible[i])) later = 0;
    return pattern;
}

void see_everything(Case& c) {
    c.visible = everything(c.visible.size());
}

void drop_biases(Case& c) {
    c.w.b_q.fill(0);
    c.w.b_k.fill(0);
    c.w.b_v.fill(0);
}

void cut_as_head_major(Case& c) {
    std::size_t const d_head = column_count(c.w.w_q);
    std::size_t const first = 3 * c.head * d_head;
    c.w = cut_head_at(c.block, c.head, {.q = first, .k = first + d_head, .v = first + 2 * d_head});
}

void transpose_output(Case& c) {
    AttentionWeights turned = c.block;
    turned.c_proj = transpose(c.block.c_proj);
    c.w.w_o = cut_output(turned, c.head);
}

void silence_other_heads(Case& c) {
    for (Matrix& output : c.other_outputs) output.fill(0);
}

}  // namespace onehead
