#include "study/compare_traces.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "error.hpp"

namespace onehead {
namespace {

void expect_same_tokens(Trace const& a, Trace const& b, Comparison const& names) {
    auto const refuse = [&](std::string const& what) {
        throw UsageError(
            fmt::format("compare: {}; expected two runs on the same tokens (for a changed word "
                        "there is \"onehead causality\")",
                        what));
    };
    if (a.tokens.size() != b.tokens.size())
        refuse(
            fmt::format("{} has {} tokens, {} has {}", names.a, a.tokens.size(), names.b, b.tokens.size()));
    for (std::size_t pos = 0; pos < a.tokens.size(); ++pos)
        if (a.tokens[pos].id != b.tokens[pos].id)
            refuse(fmt::format("token {} is {} in {}, {} in {}", pos, a.tokens[pos].id, names.a,
                               b.tokens[pos].id, names.b));
}

void expect_same_shape(Step const& a, Matrix const& b, Comparison const& names) {
    if (a.values.shape() == b.shape()) return;
    throw UsageError(
        fmt::format("compare: step {} is [{}, {}] in {}, [{}, {}] in {}; expected heads of the "
                    "same width",
                    file_stem(a.term), row_count(a.values), column_count(a.values), names.a, row_count(b),
                    column_count(b), names.b));
}

std::vector<Term> missing_in(Trace const& other, Trace const& trace) {
    std::vector<Term> terms;
    for (Step const& step : trace.steps())
        if (other.find(step.term) == nullptr) terms.push_back(step.term);
    return terms;
}

bool sums_to_1(std::span<float const> weights) {
    return std::fabs(std::accumulate(weights.begin(), weights.end(), 0.0) - 1) < 1e-4;
}

// Weights are rounded to float32, so that rows which are nearly the same could come out below 0.
double divergence(std::span<float const> a, std::span<float const> b) {
    double sum = 0;
    for (std::size_t key = 0; key < a.size(); ++key) {
        double const p = a[key];
        if (p > 0 && b[key] == 0) return std::numeric_limits<double>::infinity();
        if (p > 0) sum += p * std::log(p / b[key]);
    }
    return std::max(sum, 0.0);
}

RowDifference compare_rows(std::span<float const> a, std::span<float const> b) {
    RowDifference row{describe_pattern_row(a), describe_pattern_row(b), {}};
    if (sums_to_1(a) && sums_to_1(b)) row.divergence = divergence(a, b);
    return row;
}

}  // namespace

bool Comparison::same() const {
    return only_in_a.empty() && only_in_b.empty() &&
           std::all_of(steps.begin(), steps.end(), [](auto const& step) { return step.difference.same(); });
}

Comparison compare(Trace const& a, Trace const& b, std::string const& name_a, std::string const& name_b) {
    Comparison result{.a = name_a,
                      .b = name_b,
                      .steps = {},
                      .only_in_a = missing_in(b, a),
                      .only_in_b = missing_in(a, b),
                      .pattern = {}};
    expect_same_tokens(a, b, result);
    for (Step const& step : a.steps()) {
        Step const* const other = b.find(step.term);
        if (other == nullptr) continue;
        expect_same_shape(step, other->values, result);
        result.steps.push_back({step.term, compare(step.values, other->values)});
        if (step.term == terms::softmax)
            for (std::size_t i = 0; i < row_count(step.values); ++i)
                result.pattern.push_back(compare_rows(row(step.values, i), row(other->values, i)));
    }
    return result;
}

}  // namespace onehead
