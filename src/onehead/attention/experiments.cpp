#include "onehead/attention/experiments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "onehead/attention/gpt2.hpp"
#include "onehead/error.hpp"

namespace onehead {

namespace {

constexpr auto later_rows_count =
    "exp(masked_scores - largest of the row) / their sum over the whole row, later keys too";

std::vector<Experiment> make_experiments() {  // NOLINT(readability-function-size): a table
    return {
        {"unscaled",
         "divides the scores by 1 instead of sqrt(d_head)",
         "What is the division by sqrt(d_head) for?",
         [](Case& c) { c.divisor = 1; },
         {{terms::scaled_scores, "scores / 1"}}},
        {"divide-by-sqrt-d-model",
         "divides the scores by sqrt(d_model) instead of sqrt(d_head)",
         "Which width belongs under the root?",
         [](Case& c) { c.divisor = std::sqrt(static_cast<double>(column_count(c.residual))); },
         {{terms::scaled_scores, "scores / sqrt(d_model)"}}},
        {"unmasked",
         "lets every row read every row, later ones too",
         "What does the mask keep out?",
         see_everything,
         {{terms::masked_scores, "scaled_scores, nothing masked"}}},
        {"masked-after-softmax",
         "masks after the softmax instead of before it",
         "Why is the mask applied before the softmax?",
         [](Case& c) { see_everything(c), c.softmax = softmax_then_mask; },
         {{terms::masked_scores, "scaled_scores, nothing masked yet"},
          {terms::softmax,
           "exp(masked_scores - largest of the row) / their sum over the whole row, then 0 where key_pos > "
           "query_pos"}}},
        {"masked-by-zero",
         "writes 0 over masked scores instead of -inf",
         "Why -inf, and not 0?",
         [](Case& c) { c.masked_value = 0; },
         {{terms::masked_scores, "scaled_scores where key_pos <= query_pos, 0 elsewhere"},
          {terms::softmax, later_rows_count}}},
        {"masked-by-10000",
         "writes -10000 over masked scores instead of -inf",
         "Is a very large negative number as good as -inf?",
         [](Case& c) { c.masked_value = -10000; },
         {{terms::masked_scores, "scaled_scores where key_pos <= query_pos, -10000 elsewhere"},
          {terms::softmax, later_rows_count}}},
        {"no-bias",
         "leaves out the biases of query, key and value",
         "Does the bias of c_attn matter?",
         drop_biases,
         {{terms::q, "normalized W_q"}, {terms::k, "normalized W_k"}, {terms::v, "normalized W_v"}}},
        {"no-key-bias",
         "leaves out the bias of the key alone",
         "What does the bias of the key do?",
         [](Case& c) { c.b_k.fill(0); },
         {{terms::k, "normalized W_k"}}},
        {"raw-row",
         "feeds the raw residual row to the projections, without LayerNorm",
         "Which row do the projections read?",
         [](Case& c) { c.normalize = leave_raw; },
         {{terms::normalized, "residual, not normalized"}},
         true},
        {"unbiased-variance",
         "divides LayerNorm's squares by d_model - 1 instead of d_model",
         "Which variance does LayerNorm use?",
         [](Case& c) { c.normalize = normalize_unbiased; },
         {{terms::normalized,
           "(residual - mean) / sqrt(variance with d_model - 1 + epsilon) * gain + bias"}}},
        {"wrong-slice",
         "cuts the heads out of c_attn as [head, 3, d_head] instead of [3, head, d_head]",
         "How are queries, keys and values packed?",
         cut_as_head_major,
         {{terms::q, "normalized W_q + b_q, from the wrong columns"},
          {terms::k, "normalized W_k + b_k, from the wrong columns"},
          {terms::v, "normalized W_v + b_v, from the wrong columns"}}},
        {"transposed-output",
         "cuts W_o out of the transpose of c_proj, which is square, so that no shape complains",
         "Which way round is c_proj?",
         transpose_output,
         {{terms::output_projection, "blend W_o, from c_proj transposed"}}},
        {"silent",
         "silences this head: its output is 0",
         "What is this head worth to all that comes after it?",
         [](Case& c) { c.w_o.fill(0); },
         {{terms::output_projection, "0, this head is silenced"}}},
        {"alone",
         "silences the other heads of the block",
         "Does a head read what another head of its block found?",
         silence_other_heads,
         {{terms::other_heads, "0, the other heads are silenced"}}},
    };
}

}  // namespace

std::span<Experiment const> experiments() {
    static auto const table = make_experiments();
    return table;
}

Experiment const& find_experiment(std::string_view name) {
    auto const table = experiments();
    auto const found =
        std::find_if(table.begin(), table.end(), [&](auto const& e) { return e.name == name; });
    if (found != table.end()) return *found;
    std::vector<std::string_view> names;
    for (auto const& experiment : table) names.push_back(experiment.name);
    throw UsageError("experiment", {.expected = fmt::format("one of {}", fmt::join(names, ", ")),
                                    .found = std::string{name}});
}

Matrix leave_raw(Matrix const& residual, LayerNorm const& /*ln*/) {
    return residual;
}

Matrix normalize_unbiased(Matrix const& residual, LayerNorm const& ln) {
    // sqrt(variance * n / (n - 1) + epsilon), with the factor taken out of the root and into the gain.
    auto const n = static_cast<double>(column_count(residual));
    if (n == 1)
        throw UsageError("experiment", {"unbiased-variance", "rows of at least 2 numbers",
                                        "rows of 1, where d_model - 1 is 0: it would be divided by 0"});
    double const factor = (n - 1) / n;
    LayerNorm unbiased = ln;
    unbiased.epsilon *= factor;
    for (float& gain : unbiased.gain) gain = static_cast<float>(gain * std::sqrt(factor));
    return normalize(residual, unbiased);
}

Matrix softmax_then_mask(Matrix const& scores) {
    Matrix pattern = softmax(scores);
    for (std::size_t i = 0; i < row_count(pattern); ++i)
        xt::view(pattern, i, xt::range(std::min(i + 1, column_count(pattern)), column_count(pattern))) = 0;
    return pattern;
}

void see_everything(Case& c) {
    c.visible = everything(c.visible.size());
}

void drop_biases(Case& c) {
    c.b_q.fill(0);
    c.b_k.fill(0);
    c.b_v.fill(0);
}

void cut_as_head_major(Case& c) {
    std::size_t const d_head = row_count(c.w_o);
    std::size_t const first = 3 * c.head * d_head;
    cut_columns(c, {.q = first, .k = first + d_head, .v = first + 2 * d_head});
}

void transpose_output(Case& c) {
    if (c.block == nullptr)
        throw std::invalid_argument(
            "block: expected the layer's weights that this head is a part of, found none");
    c.w_o = cut_output(xt::transpose(c.block->c_proj), row_count(c.w_o), c.head);
}

void silence_other_heads(Case& c) {
    for (Matrix& output : c.other_outputs) output.fill(0);
}

}  // namespace onehead
