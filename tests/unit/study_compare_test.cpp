#include "onehead/study/compare.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "onehead/error.hpp"
#include "random_case.hpp"

using namespace onehead;
using namespace onehead::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

// A trace of nothing but a pattern.
Trace with_pattern(Matrix const& pattern) {
    Trace trace;
    trace.tokens = awkward_tokens(row_count(pattern));
    trace.add(terms::softmax, pattern);
    return trace;
}

std::string verdict_of(Matrix const& a, Matrix const& b) {
    return verdict(compare(with_pattern(a), with_pattern(b)));
}

}  // namespace

TEST_CASE("the largest difference is found with its place") {
    Matrix const a{{1, 2, 3}, {4, 5, 6}};
    Matrix const b{{1, 2.5F, 3}, {4, 3, 6}};
    Difference const all = compare(a, b);
    CHECK(all.cells == 6);
    CHECK(all.identical == 4);
    CHECK(all.largest == 2);
    CHECK(all.row == 1);
    CHECK(all.column == 1);
    Difference const first_row = compare(a, b, [](std::size_t i, std::size_t) { return i == 0; });
    CHECK(first_row.cells == 3);
    CHECK(first_row.largest == 0.5);
    CHECK(compare(a, b, [](std::size_t, std::size_t j) { return j != 1; }).same());
    CHECK_THROWS(compare(a, Matrix{{1, 2, 3}}));
}

TEST_CASE("differences are taken in double") {
    float const huge = std::numeric_limits<float>::max();
    CHECK(compare(Matrix{{huge}}, Matrix{{-huge}}).largest == 2 * static_cast<double>(huge));
    CHECK(compare(Matrix{{1}}, Matrix{{std::nextafter(1.0F, 2.0F)}}).largest == 0x1p-23);
}

TEST_CASE("infinities: equal ones do not differ, one against a number differs infinitely") {
    CHECK(compare(Matrix{{minus_infinity}}, Matrix{{minus_infinity}}).same());
    CHECK(compare(Matrix{{minus_infinity}}, Matrix{{minus_infinity}}).largest == 0);
    CHECK(compare(Matrix{{minus_infinity}}, Matrix{{1}}).largest == HUGE_VAL);
    CHECK(distance(std::nan(""), 1) == HUGE_VAL);
    CHECK(distance(std::nan(""), std::nan("")) == HUGE_VAL);
}

TEST_CASE("a zero of the other sign has other bits, at no distance") {
    Difference const d = compare(Matrix{{1, 0}}, Matrix{{1, -0.0F}});
    CHECK(d.identical == 1);
    CHECK(d.largest == 0);
    CHECK(d.column == 1);
}

TEST_CASE("two equal runs are the same to the bit") {
    Comparison const c = compare(trace_of(random_case()), trace_of(random_case()));
    CHECK(c.same());
    CHECK(c.steps.size() == 16);
    CHECK(c.pattern.size() == 5);
    CHECK_THAT(verdict(c), Equals("A and B are the same: every value is bit-identical"));
}

TEST_CASE("two rows of a pattern, worked by hand") {
    // (1/2, 1/2) against (1/4, 3/4): ln 2 = 0.6931472, entropy of the second 0.5623351,
    // divergence of the second from the first 1/2 ln 2 + 1/2 ln(2/3) = 0.1438410.
    Comparison const c = compare(with_pattern({{1, 0}, {0.5, 0.5}}), with_pattern({{1, 0}, {0.25, 0.75}}));
    REQUIRE(c.pattern.size() == 2);
    CHECK(c.pattern[0].divergence == 0.0);
    RowDifference const& row = c.pattern[1];
    CHECK(row.a.entropy == Approx(0.6931472));
    CHECK(row.a.effective_rows == Approx(2));
    CHECK(row.b.entropy == Approx(0.5623351));
    CHECK(row.b.favourite == 1);
    CHECK(row.b.largest == 0.75);
    CHECK(row.divergence.value() == Approx(0.1438410));
    CHECK_THAT(verdict(c), Equals("B is sharper in 1 of 2 rows: in effect it reads 1.4 rows instead of 1.5, "
                                  "as means over all 2 rows; "
                                  "a weight differs by up to 0.25"));
}

TEST_CASE("the divergence has a direction") {
    Comparison const c = compare(with_pattern({{1, 0}, {0.5, 0.5}}), with_pattern({{1, 0}, {1, 0}}));
    CHECK(c.pattern[1].divergence == HUGE_VAL);  // B gives nothing to what A reads
    Comparison const back = compare(with_pattern({{1, 0}, {1, 0}}), with_pattern({{1, 0}, {0.5, 0.5}}));
    CHECK(back.pattern[1].divergence.value() == Approx(0.6931472));
}

