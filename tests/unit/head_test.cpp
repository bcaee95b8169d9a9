// The steps of a head on matrices that can be worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "support/matrices.hpp"

namespace onehead::test {
namespace {

float const inf = std::numeric_limits<float>::infinity();

void check_close(Matrix const& found, Matrix const& expected, double within) {
    REQUIRE(found.shape() == expected.shape());
    for (std::size_t at = 0; at < found.size(); ++at)
        CHECK(found.data()[at] == Approx(expected.data()[at]).margin(within));
}

}  // namespace

TEST_CASE("three rows of width two, from scores to blend") {
    Matrix const q{{1, 0}, {0, 1}, {1, 1}};
    Matrix const k{{1, 0}, {0, 2}, {1, 1}};
    Matrix const v{{1, 0}, {0, 1}, {2, 2}};
    Matrix const scores = dot_rows(q, k);
    CHECK((scores == Matrix{{1, 0, 1}, {0, 2, 1}, {1, 2, 2}}));
    Matrix const masked = mask(divide(scores, std::sqrt(2.0)), causal(3));
    CHECK(masked(0, 1) == -inf);
    CHECK(masked(1, 2) == -inf);
    Matrix const pattern = softmax(masked, causal(3));
    check_close(pattern, Matrix{{1, 0, 0}, {.1955703F, .8044297F, 0}, {.1977758F, .4011121F, .4011121F}},
                1e-7);
    CHECK(pattern(0, 0) == 1);
    CHECK(pattern(0, 1) == 0);
    CHECK(pattern(1, 2) == 0);
    Matrix const blend = weigh_rows(pattern, v, causal(3));
    CHECK(blend(2, 0) == Approx(1).margin(1e-7));
    CHECK(blend(2, 1) == Approx(1.2033362).margin(1e-7));
}

TEST_CASE("dividing by 8 softens the softmax; not dividing sharpens it") {
    Matrix const scores{{8, 16, 24}};
    check_close(softmax(divide(scores, 8), {3}), Matrix{{.09003F, .24473F, .66524F}}, 1e-5);
    Matrix const sharp = softmax(scores, {3});
    CHECK(sharp(0, 0) == Approx(1.125e-7).epsilon(1e-3));
    CHECK(sharp(0, 1) == Approx(3.354e-4).epsilon(1e-3));
    CHECK(sharp(0, 2) == Approx(.999665).margin(1e-6));
    CHECK((divide(Matrix{{8, 0.3F}}, 8) == Matrix{{1, 0.3F / 8}}));
}

TEST_CASE("large scores do not overflow the softmax") {
    check_close(softmax(Matrix{{89, 88}}, {2}), Matrix{{.7310586F, .2689414F}}, 1e-7);
    check_close(softmax(Matrix{{-10002, -inf}}, {2}), Matrix{{1, 0}}, 0);
    check_close(softmax(Matrix{{3e5F, -3e5F}}, {2}), Matrix{{1, 0}}, 0);
}

TEST_CASE("an infinity or a NaN in a later value row does not reach an earlier blend") {
    Matrix const pattern{{1, 0, 0}, {.5F, .5F, 0}, {.25F, .25F, .5F}};
    Matrix const blend = weigh_rows(pattern, Matrix{{1, 2}, {3, 4}, {inf, std::nanf("")}}, causal(3));
    CHECK((first_rows(blend, 2) == Matrix{{1, 2}, {2, 3}}));
    CHECK(blend(2, 0) == inf);
}

TEST_CASE("heads are cut from c_attn as all queries, all keys, all values") {
    AttentionWeights block;
    block.n_head = 2;
    block.c_attn = Matrix{{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}};
    block.c_attn_bias = Vector{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
    block.c_proj = Matrix{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
    HeadWeights const head = cut_head(block, 1);
    CHECK((head.w_q == Matrix{{2, 3}}));
    CHECK((head.w_k == Matrix{{12, 13}}));
    CHECK((head.w_v == Matrix{{22, 23}}));
    CHECK((head.b_v == Vector{22, 23}));
    CHECK((head.w_o == Matrix{{9, 10, 11, 12}, {13, 14, 15, 16}}));
    CHECK_THROWS(cut_head(block, 2));
}

TEST_CASE("heads and bias are added to the residual row in one double sum") {
    Matrix const residual{{1, 2}};
    Matrix const first{{10, 20}};
    Matrix const second{{100, 200}};
    CHECK((add_heads(residual, {&first, &second}, Vector{1000, 2000}) == Matrix{{1111, 2222}}));
    // 1e8 + 1 - 1e8 is 0 in float32, 1 in double.
    Matrix const large{{1e8F}};
    Matrix const small{{1}};
    CHECK((add_heads(large, {&small}, Vector{-1e8F}) == Matrix{{1}}));
}

TEST_CASE("GELU does not cancel where x is negative") {
    // Expected values: the formula with 50 decimal digits (Python's decimal).
    CHECK(gelu(0) == 0);
    CHECK(gelu(1) == Approx(0.84119199060827670).epsilon(1e-14));
    CHECK(gelu(-1) == Approx(-0.15880800939172330).epsilon(1e-14));
    CHECK(gelu(-5) == Approx(-2.2917961966295061e-07).epsilon(1e-12));
    CHECK(gelu(-40) == 0);
    CHECK(gelu(40) == 40);
}

}  // namespace onehead::test
