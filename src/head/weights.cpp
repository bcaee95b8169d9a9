#include "head/weights.hpp"

#include <stdexcept>
#include <xtensor/xview.hpp>

namespace onehead {

Matrix cut_output(AttentionWeights const& block, std::size_t head) {
    std::size_t const d_head = row_count(block.c_proj) / block.n_head;
    return xt::view(block.c_proj, xt::range(head * d_head, (head + 1) * d_head), xt::all());
}

HeadWeights cut_head_at(AttentionWeights const& block, std::size_t head, FirstColumns const& first) {
    std::size_t const d_head = column_count(block.c_proj) / block.n_head;
    auto const from = [&](std::size_t column) { return xt::range(column, column + d_head); };
    return {
        .w_q = xt::view(block.c_attn, xt::all(), from(first.q)),
        .w_k = xt::view(block.c_attn, xt::all(), from(first.k)),
        .w_v = xt::view(block.c_attn, xt::all(), from(first.v)),
        .b_q = xt::view(block.c_attn_bias, from(first.q)),
        .b_k = xt::view(block.c_attn_bias, from(first.k)),
        .b_v = xt::view(block.c_attn_bias, from(first.v)),
        .w_o = cut_output(block, head),
    };
}

HeadWeights cut_head(AttentionWeights const& block, std::size_t head) {
    if (head >= block.n_head) throw std::invalid_argument("cut_head: no such head");
    std::size_t const d_model = column_count(block.c_proj);
    std::size_t const first = head * (d_model / block.n_head);
    return cut_head_at(block, head, {.q = first, .k = d_model + first, .v = 2 * d_model + first});
}

}  // namespace onehead
