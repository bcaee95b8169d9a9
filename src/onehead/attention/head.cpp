// One attention head. A row arrives off the residual stream and is normalized. It is then read three ways:
// as a query (what it looks for), a key (what it advertises) and a value (what it hands over). Its query
// meets every row's key: a score for each, divided by sqrt(d_head). Later rows are masked, softmax turns what
// is left into weights, and the row takes home the values in these proportions, widened back to full width.
#include "onehead/attention/head.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onehead/math/exp.hpp"

namespace onehead {

Steps attend(Case const& c) {
    // clang-format off
    Matrix x       = c.normalize(c.residual, c.ln_1);            // [pos, d_model]        the row as the head reads it
    Matrix q       = project(x, c.w_q, c.b_q);                   // [query_pos, d_head]   what each row looks for
    Matrix k       = project(x, c.w_k, c.b_k);                   // [key_pos, d_head]     what each row advertises
    Matrix v       = project(x, c.w_v, c.b_v);                   // [key_pos, d_head]     what each row hands over
    Matrix scores  = dot_rows(q, k);                             // [query_pos, key_pos]  how well they fit
    Matrix scaled  = divide(scores, c.divisor);                  // [query_pos, key_pos]  sqrt(d_head)
    Matrix masked  = mask(scaled, c.visible, c.masked_value);    // [query_pos, key_pos]  -inf where a row may not look
    Matrix pattern = c.softmax(masked);                          // [query_pos, key_pos]  e^-inf is 0: nothing else masks
    Matrix blend   = weigh_rows(pattern, v);                     // [query_pos, d_head]   what each row takes home
    Matrix output  = matmul(blend, c.w_o);                       // [query_pos, d_model]  back to full width
    // clang-format on
    return {std::move(x),      std::move(q),      std::move(k),       std::move(v),     std::move(scores),
            std::move(scaled), std::move(masked), std::move(pattern), std::move(blend), std::move(output)};
}

Matrix normalize(Matrix const& residual, LayerNorm const& ln) {
    expect_shape("gain of the LayerNorm", ln.gain, column_count(residual));
    expect_shape("bias of the LayerNorm", ln.bias, column_count(residual));
    Matrix normalized = make_matrix(row_count(residual), column_count(residual));
    for (std::size_t i = 0; i < row_count(residual); ++i) normalize_row(residual, ln, i, normalized);
    return normalized;
}

void normalize_row(Matrix const& residual, LayerNorm const& ln, std::size_t i, Matrix& normalized) {
    auto const [mean, variance] = moments(row(residual, i));
    double const root = std::sqrt(variance + ln.epsilon);
    for (std::size_t d = 0; d < column_count(residual); ++d)
        normalized(i, d) = static_cast<float>((residual(i, d) - mean) / root * ln.gain(d) + ln.bias(d));
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

Matrix project(Matrix const& x, Matrix const& w, Vector const& b) {
    return matmul(x, w, b);
}

Matrix dot_rows(Matrix const& q, Matrix const& k) {
    return matmul(q, xt::transpose(k));
}

Matrix divide(Matrix const& scores, double divisor) {
    return xt::cast<float>(scores / divisor);
}

Matrix mask(Matrix const& scaled, Visible const& visible, float value) {
    if (visible.size() != row_count(scaled))
        throw std::invalid_argument(fmt::format("visible: expected a number for each of {} rows, found {}",
                                                row_count(scaled), visible.size()));
    Matrix masked = scaled;
    for (std::size_t i = 0; i < row_count(masked); ++i) {
        if (visible[i] > column_count(masked))
            throw std::invalid_argument(fmt::format("visible: expected at most {} for row {}, found {}",
                                                    column_count(masked), i, visible[i]));
        xt::view(masked, i, xt::range(visible[i], column_count(masked))) = value;
    }
    return masked;
}

Matrix softmax(Matrix const& masked) {
    Matrix pattern = xt::zeros<float>(masked.shape());
    for (std::size_t i = 0; i < row_count(masked); ++i) {
        std::span<float const> scores = row(masked, i);
        while (!scores.empty() && scores.back() == minus_infinity)  // to these e^-inf gives the 0 they have
            scores = scores.first(scores.size() - 1);
        if (scores.empty()) continue;
        double const largest = *std::max_element(scores.begin(), scores.end());  // keeps the powers small
        std::vector<double> powers;
        for (double const score : scores) powers.push_back(score - largest);
        exponentials(powers);
        double sum = 0;
        for (double const power : powers) sum += power;
        for (std::size_t j = 0; j < powers.size(); ++j) pattern(i, j) = static_cast<float>(powers[j] / sum);
    }
    return pattern;
}

Matrix weigh_rows(Matrix const& pattern, Matrix const& v) {
    std::vector<std::size_t> depths;  // [query_pos]: just after the row's last weight that is not 0
    for (std::size_t i = 0; i < row_count(pattern); ++i) {
        std::size_t depth = column_count(pattern);
        while (depth > 0 && pattern(i, depth - 1) == 0) --depth;
        depths.push_back(depth);
    }
    return matmul_to_depth(pattern, v, depths);
}

Matrix add_heads(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias) {
    expect_shape("bias after the heads", bias, column_count(residual));
    for (Matrix const* output : outputs)
        expect_shape("output of a head", *output, row_count(residual), column_count(residual));
    Matrix after = make_matrix(row_count(residual), column_count(residual));
    for (std::size_t i = 0; i < row_count(residual); ++i) add_heads_to_row(residual, outputs, bias, i, after);
    return after;
}

void add_heads_to_row(Matrix const& residual, std::vector<Matrix const*> const& outputs, Vector const& bias,
                      std::size_t i, Matrix& after) {
    auto const arriving = row(residual, i);
    std::vector<double> sum(arriving.begin(), arriving.end());  // [d_model]
    for (Matrix const* output : outputs) {
        auto const added = row(*output, i);
        for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += added[d];
    }
    for (std::size_t d = 0; d < sum.size(); ++d) after(i, d) = static_cast<float>(sum[d] + bias(d));
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

// What came out, recorded.

namespace {

// Their sum, element by element, rounded once.
Matrix sum(std::vector<Matrix> const& matrices, std::size_t rows, std::size_t columns) {
    Matrix total = make_matrix(rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        std::vector<double> sum(columns);
        for (Matrix const& m : matrices)
            for (std::size_t d = 0; d < columns; ++d) sum[d] += row(m, i)[d];
        for (std::size_t d = 0; d < columns; ++d) total(i, d) = static_cast<float>(sum[d]);
    }
    return total;
}

}  // namespace

Trace trace_head(Case const& c, Tokens tokens) {
    check(c);
    if (tokens.size() != row_count(c.residual))
        throw std::invalid_argument(fmt::format("tokens: expected one for each of {} rows, found {}",
                                                row_count(c.residual), tokens.size()));
    Steps steps = attend(c);
    expect_shape("result of normalize", steps.normalized, row_count(c.residual), column_count(c.residual));
    expect_shape("result of softmax", steps.softmax, row_count(c.residual), row_count(c.residual));

    Trace t;
    t.tokens = std::move(tokens);
    if (c.token_embedding.size() != 0) t.add(terms::token_embedding, c.token_embedding);
    if (c.position_embedding.size() != 0) t.add(terms::position_embedding, c.position_embedding);
    if (c.residual_is_exact) t.add(terms::residual, c.residual);
    t.add(terms::normalized, std::move(steps.normalized));
    t.add(terms::q, std::move(steps.q));
    t.add(terms::k, std::move(steps.k));
    t.add(terms::v, std::move(steps.v));
    t.add(terms::scores, std::move(steps.scores));
    t.add(terms::scaled_scores, std::move(steps.scaled_scores));
    t.add(terms::masked_scores, std::move(steps.masked_scores));
    t.add(terms::softmax, std::move(steps.softmax));
    t.add(terms::blend, std::move(steps.blend));
    Matrix const& output = t.add(terms::output_projection, std::move(steps.output_projection));
    t.add(terms::other_heads, sum(c.other_outputs, row_count(output), column_count(output)));
    t.add(terms::projection_bias, xt::view(c.b_o, xt::newaxis(), xt::all()));
    if (c.residual_is_exact)
        t.add(terms::residual_after, add_heads(c.residual, in_head_order(c, output), c.b_o));
    return t;
}

std::vector<Matrix const*> in_head_order(Case const& c, Matrix const& output) {
    std::vector<Matrix const*> outputs;
    for (Matrix const& other : c.other_outputs) outputs.push_back(&other);
    outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(c.head), &output);
    return outputs;
}

void check(Case const& c) {
    std::size_t const n_seq = row_count(c.residual);
    std::size_t const d_model = column_count(c.residual);
    std::size_t const d_head = column_count(c.w_q);
    auto const expect = [](bool holds, std::string const& message) {
        if (!holds) throw std::invalid_argument(message);
    };
    expect(c.residual.size() != 0,
           fmt::format("residual: expected at least one row and one column, found [{}, {}]", n_seq, d_model));
    if (c.token_embedding.size() != 0) expect_shape("token_embedding", c.token_embedding, n_seq, d_model);
    if (c.position_embedding.size() != 0)
        expect_shape("position_embedding", c.position_embedding, n_seq, d_model);
    expect_shape("ln_1.gain", c.ln_1.gain, d_model);
    expect_shape("ln_1.bias", c.ln_1.bias, d_model);
    expect(d_head != 0, "w_q: expected at least one column, found none");
    expect_shape("w_q", c.w_q, d_model, d_head);
    expect_shape("w_k", c.w_k, d_model, d_head);
    expect_shape("w_v", c.w_v, d_model, d_head);
    expect_shape("b_q", c.b_q, d_head);
    expect_shape("b_k", c.b_k, d_head);
    expect_shape("b_v", c.b_v, d_head);
    expect_shape("w_o", c.w_o, d_head, d_model);
    expect_shape("b_o", c.b_o, d_model);
    for (std::size_t other = 0; other < c.other_outputs.size(); ++other)
        expect_shape(fmt::format("other_outputs[{}]", other), c.other_outputs[other], n_seq, d_model);
    expect(c.head <= c.other_outputs.size(),
           fmt::format("head: expected a place among {} other_outputs, 0 to {}, found {}",
                       c.other_outputs.size(), c.other_outputs.size(), c.head));
    expect(c.visible.size() == n_seq,
           fmt::format("visible: expected a number for each of {} rows, found {}", n_seq, c.visible.size()));
    for (std::size_t i = 0; i < n_seq; ++i)
        expect(c.visible[i] <= n_seq,
               fmt::format("visible: expected at most {} for row {}, found {}", n_seq, i, c.visible[i]));
    expect(std::isfinite(c.divisor) && c.divisor != 0,
           fmt::format("divisor: expected a finite number other than 0, found {}", c.divisor));
    expect(c.normalize != nullptr, "normalize: expected a function, found none");
    expect(c.softmax != nullptr, "softmax: expected a function, found none");
}

}  // namespace onehead
