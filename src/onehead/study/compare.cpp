#include "onehead/study/compare.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "onehead/error.hpp"

namespace onehead {

namespace {

bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

double distance(double a, double b) {
    if (a == b) return 0;
    double const difference = std::fabs(a - b);
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

void Difference::add(float a, float b, std::size_t at_row, std::size_t at_column) {
    bool const first = same();
    ++cells;
    if (same_bits(a, b)) {
        ++identical;
    } else if (double const d = distance(a, b); first || d > largest) {
        largest = d;
        row = at_row;
        column = at_column;
    }
}

Difference compare(Matrix const& a, Matrix const& b, Cells const& which) {
    if (a.shape() != b.shape()) throw std::invalid_argument("compare: the shapes differ");
    Difference result;
    for (std::size_t i = 0; i < row_count(a); ++i)
        for (std::size_t j = 0; j < column_count(a); ++j)
            if (which(i, j)) result.add(a(i, j), b(i, j), i, j);
    return result;
}

Difference compare(Matrix const& a, Matrix const& b) {
    return compare(a, b, [](std::size_t, std::size_t) { return true; });
}

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

// A comparison of two runs in words. A sentence that says less is better than one that is false of some
// pair: rows that do not sum to 1 are left out of it, and differences too small to print are no differences.

namespace {

constexpr double noticeable = 0.01;  // of a row

// How the rows of B stand to those of A.
struct Tally {
    std::size_t rows = 0;
    std::size_t comparable = 0;
    std::size_t sharper = 0;
    std::size_t flatter = 0;
    double mean_a = 0;  // effective rows, over those that are comparable
    double mean_b = 0;
};

Tally count(std::vector<RowDifference> const& pattern) {
    Tally tally{.rows = pattern.size()};
    for (RowDifference const& row : pattern) {
        if (!row.comparable()) continue;
        ++tally.comparable;
        double const wider = row.b.effective_rows - row.a.effective_rows;
        if (wider < -noticeable) ++tally.sharper;
        if (wider > noticeable) ++tally.flatter;
        tally.mean_a += row.a.effective_rows;
        tally.mean_b += row.b.effective_rows;
    }
    tally.mean_a /= static_cast<double>(tally.comparable);
    tally.mean_b /= static_cast<double>(tally.comparable);
    return tally;
}

// "1.5 rows on average instead of 3.1", with as many digits as it takes to tell the two apart.
std::string averages(Tally const& tally) {
    for (int digits = 1; digits <= 3; ++digits) {
        auto const a = fmt::format("{:.{}f}", tally.mean_a, digits);
        auto const b = fmt::format("{:.{}f}", tally.mean_b, digits);
        if (a != b) return fmt::format("{} rows on average instead of {}", b, a);
    }
    return fmt::format("{:.1f} rows on average in both", tally.mean_b);
}

std::string count_of(std::size_t count, std::size_t all) {
    return fmt::format("{} of {} row{}", count, all, all == 1 ? "" : "s");
}

std::string sharpness(Tally const& tally, std::string const& a, std::string const& b) {
    if (tally.sharper + tally.flatter == 0)
        return fmt::format("{} is as sharp as {} in {}, to {} rows: it reads {:.1f} rows on average", b, a,
                           count_of(tally.comparable, tally.rows), noticeable, tally.mean_b);
    std::string text = b + " is ";
    if (tally.sharper > 0) text += fmt::format("sharper in {}", count_of(tally.sharper, tally.rows));
    if (tally.sharper > 0 && tally.flatter > 0) text += fmt::format(" and flatter in {}", tally.flatter);
    if (tally.sharper == 0) text += fmt::format("flatter in {}", count_of(tally.flatter, tally.rows));
    return fmt::format("{}: it reads {}", text, averages(tally));
}

std::string about_pattern(Comparison const& c, Difference const& difference) {
    Tally const tally = count(c.pattern);
    if (tally.comparable == 0)
        return "the patterns are not comparable: in no row do the weights sum to 1 in both";
    std::string text = sharpness(tally, c.a, c.b);
    if (tally.comparable < tally.rows)
        text += fmt::format("; left out are {}, where the weights do not sum to 1 in both",
                            count_of(tally.rows - tally.comparable, tally.rows));
    return fmt::format("{}; a weight differs by up to {:.2g}", text, difference.largest);
}

std::string names(std::vector<Term> const& terms) {
    std::string list;
    for (Term const& term : terms) list += (list.empty() ? "" : ", ") + file_stem(term);
    return list;
}

std::vector<Term> different(std::vector<StepDifference> const& steps) {
    std::vector<Term> terms;
    for (auto const& [term, difference] : steps)
        if (!difference.same()) terms.push_back(term);
    return terms;
}

std::string about_steps(Comparison const& c) {
    auto const differing = different(c.steps);
    if (differing.empty()) return "every value that both have is bit-identical";
    auto const pattern = std::find_if(c.steps.begin(), c.steps.end(),
                                      [](auto const& step) { return step.term == terms::softmax; });
    if (pattern == c.steps.end())
        return fmt::format("the patterns are not comparable, as not both have one; different are {}",
                           names(differing));
    if (pattern->difference.same())
        return fmt::format("the patterns are bit-identical; different are {}", names(differing));
    return about_pattern(c, pattern->difference);
}

}  // namespace

std::string verdict(Comparison const& c) {
    if (c.same()) return fmt::format("{} and {} are the same: every value is bit-identical", c.a, c.b);
    std::string text = about_steps(c);
    if (!c.only_in_a.empty()) text += fmt::format("; only {} has {}", c.a, names(c.only_in_a));
    if (!c.only_in_b.empty()) text += fmt::format("; only {} has {}", c.b, names(c.only_in_b));
    return text;
}

}  // namespace onehead
