#include "onehead/study/compare.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "onehead/error.hpp"
#include "random_case.hpp"

using namespace onehead;
using namespace onehead::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

Step step_of(Term const& term, Matrix const& values) {
    return {term, "", values};
}

Array array_of(Matrix const& m, std::vector<std::size_t> shape) {
    return {std::move(shape), {m.begin(), m.end()}};
}

}  // namespace

TEST_CASE("allclose's rule: absolute plus relative to the reference") {
    Step const step = step_of(terms::q, {{1, 100}, {0, -100}});
    Array const reference{{2, 2}, {1.5, 101, 0.25, -100}};
    Check const loose = check(step, reference, {0.25, 0.01});  // allowed: 0.265, 1.26, 0.2525, 1.25
    CHECK(loose.out_of_tolerance == 1);
    CHECK(loose.cells == 4);
    CHECK_FALSE(loose.passed());
    CHECK(loose.worst.row == 0);
    CHECK(loose.worst.column == 0);
    CHECK(loose.worst.difference == 0.5);
    CHECK(loose.worst.tolerance == Approx(0.265));
    CHECK(check(step, reference, {0.5, 0.01}).passed());
    CHECK(check(step, reference, {0.5, 0.005}).passed());
    CHECK(check(step, reference, {0.5, 0.0049}).out_of_tolerance == 1);
}

TEST_CASE("the worst value is the one that takes up most of its tolerance") {
    Step const step = step_of(terms::q, {{1000, 0.001F}});
    Check const result = check(step, {{1, 2}, {1001, 0.002}}, {1e-6, 0.01});
    CHECK(result.out_of_tolerance == 1);
    CHECK(result.worst.column == 1);
}

TEST_CASE("a zero tolerance passes equal values only") {
    Step const step = step_of(terms::q, {{0.1F, 2}});
    CHECK(check(step, array_of(step.values, {1, 2}), {0, 0}).passed());
    CHECK_FALSE(check(step, {{1, 2}, {0.1, 2}}, {0, 0}).passed());
}

TEST_CASE("infinities and NaN") {
    float const masked = -std::numeric_limits<float>::infinity();
    Step const step = step_of(terms::masked_scores, {{1, masked}});
    CHECK(check(step, {{1, 2}, {1, -HUGE_VAL}}, {1, 1}).passed());
    CHECK(check(step, {{1, 2}, {1, -1e9}}, {1, 1}).passed());  // masked with a finite number there
    CHECK_FALSE(check(step, {{1, 2}, {1, -100}}, {1, 1}).passed());
    CHECK_FALSE(check(step, {{1, 2}, {-HUGE_VAL, -HUGE_VAL}}, {1, 1}).passed());
    CHECK_FALSE(check(step, {{1, 2}, {std::nan(""), -HUGE_VAL}}, {1, 1}).passed());
}

TEST_CASE("dimensions of 1 in front do not count, others do") {
    Trace const trace = trace_of(random_case());
    Step const& pattern = *trace.find(terms::softmax);
    CHECK(check(pattern, array_of(pattern.values, {1, 1, 5, 5}), {0, 0}).passed());
    Step const& bias = *trace.find(terms::projection_bias);
    CHECK(check(bias, array_of(bias.values, {d_model}), {0, 0}).passed());
    Array const all_heads{{3, 5, 5}, std::vector<double>(75)};
    CHECK_THROWS_AS(check(pattern, all_heads, {0, 0}), UsageError);
    CHECK_THROWS_WITH(check(pattern, all_heads, {0, 0}),
                      Contains("11_softmax is [5, 5] in the trace, the reference is [3, 5, 5]") &&
                          Contains("attentions[L][0, h]"));
    CHECK_THROWS_WITH(check(*trace.find(terms::q), {{5, 12}, std::vector<double>(60)}, {0, 0}),
                      Contains("this head's columns alone"));
    CHECK_THROWS_AS(check(pattern, array_of(pattern.values, {25}), {0, 0}), UsageError);
}

TEST_CASE("default tolerances") {
    CHECK(default_tolerance(terms::softmax, 0, false).absolute == 5e-6);
    CHECK(default_tolerance(terms::softmax, 5, false).relative == 0);
    CHECK(default_tolerance(terms::softmax, 5, true).absolute == 5e-5);
    CHECK(default_tolerance(terms::q, 0, false).absolute == 2e-5);
    CHECK(default_tolerance(terms::q, 0, false).relative == 1e-5);
    CHECK(default_tolerance(terms::blend, 3, false).absolute == 5e-5);
    CHECK(default_tolerance(terms::blend, 3, false).relative == 2e-5);
    CHECK(default_tolerance(terms::blend, 3, true).absolute == 1e-4);
}

TEST_CASE("the right pattern passes, one step of the head gone wrong does not") {
    Step const right = *trace_of(random_case()).find(terms::softmax);
    Array const reference = array_of(right.values, {5, 5});
    Tolerance const tolerance = default_tolerance(terms::softmax, 0, true);
    CHECK(check(right, reference, tolerance).passed());
    for (auto const* name : {"unscaled", "raw-row", "no-bias", "wrong-slice"}) {
        Trace const wrong = trace_of(with_experiment(random_case(), name));
        CHECK_FALSE(check(*wrong.find(terms::softmax), reference, tolerance).passed());
    }
}

TEST_CASE("a verdict names the worst value and its place") {
    Step const step = step_of(terms::q, {{1, 2}});
    CHECK_THAT(verdict(check(step, {{1, 2}, {1, 2}}, {0, 0})),
               StartsWith("PASS: 05_q, all 2 values agree; the worst is"));
    CHECK_THAT(
        verdict(check(step, {{1, 2}, {1, 2.5}}, {0.25, 0})),
        StartsWith(
            "FAIL: 05_q, 1 of 2 values agree, 1 are out of tolerance; the worst is row 0, column 1: 2 in the "
            "trace, 2.5 in the reference, apart by 0.5 where 0.25 is allowed"));
}
