// The steps of a head on matrices that can be worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "onehead/attention/experiments.hpp"
#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "support/matrices.hpp"
#include "support/random_case.hpp"

namespace onehead::test {
namespace {

using Catch::Matchers::Contains;

float const inf = std::numeric_limits<float>::infinity();

void check_close(Matrix const& found, Matrix const& expected, double within) {
    REQUIRE(found.shape() == expected.shape());
    for (std::size_t at = 0; at < found.size(); ++at)
        CHECK(found.data()[at] == Approx(expected.data()[at]).margin(within));
}

// d_model 4, two heads; every weight is its own place.
AttentionWeights counting_block() {
    AttentionWeights block{.n_head = 2,
                           .ln_1 = {Vector{1, 1, 1, 1}, Vector{0, 0, 0, 0}, 1e-5},
                           .c_attn = make_matrix(4, 12),
                           .c_attn_bias = Vector::from_shape({12}),
                           .c_proj = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}},
                           .c_proj_bias = Vector{0, 0, 0, 0}};
    std::iota(block.c_attn.begin(), block.c_attn.end(), 0.0F);
    std::iota(block.c_attn_bias.begin(), block.c_attn_bias.end(), 100.0F);
    return block;
}

}  // namespace

TEST_CASE("LayerNorm takes the biased variance and puts epsilon under the root") {
    Vector const ones{1, 1, 1, 1};
    Matrix const normal = normalize(Matrix{{1, 0, 0, 0}, {3, 3, 3, 3}}, {ones, Vector{0, 0, 0, 0}, 1e-5});
    CHECK(normal(0, 0) == Approx(1.7320046).epsilon(1e-7));
    for (std::size_t d = 1; d < 4; ++d) CHECK(normal(0, d) == Approx(-0.5773349).epsilon(1e-6));
    for (std::size_t d = 0; d < 4; ++d) CHECK(normal(1, d) == 0);
    CHECK((normalize(Matrix{{3, 3, 3, 3}}, {ones, Vector{1, 2, 3, 4}, 1e-5}) == Matrix{{1, 2, 3, 4}}));
}

TEST_CASE("three rows of width two, from scores to blend") {
    Matrix const q{{1, 0}, {0, 1}, {1, 1}};
    Matrix const k{{1, 0}, {0, 2}, {1, 1}};
    Matrix const v{{1, 0}, {0, 1}, {2, 2}};
    Matrix const scores = dot_rows(q, k);
    CHECK((scores == Matrix{{1, 0, 1}, {0, 2, 1}, {1, 2, 2}}));
    Matrix const masked = mask(divide(scores, std::sqrt(2.0)), causal(3));
    CHECK(masked(0, 1) == -inf);
    CHECK(masked(1, 2) == -inf);
    Matrix const pattern = softmax(masked);
    check_close(pattern, Matrix{{1, 0, 0}, {.1955703F, .8044297F, 0}, {.1977758F, .4011121F, .4011121F}},
                1e-7);
    CHECK(pattern(0, 0) == 1);
    CHECK(pattern(0, 1) == 0);
    CHECK(pattern(1, 2) == 0);
    Matrix const blend = weigh_rows(pattern, v);
    CHECK(blend(2, 0) == Approx(1).margin(1e-7));
    CHECK(blend(2, 1) == Approx(1.2033362).margin(1e-7));
}

TEST_CASE("the mask masks: what it leaves alone gets a weight, what it sets to -inf gets none") {
    Matrix const scores{{1, 0, 1}, {0, 2, 1}, {1, 2, 2}};
    Matrix const everywhere = softmax(mask(scores, everything(3)));
    Matrix const causal_pattern = softmax(mask(scores, causal(3)));
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(everywhere(i, j) > 0);
            CHECK((causal_pattern(i, j) == 0) == (j > i));
        }
    // -inf anywhere, not only at the end; a finite number leaks.
    check_close(softmax(Matrix{{0, -inf, 0, -inf}}), Matrix{{.5F, 0, .5F, 0}}, 0);
    CHECK(softmax(mask(Matrix{{-10002, 7}}, {1}, -10000))(0, 1) == Approx(.8807970780).epsilon(1e-6));
}

TEST_CASE("a row that may read nothing reads nothing") {
    Matrix const pattern = softmax(mask(Matrix{{1, 2}, {3, 4}}, {0, 2}));
    CHECK((first_rows(pattern, 1) == Matrix{{0, 0}}));
    CHECK(pattern(1, 0) + pattern(1, 1) == Approx(1));
    CHECK((first_rows(weigh_rows(pattern, Matrix{{inf, 1}, {2, 3}}), 1) == Matrix{{0, 0}}));
}