TEST_CASE("verdicts: flatter, mixed, moved") {
    Matrix const sharp{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    Matrix const even{{1, 0, 0}, {0.5, 0.5, 0}, {0.5, 0.25, 0.25}};
    Matrix const mixed{{1, 0, 0}, {1, 0, 0}, {0.25, 0.5, 0.25}};
    CHECK_THAT(verdict_of(sharp, even), Contains("B is flatter in 2 of 3 rows: in effect it reads 1.9 rows "
                                                 "instead of 1.0, as means over all 3 rows"));
    CHECK_THAT(verdict_of(even, sharp),
               Contains("B is sharper in 2 of 3 rows: in effect it reads 1.0 rows instead of 1.9"));
    Matrix const other{{1, 0, 0}, {0.5, 0.5, 0}, {1, 0, 0}};
    CHECK_THAT(verdict_of(mixed, other), Contains("sharper in 1 of 3 rows and flatter in 1"));
    CHECK_THAT(verdict_of({{1, 0}, {0.25, 0.75}}, {{1, 0}, {0.75, 0.25}}),
               Contains("as sharp as A in 2 of 2 rows") && Contains("by up to 0.5"));
    Matrix const swapped{{1, 0, 0}, {0.5, 0.5, 0}, {1, 0, 0}};
    Matrix const back{{1, 0, 0}, {1, 0, 0}, {0.5, 0.5, 0}};
    CHECK_THAT(verdict_of(swapped, back), Contains("it reads 1.3 rows in both, as means over all 3 rows"));
}

TEST_CASE("rows that do not sum to 1 are not compared as shares") {
    Comparison const c = compare(with_pattern({{1, 0}, {0.5, 0.5}}), with_pattern({{0.25, 0}, {0.25, 0.75}}));
    CHECK_FALSE(c.pattern[0].comparable());
    CHECK(c.pattern[1].comparable());
    CHECK_THAT(verdict(c), Contains("sharper in 1 of 2 rows") && Contains("left out are 1 of 2 rows"));
    CHECK_THAT(verdict_of({{1}}, {{0.5}}), Contains("the patterns are not comparable"));
}

TEST_CASE("a step that only one run has is named") {
    Trace const deeper = trace_of(deeper_case());
    Comparison const c = compare(trace_of(random_case()), deeper);
    CHECK(c.only_in_a == std::vector<Term>{terms::token_embedding, terms::position_embedding});
    CHECK(c.only_in_b.empty());
    CHECK_FALSE(c.same());
    CHECK_THAT(verdict(c), Contains("only A has 01_token_embedding, 02_position_embedding"));
}

TEST_CASE("the same pattern with other values is said to be the same pattern") {
    Case c = random_case();
    Trace const a = trace_of(c);
    c.b_v(0) += 1;
    Comparison const comparison = compare(a, trace_of(c), "one", "two");
    CHECK_THAT(verdict(comparison),
               Equals("the patterns are bit-identical; different are 07_v, 12_blend, 13_output_projection, "
                      "16_residual_after"));
}

TEST_CASE("traces without a pattern in both are not comparable in words") {
    Trace a = with_pattern({{1}});
    a.add(terms::residual_after, Matrix{{1}});
    Trace b;
    b.tokens = a.tokens;
    b.add(terms::residual_after, Matrix{{2}});
    CHECK_THAT(verdict(compare(a, b)), Contains("the patterns are not comparable") &&
                                           Contains("16_residual_after") &&
                                           Contains("only A has 11_softmax"));
}

TEST_CASE("other tokens or shapes are refused with what differs") {
    Trace const a = trace_of(random_case());
    CHECK_THROWS_AS(compare(a, trace_of(random_case(1, 4))), UsageError);
    CHECK_THROWS_WITH(compare(a, trace_of(random_case(1, 4))), Contains("A has 5 tokens, B has 4"));
    Trace other = a;
    other.tokens[2].id = 7;
    CHECK_THROWS_WITH(compare(a, other, "x", "y"), Contains("token 2 is 1 in x, 7 in y"));
    Trace narrow;
    narrow.tokens = a.tokens;
    narrow.add(terms::q, make_matrix(5, 3) * 0);
    CHECK_THROWS_WITH(compare(a, narrow), Contains("05_q is [5, 4] in A, [5, 3] in B"));
}

TEST_CASE("without the division, attention is sharper") {
    Trace const scaled = trace_of(random_case());
    Trace const unscaled = trace_of(with_experiment(random_case(), "unscaled"));
    CHECK_THAT(verdict(compare(scaled, unscaled, "scaled", "unscaled")),
               Contains("unscaled is sharper in 4 of 5"));
}
