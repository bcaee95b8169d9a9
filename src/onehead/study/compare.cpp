#include "onehead/study/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "onehead/error.hpp"
#include "onehead/io/text.hpp"

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

// Two heads have no step in common but the rows that arrive: their difference says nothing about an
// experiment.
std::string not_one_head(Facts const& a, Facts const& b) {
    if (std::tie(a.layer, a.head) != std::tie(b.layer, b.head))
        return fmt::format(
            "two heads: {} and {}{}", head_name(a), head_name(b),
            a.model == b.model ? "" : fmt::format(", of two models: {} and {}", a.model, b.model));
    if (a.weights_sha256 == b.weights_sha256) return "";
    return a.model == b.model ? fmt::format("two models, both named {}", a.model)
                              : fmt::format("two models: {} and {}", a.model, b.model);
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
                      .not_one_head = not_one_head(a.facts, b.facts),
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

// "as means over all 6 rows": those that are comparable.
std::string over_which(Tally const& tally) {
    if (tally.rows == 1) return "in its only row";
    return tally.comparable == tally.rows ? fmt::format("as means over all {} rows", tally.rows)
                                          : "as means over " + counted(tally.comparable, "row");
}

// "1.5 rows instead of 3.1, as means over all 6 rows", with as many digits as it takes to tell the two apart.
std::string averages(Tally const& tally) {
    for (int digits = 1; digits <= 3; ++digits) {
        auto const a = fmt::format("{:.{}f}", tally.mean_a, digits);
        auto const b = fmt::format("{:.{}f}", tally.mean_b, digits);
        if (a != b) return fmt::format("{} rows instead of {}, {}", b, a, over_which(tally));
    }
    return fmt::format("{:.1f} rows in both, {}", tally.mean_b, over_which(tally));
}

std::string count_of(std::size_t count, std::size_t all) {
    return fmt::format("{} of {}", count, counted(all, "row"));
}

std::string sharpness(Tally const& tally, std::string const& a, std::string const& b) {
    if (tally.sharper + tally.flatter == 0)
        return fmt::format("{} is as sharp as {} in {}, to {} rows: in effect it reads {:.1f} rows, {}", b, a,
                           count_of(tally.comparable, tally.rows), noticeable, tally.mean_b,
                           over_which(tally));
    std::string text = b + " is ";
    if (tally.sharper > 0) text += fmt::format("sharper in {}", count_of(tally.sharper, tally.rows));
    if (tally.sharper > 0 && tally.flatter > 0) text += fmt::format(" and flatter in {}", tally.flatter);
    if (tally.sharper == 0) text += fmt::format("flatter in {}", count_of(tally.flatter, tally.rows));
    return fmt::format("{}: in effect it reads {}", text, averages(tally));
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
    std::string text = c.not_one_head.empty() ? "" : fmt::format("these are {}; ", c.not_one_head);
    if (c.same())
        return fmt::format("{}{} and {} are the same: every value is bit-identical", text, c.a, c.b);
    text += about_steps(c);
    if (!c.only_in_a.empty()) text += fmt::format("; only {} has {}", c.a, names(c.only_in_a));
    if (!c.only_in_b.empty()) text += fmt::format("; only {} has {}", c.b, names(c.only_in_b));
    return text;
}

// A step against a reference.

namespace {

std::vector<std::size_t> without_leading_ones(std::vector<std::size_t> shape) {
    while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
    return shape;
}

std::string_view hint(Term const& term) {
    if (pairs_positions(term)) return "one head's [query_pos, key_pos], attentions[L][0, h] in Hugging Face";
    if (term.columns == "d_head") return "this head's columns alone, d_head of them";
    return "the whole row, d_model wide";
}

void expect_shape_of_step(Step const& step, Array const& reference) {
    std::vector<std::size_t> const shape{row_count(step.values), column_count(step.values)};
    if (without_leading_ones(reference.shape) == without_leading_ones(shape)) return;
    throw UsageError(fmt::format(
        "check: step {} is [{}] in the trace, the reference is [{}]; expected the "
        "same tokens and {}",
        file_stem(step.term), fmt::join(shape, ", "), fmt::join(reference.shape, ", "), hint(step.term)));
}

// How much of its tolerance a value takes up.
double used(CheckedValue const& value) {
    if (!std::isfinite(value.difference)) return std::numeric_limits<double>::infinity();
    return value.difference == 0 ? 0 : value.difference / value.tolerance;
}

// Some implementations mask with a large finite number. Its power is 0 too.
bool is_finite_mask(double value, double expected) {
    return value == -std::numeric_limits<double>::infinity() && expected <= -1e4;
}

}  // namespace

Tolerance default_tolerance(Term const& term, std::size_t layer, bool reference_is_float32) {
    if (term == terms::softmax) return {reference_is_float32 ? 5e-5 : 5e-6, 0};
    double const factor = reference_is_float32 ? 2 : 1;
    return layer == 0 ? Tolerance{factor * 2e-5, factor * 1e-5} : Tolerance{factor * 5e-5, factor * 2e-5};
}

Tolerance stored_as(Tolerance tolerance, std::string_view dtype) {
    if (dtype == "F16") return {tolerance.absolute + 0x1p-25, tolerance.relative + 0x1p-11};
    if (dtype == "BF16") return {tolerance.absolute, tolerance.relative + 0x1p-8};
    return tolerance;
}

Check check(Step const& step, Array const& reference, Tolerance const& tolerance) {
    expect_shape_of_step(step, reference);
    std::size_t const width = column_count(step.values);
    Check result{step.term, tolerance, 0, 0, {}, 0};
    for (std::size_t at = 0; at < step.values.size(); ++at) {
        double const value = step.values.data()[at];
        double const expected = reference.values[at];
        // Masked cells are -inf in both, at no distance; a finite value is not "close" to an infinite one.
        double const size = std::isfinite(expected) ? std::fabs(expected) : 0;
        CheckedValue const here{at / width,
                                at % width,
                                value,
                                expected,
                                distance(value, expected),
                                tolerance.absolute + tolerance.relative * size};
        ++result.cells;
        if (std::isfinite(expected) && is_finite_mask(value, expected)) {
            ++result.finite_masks;
            continue;
        }
        // Nothing allows a NaN, or a finite value for an infinite one.
        if (!std::isfinite(here.difference) || here.difference > here.tolerance) ++result.out_of_tolerance;
        if (result.cells - result.finite_masks == 1 || used(here) > used(result.worst)) result.worst = here;
    }
    return result;
}

std::string verdict(Check const& check) {
    CheckedValue const& worst = check.worst;
    std::size_t const visible = check.cells - check.finite_masks;
    std::string const kind = check.finite_masks > 0 ? "visible cells" : "values";
    std::string const place = fmt::format(
        "the worst is row {}, column {}: {} in the trace, {} in the reference, apart by {:.3g} where {:.3g} "
        "is allowed",
        worst.row, worst.column, static_cast<float>(worst.value), worst.reference, worst.difference,
        worst.tolerance);
    std::string const masks =
        check.finite_masks == 0
            ? ""
            : fmt::format("; {} masked cells are finite in the reference", check.finite_masks);
    if (check.passed())
        return fmt::format("PASS: {}, all {} {} agree; {}{}", file_stem(check.term), visible, kind, place,
                           masks);
    return fmt::format("FAIL: {}, {} of {} {} agree, {} are out of tolerance; {}{}", file_stem(check.term),
                       visible - check.out_of_tolerance, visible, kind, check.out_of_tolerance, place, masks);
}

}  // namespace onehead
