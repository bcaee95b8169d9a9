#include "head/case.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "head/gpt2.hpp"
#include "head/head.hpp"

namespace onehead {

Visible causal(std::size_t n_seq) {
    Visible visible(n_seq);
    std::iota(visible.begin(), visible.end(), 1);
    return visible;
}

Visible everything(std::size_t n_seq) {
    Visible visible(n_seq, n_seq);
    return visible;
}

Case make_case(Matrix residual, AttentionWeights block, std::size_t head) {
    Case c;
    c.residual = std::move(residual);
    c.block = std::move(block);
    c.head = head;
    c.w = cut_head(c.block, head);
    c.other_outputs = head_outputs(c.residual, c.block, [&](std::size_t other) { return other != head; });
    c.visible = causal(row_count(c.residual));
    c.divisor = std::sqrt(static_cast<double>(column_count(c.w.w_q)));
    c.normalize = normalize;
    c.mask = mask;
    c.softmax = softmax;
    return c;
}

}  // namespace onehead
