#include "head/weights.hpp"

#include <stdexcept>
#include <xtensor/xview.hpp>

namespace onehead {

Matrix cut_output(AttentionWeights const& block, std::size_t head) {
    std::size_t const d_head = row_count(block.c_proj) / block.n_head;
    return xt::view(block.c_proj, xt::range(head * d_head, (head + 1) * d_head), xt::all());
}

HeadWeights cut_head(AttentionWeights const& block, std::size_t head) {
    if (head >= block.n_head) throw std::invalid_argument("cut_head: no such head");
    std::size_t const d_model = column_count(block.c_proj);
    std::size_t const d_head = d_model / block.n_head;
    auto const columns = [&](std::size_t third) {
        std::size_t const first = third * d_model + head * d_head;
        return xt::range(first, first + d_head);
    };
    return {
        .w_q = xt::view(block.c_attn, xt::all(), columns(0)),
        .w_k = xt::view(block.c_attn, xt::all(), columns(1)),
        .w_v = xt::view(block.c_attn, xt::all(), columns(2)),
        .b_q = xt::view(block.c_attn_bias, columns(0)),
        .b_k = xt::view(block.c_attn_bias, columns(1)),
        .b_v = xt::view(block.c_attn_bias, columns(2)),
        .w_o = cut_output(block, head),
    };
}

}  // namespace onehead