TEST_CASE("masking after the softmax can leave a row without any weight") {
    // The later score is so large that the earlier one's weight is below the smallest float32.
    Matrix const pattern = softmax_then_mask(Matrix{{0, 3e5F}, {0, 0}});
    CHECK((pattern == Matrix{{0, 0}, {.5F, .5F}}));
    CHECK((weigh_rows(pattern, Matrix{{2, 4}, {4, 8}}) == Matrix{{0, 0}, {3, 6}}));
}

TEST_CASE("dividing by 8 softens the softmax; not dividing sharpens it") {
    Matrix const scores{{8, 16, 24}};
    check_close(softmax(divide(scores, 8)), Matrix{{.09003F, .24473F, .66524F}}, 1e-5);
    Matrix const sharp = softmax(scores);
    CHECK(sharp(0, 0) == Approx(1.125e-7).epsilon(1e-3));
    CHECK(sharp(0, 1) == Approx(3.354e-4).epsilon(1e-3));
    CHECK(sharp(0, 2) == Approx(.999665).margin(1e-6));
    CHECK((divide(Matrix{{8, 0.3F}}, 8) == Matrix{{1, 0.3F / 8}}));
}

TEST_CASE("large scores do not overflow the softmax") {
    check_close(softmax(Matrix{{89, 88}}), Matrix{{.7310586F, .2689414F}}, 1e-7);
    check_close(softmax(Matrix{{-10002, -inf}}), Matrix{{1, 0}}, 0);
    check_close(softmax(Matrix{{3e5F, -3e5F}}), Matrix{{1, 0}}, 0);
}

TEST_CASE("an infinity or a NaN in a later value row does not reach an earlier blend") {
    Matrix const pattern{{1, 0, 0}, {.5F, .5F, 0}, {.25F, .25F, .5F}};
    for (float const bad : {inf, -inf, std::nanf("")}) {
        Matrix const blend = weigh_rows(pattern, Matrix{{1, 2}, {3, 4}, {bad, bad}});
        CHECK((first_rows(blend, 2) == Matrix{{1, 2}, {2, 3}}));
        CHECK_FALSE(std::isfinite(blend(2, 0)));
    }
}

