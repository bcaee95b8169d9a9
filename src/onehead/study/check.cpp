#include "onehead/study/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <string_view>

#include "onehead/error.hpp"
#include "onehead/study/compare.hpp"

namespace onehead {

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

void expect_shape(Step const& step, Array const& reference) {
    std::vector<std::size_t> const shape{row_count(step.values), column_count(step.values)};
    if (without_leading_ones(reference.shape) == without_leading_ones(shape)) return;
    throw UsageError(fmt::format(
        "check: step {} is [{}] in the trace, the reference is [{}]; expected the "
        "same tokens and {}",
        file_stem(step.term), fmt::join(shape, ", "), fmt::join(reference.shape, ", "), hint(step.term)));
}

// How much of its tolerance a value takes up.
double share(CheckedValue const& value) {
    return value.difference == 0 ? 0 : value.difference / value.tolerance;
}

}  // namespace

Tolerance default_tolerance(Term const& term, std::size_t layer, bool reference_is_float32) {
    if (term == terms::softmax) return {reference_is_float32 ? 5e-5 : 5e-6, 0};
    double const factor = reference_is_float32 ? 2 : 1;
    return layer == 0 ? Tolerance{factor * 2e-5, factor * 1e-5} : Tolerance{factor * 5e-5, factor * 2e-5};
}

Check check(Step const& step, Array const& reference, Tolerance const& tolerance) {
    expect_shape(step, reference);
    std::size_t const width = column_count(step.values);
    Check result{step.term, tolerance, 0, 0, {}};
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
        if (here.difference > here.tolerance) ++result.out_of_tolerance;
        if (at == 0 || share(here) > share(result.worst)) result.worst = here;
    }
    return result;
}

std::string verdict(Check const& check) {
    CheckedValue const& worst = check.worst;
    std::string const place = fmt::format(
        "row {}, column {}: {} in the trace, {} in the reference, apart by {:.3g} where {:.3g} is "
        "allowed",
        worst.row, worst.column, static_cast<float>(worst.value), worst.reference, worst.difference,
        worst.tolerance);
    if (check.passed())
        return fmt::format("PASS: {}, all {} values within tolerance; the worst is {}", file_stem(check.term),
                           check.cells, place);
    return fmt::format("FAIL: {}, {} of {} values out of tolerance; the worst is {}", file_stem(check.term),
                       check.out_of_tolerance, check.cells, place);
}

}  // namespace onehead
