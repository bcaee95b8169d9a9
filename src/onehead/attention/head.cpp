// One attention head, as a straight line. A row arrives, is read three ways, asks every row it may see how
// well it fits, and takes home a blend of their values.
#include "onehead/attention/head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/math/exp.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// Their sum, element by element, rounded once.
Matrix sum(std::vector<Matrix> const& matrices, std::size_t rows, std::size_t columns) {
    Matrix total = make_matrix(rows, columns);
    for_rows(rows, matrices.size() * columns, [&](std::size_t i) {
        for (std::size_t d = 0; d < columns; ++d) {
            double value = 0;
            for (Matrix const& m : matrices) value += static_cast<double>(m(i, d));
            total(i, d) = static_cast<float>(value);
        }
    });
    return total;
}

Matrix as_row(Vector const& values) {
    Matrix one = make_matrix(1, values.size());
    std::copy(values.begin(), values.end(), one.begin());
    return one;
}

}  // namespace

Trace trace_head(Case const& c) {
    Trace t;
    if (c.token_embedding.size() != 0) t.add(terms::token_embedding, c.token_embedding);
    if (c.position_embedding.size() != 0) t.add(terms::position_embedding, c.position_embedding);
    if (c.residual_is_exact) t.add(terms::residual, c.residual);

    auto const& x = t.add(terms::normalized, c.normalize(c.residual, c.block.ln_1));  // [pos, d_model]
    auto const& q = t.add(terms::q, project(x, c.w.w_q, c.w.b_q));                    // [query_pos, d_head]
    auto const& k = t.add(terms::k, project(x, c.w.w_k, c.w.b_k));                    // [key_pos, d_head]
    auto const& v = t.add(terms::v, project(x, c.w.w_v, c.w.b_v));                    // [key_pos, d_head]
    auto const& scores = t.add(terms::scores, dot_rows(q, k));                        // [query_pos, key_pos]
    auto const& scaled = t.add(terms::scaled_scores, divide(scores, c.divisor));      // [query_pos, key_pos]
    auto const& masked = t.add(terms::masked_scores, c.mask(scaled, c.visible));      // [query_pos, key_pos]
    auto const& pattern = t.add(terms::softmax, c.softmax(masked, c.visible));        // [query_pos, key_pos]
    auto const& blend = t.add(terms::blend, weigh_rows(pattern, v, c.visible));       // [query_pos, d_head]
    auto const& output = t.add(terms::output_projection, matmul(blend, c.w.w_o));     // [query_pos, d_model]

    t.add(terms::other_heads, sum(c.other_outputs, row_count(x), column_count(x)));  // [query_pos, d_model]
    t.add(terms::projection_bias, as_row(c.block.c_proj_bias));                      // [1, d_model]
    if (c.residual_is_exact)
        t.add(terms::residual_after, add_heads(c.residual, in_head_order(c, output), c.block.c_proj_bias));
    return t;
}

std::vector<Matrix const*> in_head_order(Case const& c, Matrix const& output) {
    std::vector<Matrix const*> outputs;
    for (Matrix const& other : c.other_outputs) outputs.push_back(&other);
    outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(c.head), &output);
    return outputs;
}

Matrix normalize(Matrix const& residual, LayerNorm const& ln) {
    return layer_norm(residual, ln.gain, ln.bias, ln.epsilon);
}

Matrix project(Matrix const& x, Matrix const& w, Vector const& b) {
    return matmul(x, w, b);
}

Matrix dot_rows(Matrix const& q, Matrix const& k) {
    return matmul(q, transpose(k));
}

Matrix divide(Matrix const& scores, double divisor) {
    Matrix scaled = scores;
    for (float& score : scaled) score = static_cast<float>(score / divisor);
    return scaled;
}

Matrix mask(Matrix const& scaled, Visible const& visible) {
    Matrix masked = scaled;
    for (std::size_t i = 0; i < row_count(masked); ++i)
        for (float& later : row(masked, i).subspan(visible[i])) later = minus_infinity;
    return masked;
}

Matrix softmax(Matrix const& masked, Visible const& visible) {
    Matrix pattern = make_matrix(row_count(masked), column_count(masked));
    for_rows(row_count(masked), column_count(masked), [&](std::size_t i) {
        auto const scores = row(masked, i).first(visible[i]);
        double const largest = *std::max_element(scores.begin(), scores.end());
        std::vector<double> powers;
        for (double const score : scores) powers.push_back(score - largest);
        exponentials(powers);
        double total = 0;
        for (double const power : powers) total += power;
        std::ranges::fill(row(pattern, i), 0.0F);
        for (std::size_t j = 0; j < powers.size(); ++j) pattern(i, j) = static_cast<float>(powers[j] / total);
    });
    return pattern;
}

Matrix weigh_rows(Matrix const& pattern, Matrix const& v, Visible const& visible) {
    return matmul_to_depth(pattern, v, visible);
}

Matrix add_heads(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias) {
    Matrix after = make_matrix(row_count(residual), column_count(residual));
    for_rows(row_count(residual), outputs.size() * column_count(residual), [&](std::size_t i) {
        for (std::size_t d = 0; d < column_count(residual); ++d) {
            double sum = residual(i, d);
            for (Matrix const* output : outputs) sum += (*output)(i, d);
            after(i, d) = static_cast<float>(sum + bias(d));
        }
    });
    return after;
}

Moments moments(std::span<float const> values) {
    auto const count = static_cast<double>(values.size());
    double sum = 0;
    for (double const value : values) sum += value;
    double const mean = sum / count;
    double squares = 0;
    for (double const value : values) squares += (value - mean) * (value - mean);
    return {mean, squares / count};
}

Matrix layer_norm(Matrix const& rows, Vector const& gain, Vector const& bias, double epsilon) {
    Matrix normalized = make_matrix(row_count(rows), column_count(rows));
    for_rows(row_count(rows), column_count(rows), [&](std::size_t i) {
        auto const [mean, variance] = moments(row(rows, i));
        double const root = std::sqrt(variance + epsilon);
        for (std::size_t d = 0; d < column_count(rows); ++d)
            normalized(i, d) = static_cast<float>((rows(i, d) - mean) / root * gain(d) + bias(d));
    });
    return normalized;
}

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