TEST_CASE("heads are cut from c_attn as all queries, all keys, all values") {
    Case const c = make_case(Matrix{{1, 2, 3, 4}}, counting_block(), 1);
    CHECK((first_rows(c.w_q, 1) == Matrix{{2, 3}}));
    CHECK((first_rows(c.w_k, 1) == Matrix{{6, 7}}));
    CHECK((first_rows(c.w_v, 1) == Matrix{{10, 11}}));
    CHECK(c.w_q(1, 0) == 14);
    CHECK((c.b_v == Vector{110, 111}));
    CHECK((c.w_o == Matrix{{9, 10, 11, 12}, {13, 14, 15, 16}}));
    CHECK(c.divisor == std::sqrt(2.0));
    CHECK_THROWS_WITH(make_case(Matrix{{1, 2, 3, 4}}, counting_block(), 2),
                      Contains("head: expected one from 0 to 1, found 2"));
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

TEST_CASE("a case is whole when it is made") {
    Case const c{.residual = {{1, 0, 0}, {0, 1, 0}},
                 .ln_1 = {.gain = {1, 1, 1}, .bias = {0, 0, 0}},
                 .w_q = {{1, 0}, {0, 1}, {1, 1}},
                 .w_k = {{1, 0}, {0, 2}, {1, 1}},
                 .w_v = {{1, 0}, {0, 1}, {2, 2}},
                 .b_q = {0, 0},
                 .b_k = {0, 0},
                 .b_v = {0, 0},
                 .w_o = {{1, 0, 0}, {0, 1, 0}},
                 .b_o = {0, 0, 0}};
    CHECK(c.divisor == std::sqrt(2.0));
    CHECK(c.visible == causal(2));
    CHECK_NOTHROW(trace_head(c, awkward_tokens(2)));
}

TEST_CASE("what does not fit together is refused, by name, before anything is read") {
    struct Fault {
        std::string expected;
        std::function<void(Case&)> make;
    };
    for (auto const& [expected, make] : {
             Fault{"normalize: expected a function", [](Case& c) { c.normalize = nullptr; }},
             Fault{"softmax: expected a function", [](Case& c) { c.softmax = nullptr; }},
             Fault{"visible: expected at most 5 for row 2, found 6", [](Case& c) { c.visible[2] = 6; }},
             Fault{"visible: expected a number for each of 5 rows, found 4",
                   [](Case& c) { c.visible = causal(4); }},
             Fault{"b_o: expected length 12, found 0", [](Case& c) { c.b_o = {}; }},
             Fault{"ln_1.gain: expected length 12, found 0", [](Case& c) { c.ln_1 = {}; }},
             Fault{"head: expected a place among 0 other_outputs, 0 to 0, found 1",
                   [](Case& c) { c.other_outputs.clear(); }},
             Fault{"head: expected a place among 2 other_outputs, 0 to 2, found 1000",
                   [](Case& c) { c.head = 1000; }},
             Fault{"b_q: expected length 4, found 3",
                   [](Case& c) {
                       c.b_q = {1, 2, 3};
                   }},
             Fault{"ln_1.bias: expected length 12, found 1", [](Case& c) { c.ln_1.bias = {1}; }},
             Fault{"w_k: expected shape [12, 4], found [12, 3]", [](Case& c) { c.w_k = make_matrix(12, 3); }},
             Fault{"w_o: expected shape [4, 12], found [4, 11]", [](Case& c) { c.w_o = make_matrix(4, 11); }},
             Fault{"other_outputs[1]: expected shape [5, 12], found [4, 12]",
                   [](Case& c) { c.other_outputs[1] = make_matrix(4, 12); }},
             Fault{"token_embedding: expected shape [5, 12]",
                   [](Case& c) { c.token_embedding = make_matrix(5, 1); }},
             Fault{"residual: expected at least one row", [](Case& c) { c.residual = {}; }},
             Fault{"divisor: expected a finite number other than 0", [](Case& c) { c.divisor = 0; }},
             Fault{"result of softmax: expected shape [5, 5], found [1, 5]",
                   [](Case& c) { c.softmax = [](Matrix const& m) { return first_rows(m, 1); }; }},
         }) {
        Case c = random_case();
        make(c);
        CHECK_THROWS_AS(trace_head(c, awkward_tokens(5)), std::invalid_argument);
        CHECK_THROWS_WITH(trace_head(c, awkward_tokens(5)), Contains(expected));
    }
    CHECK_THROWS_WITH(trace_head(Case{}, {}), Contains("residual: expected at least one row"));
    CHECK_THROWS_WITH(trace_head(random_case(), awkward_tokens(4)),
                      Contains("tokens: expected one for each of 5 rows, found 4"));
}

TEST_CASE("a layer that does not fit together is refused, by name") {
    struct Fault {
        std::string expected;
        std::function<void(AttentionWeights&)> make;
    };
    for (auto const& [expected, make] : {
             Fault{"n_head: expected a divisor of d_model, which is 12, found 0",
                   [](AttentionWeights& w) { w.n_head = 0; }},
             Fault{"n_head: expected a divisor of d_model, which is 12, found 5",
                   [](AttentionWeights& w) { w.n_head = 5; }},
             Fault{"c_attn: expected shape [12, 36], found [12, 35]",
                   [](AttentionWeights& w) { w.c_attn = make_matrix(12, 35); }},
             Fault{"c_attn_bias: expected length 36", [](AttentionWeights& w) { w.c_attn_bias = {}; }},
             Fault{"c_proj_bias: expected length 12", [](AttentionWeights& w) { w.c_proj_bias = {}; }},
             Fault{"ln_1.gain: expected length 12", [](AttentionWeights& w) { w.ln_1 = {}; }},
         }) {
        AttentionWeights block = random_attention(1);
        make(block);
        CHECK_THROWS_WITH(make_case(random_rows(1, 5), block, 1), Contains(expected));
        CHECK_THROWS_AS(after_attention(random_rows(1, 5), block), std::invalid_argument);
    }
    CHECK_THROWS_WITH(make_case(make_matrix(5, 11), random_attention(1), 1),
                      Contains("residual: expected shape [5, 12], found [5, 11]"));
    CHECK_THROWS_WITH(after_mlp(random_rows(1, 5), {}), Contains("residual: expected shape [5, 0]"));
}

TEST_CASE("an experiment that needs the layer's weights refuses a head on its own") {
    for (auto const* const name : {"wrong-slice", "transposed-output"}) {
        Case c = random_case();
        c.block = nullptr;
        CHECK_THROWS_AS(find_experiment(name).apply(c), std::invalid_argument);
    }
}

}  // namespace onehead::test
