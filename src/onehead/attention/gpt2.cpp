#include "onehead/attention/gpt2.hpp"

#include <algorithm>
#include <cmath>

#include "onehead/attention/head.hpp"
#include "onehead/math/exp.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

Matrix add(Matrix const& a, Matrix const& b) {
    Matrix sum = make_matrix(row_count(a), column_count(a));
    for_rows(row_count(a), column_count(a), [&](std::size_t i) {
        std::ranges::transform(row(a, i), row(b, i), row(sum, i).begin(), std::plus{});
    });
    return sum;
}

double minus_two_u(double x) {
    return -2 * (std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x));
}

// Each value x becomes float(gelu(x)).
void gelu(std::span<float> values) {
    std::vector<double> powers(values.size());
    std::ranges::transform(values, powers.begin(), minus_two_u);
    exponentials(powers);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(values[i] / (1 + powers[i]));
}

}  // namespace

std::vector<Views> read_all_heads(Matrix const& residual, AttentionWeights const& block) {
    Matrix const x = normalize(residual, block.ln_1);                // [pos, d_model]
    Matrix const qkv = project(x, block.c_attn, block.c_attn_bias);  // [pos, 3 * d_model]
    std::size_t const d_head = column_count(x) / block.n_head;
    auto const cut = [&](std::size_t third, std::size_t head) -> Matrix {  // [pos, d_head]
        std::size_t const first = third * column_count(x) + head * d_head;
        return xt::view(qkv, xt::all(), xt::range(first, first + d_head));
    };
    std::vector<Views> heads;
    for (std::size_t head = 0; head < block.n_head; ++head)
        heads.push_back({cut(0, head), cut(1, head), cut(2, head)});
    return heads;
}

Matrix pattern_of(Matrix const& scores, std::size_t d_head) {
    Visible const visible = causal(row_count(scores));
    return softmax(mask(divide(scores, std::sqrt(static_cast<double>(d_head))), visible), visible);
}

Matrix head_output(Views const& head, Matrix const& w_o) {
    Matrix const pattern =
        pattern_of(dot_rows(head.q, head.k), column_count(head.q));               // [query_pos, key_pos]
    return matmul(weigh_rows(pattern, head.v, causal(row_count(pattern))), w_o);  // [query_pos, d_model]
}

std::vector<Matrix> head_outputs(Matrix const& residual, AttentionWeights const& block,
                                 std::function<bool(std::size_t)> const& wanted) {
    auto const heads = read_all_heads(residual, block);
    std::vector<std::size_t> numbers;
    for (std::size_t head = 0; head < block.n_head; ++head)
        if (wanted(head)) numbers.push_back(head);
    std::vector<Matrix> outputs(numbers.size());
    std::size_t const values_a_head = row_count(residual) * (row_count(residual) + column_count(residual));
    for_rows(numbers.size(), values_a_head, [&](std::size_t i) {
        outputs[i] = head_output(heads[numbers[i]], cut_output(block, numbers[i]));
    });
    return outputs;
}

Matrix after_attention(Matrix const& residual, AttentionWeights const& block) {
    auto const outputs = head_outputs(residual, block, [](std::size_t) { return true; });
    std::vector<Matrix const*> in_order;
    in_order.reserve(outputs.size());
    for (Matrix const& output : outputs) in_order.push_back(&output);
    return add_heads(residual, in_order, block.c_proj_bias);
}

double gelu(double x) {
    return x / (1 + exponential(minus_two_u(x)));
}

Matrix after_mlp(Matrix const& residual, MlpWeights const& mlp) {
    Matrix const x = normalize(residual, mlp.ln_2);      // [pos, d_model]
    Matrix hidden = matmul(x, mlp.c_fc, mlp.c_fc_bias);  // [pos, d_mlp]
    for_rows(row_count(hidden), column_count(hidden), [&](std::size_t i) { gelu(row(hidden, i)); });
    return add(residual, matmul(hidden, mlp.c_proj, mlp.c_proj_bias));
}

Matrix residual_before(std::size_t layer, Matrix residual, Blocks const& blocks) {
    for (std::size_t below = 0; below < layer; ++below)
        residual = after_mlp(after_attention(residual, blocks.attention(below)), blocks.mlp(below));
    return residual;
}

}  // namespace onehead
