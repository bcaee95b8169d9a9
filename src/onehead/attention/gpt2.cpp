#include "onehead/attention/gpt2.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "onehead/math/exp.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

// `normalize` and `add_heads` on several threads.
Matrix normalize_all(Matrix const& rows, LayerNorm const& ln) {
    Matrix normalized = make_matrix(row_count(rows), column_count(rows));
    for_rows(row_count(rows), column_count(rows),
             [&](std::size_t i) { normalize_row(rows, ln, i, normalized); });
    return normalized;
}

Matrix add_all_heads(Matrix const& residual, std::vector<Matrix> const& outputs, Vector const& bias) {
    std::vector<Matrix const*> in_order;
    for (Matrix const& output : outputs) in_order.push_back(&output);
    Matrix after = make_matrix(row_count(residual), column_count(residual));
    for_rows(row_count(residual), outputs.size() * column_count(residual),
             [&](std::size_t i) { add_heads_to_row(residual, in_order, bias, i, after); });
    return after;
}

Matrix head_output(Views const& head, Matrix const& w_o) {
    Matrix const pattern =
        pattern_of(dot_rows(head.q, head.k), column_count(head.q));  // [query_pos, key_pos]
    return matmul(weigh_rows(pattern, head.v), w_o);                 // [query_pos, d_model]
}

double minus_two_u(double x) {
    return -2 * (std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x));
}

// Each value x becomes float(gelu(x)).
void gelu(std::span<float> values) {
    std::vector<double> powers;
    for (double const value : values) powers.push_back(minus_two_u(value));
    exponentials(powers);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(values[i] / (1 + powers[i]));
}

}  // namespace

Matrix residual_before(std::size_t layer, Matrix residual, Blocks const& blocks) {
    for (std::size_t below = 0; below < layer; ++below) {
        residual = after_attention(residual, blocks.attention(below));
        residual = after_mlp(residual, blocks.mlp(below));
    }
    return residual;
}

Matrix after_attention(Matrix const& residual, AttentionWeights const& block) {
    auto const outputs = head_outputs(residual, block, [](std::size_t) { return true; });
    return add_all_heads(residual, outputs, block.c_proj_bias);
}

std::vector<Matrix> head_outputs(Matrix const& residual, AttentionWeights const& block,
                                 std::function<bool(std::size_t)> const& wanted) {
    auto const heads = read_all_heads(residual, block);
    std::vector<std::size_t> numbers;
    for (std::size_t head = 0; head < block.n_head; ++head)
        if (wanted(head)) numbers.push_back(head);
    std::vector<Matrix> outputs(numbers.size());
    std::size_t const values_per_head = row_count(residual) * (row_count(residual) + column_count(residual));
    for_rows(numbers.size(), values_per_head, [&](std::size_t i) {
        Views const& head = heads[numbers[i]];
        outputs[i] = head_output(head, cut_output(block.c_proj, column_count(head.q), numbers[i]));
    });
    return outputs;
}

std::vector<Views> read_all_heads(Matrix const& residual, AttentionWeights const& block) {
    check(block);
    expect_shape("residual", residual, row_count(residual), row_count(block.c_attn));
    Matrix const x = normalize_all(residual, block.ln_1);            // [pos, d_model]
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
    Matrix const scaled = divide(scores, std::sqrt(static_cast<double>(d_head)));
    return softmax(mask(scaled, causal(row_count(scores))));
}

Matrix after_mlp(Matrix const& residual, MlpWeights const& mlp) {
    check(mlp);
    expect_shape("residual", residual, row_count(residual), row_count(mlp.c_fc));
    Matrix const x = normalize_all(residual, mlp.ln_2);  // [pos, d_model]
    Matrix hidden = matmul(x, mlp.c_fc, mlp.c_fc_bias);  // [pos, d_mlp]
    for_rows(row_count(hidden), column_count(hidden), [&](std::size_t i) { gelu(row(hidden, i)); });
    return residual + matmul(hidden, mlp.c_proj, mlp.c_proj_bias);
}

double gelu(double x) {
    return x / (1 + exponential(minus_two_u(x)));
}

Matrix logits(Matrix const& residual, Blocks const& blocks) {
    Matrix const x = normalize(residual, blocks.final_norm());  // [n, d_model]
    Matrix const x_columns = xt::transpose(x);                  // [d_model, n]
    Matrix all = make_matrix(row_count(x), blocks.vocab_size);
    constexpr std::size_t piece = 1024;  // tokens: some MB of them at a time
    for_tasks((blocks.vocab_size + piece - 1) / piece, [&](std::size_t i) {
        std::size_t const first = i * piece;
        std::size_t const last = std::min(first + piece, blocks.vocab_size);
        Matrix const some = matmul(blocks.unembedding(first, last), x_columns);  // [piece, n]
        xt::view(all, xt::all(), xt::range(first, last)) = xt::transpose(some);
    });
    return all;
}

// One head out of a layer.

Case make_case(Matrix residual, AttentionWeights block, std::size_t head) {
    check(block);
    if (head >= block.n_head)
        throw std::invalid_argument(
            fmt::format("head: expected one from 0 to {}, found {}", block.n_head - 1, head));
    std::size_t const d_model = row_count(block.c_attn);
    std::size_t const d_head = d_model / block.n_head;
    Case c{.residual = std::move(residual),
           .ln_1 = block.ln_1,
           .w_o = cut_output(block.c_proj, d_head, head),
           .b_o = block.c_proj_bias,
           .head = head,
           .block = std::make_shared<AttentionWeights const>(std::move(block)),
           .divisor = std::sqrt(static_cast<double>(d_head))};
    cut_columns(c, {.q = head * d_head, .k = d_model + head * d_head, .v = 2 * d_model + head * d_head});
    c.other_outputs = head_outputs(c.residual, *c.block, [&](std::size_t other) { return other != head; });
    return c;
}

void cut_columns(Case& c, FirstColumns const& first) {
    if (c.block == nullptr)
        throw std::invalid_argument(
            "block: expected the layer's weights that this head is a part of, found none");
    std::size_t const d_head = row_count(c.w_o);
    for (std::size_t const column : {first.q, first.k, first.v})
        if (column + d_head > column_count(c.block->c_attn))
            throw std::invalid_argument(fmt::format("c_attn: expected columns up to {}, found {}",
                                                    column + d_head, column_count(c.block->c_attn)));
    auto const columns = [&](std::size_t begin) -> Matrix {
        return xt::view(c.block->c_attn, xt::all(), xt::range(begin, begin + d_head));
    };
    auto const biases = [&](std::size_t begin) -> Vector {
        return xt::view(c.block->c_attn_bias, xt::range(begin, begin + d_head));
    };
    c.w_q = columns(first.q), c.b_q = biases(first.q);
    c.w_k = columns(first.k), c.b_k = biases(first.k);
    c.w_v = columns(first.v), c.b_v = biases(first.v);
}

Matrix cut_output(Matrix const& c_proj, std::size_t d_head, std::size_t head) {
    if ((head + 1) * d_head > row_count(c_proj))
        throw std::invalid_argument(fmt::format("c_proj: expected {} rows or more, found {}",
                                                (head + 1) * d_head, row_count(c_proj)));
    return xt::view(c_proj, xt::range(head * d_head, (head + 1) * d_head), xt::all());
}

void check(AttentionWeights const& block) {
    std::size_t const d_model = row_count(block.c_attn);
    if (block.n_head == 0 || d_model == 0 || d_model % block.n_head != 0)
        throw std::invalid_argument(fmt::format(
            "n_head: expected a divisor of d_model, which is {}, found {}", d_model, block.n_head));
    expect_shape("ln_1.gain", block.ln_1.gain, d_model);
    expect_shape("ln_1.bias", block.ln_1.bias, d_model);
    expect_shape("c_attn", block.c_attn, d_model, 3 * d_model);
    expect_shape("c_attn_bias", block.c_attn_bias, 3 * d_model);
    expect_shape("c_proj", block.c_proj, d_model, d_model);
    expect_shape("c_proj_bias", block.c_proj_bias, d_model);
}

void check(MlpWeights const& mlp) {
    std::size_t const d_model = row_count(mlp.c_fc);
    std::size_t const d_mlp = column_count(mlp.c_fc);
    expect_shape("ln_2.gain", mlp.ln_2.gain, d_model);
    expect_shape("ln_2.bias", mlp.ln_2.bias, d_model);
    expect_shape("c_fc_bias", mlp.c_fc_bias, d_mlp);
    expect_shape("mlp.c_proj", mlp.c_proj, d_mlp, d_model);
    expect_shape("mlp.c_proj_bias", mlp.c_proj_bias, d_model);
}

}  // namespace onehead
