#include "onehead/study/worked.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>

#include "onehead/error.hpp"
#include "random_case.hpp"

using namespace onehead;
using namespace onehead::test;
using Catch::Matchers::Contains;

namespace {

// The field's worked example: width 2, queries and keys given.
Trace small_trace() {
    Trace trace;
    trace.tokens = awkward_tokens(3);
    trace.add(terms::q, {{1, 0}, {0, 1}, {1, 1}});
    trace.add(terms::k, {{1, 0}, {0, 2}, {1, 1}});
    trace.add(terms::v, {{1, 0}, {0, 1}, {2, 2}});
    trace.add(terms::scores, {{1, 0, 1}, {0, 2, 1}, {1, 2, 2}});
    float const root = std::sqrt(2.0F);
    float const inf = std::numeric_limits<float>::infinity();
    trace.add(terms::masked_scores,
              {{1 / root, -inf, -inf}, {0, 2 / root, -inf}, {1 / root, 2 / root, 2 / root}});
    trace.add(terms::softmax, {{1, 0, 0}, {.1955703F, .8044297F, 0}, {.1977758F, .4011121F, .4011121F}});
    trace.add(terms::blend, {{1, 0}, {.1955703F, .8044297F}, {1, 1.2033362F}});
    return trace;
}

// A head whose weights nobody asks for.
Case case_on(Matrix residual, LayerNorm ln_1) {
    std::size_t const d_model = column_count(residual);
    Matrix const narrow = xt::zeros<float>({d_model, std::size_t{2}});
    return {.residual = std::move(residual),
            .ln_1 = std::move(ln_1),
            .w_q = narrow,
            .w_k = narrow,
            .w_v = narrow,
            .b_q = {0, 0},
            .b_k = {0, 0},
            .b_v = {0, 0},
            .w_o = xt::transpose(narrow),
            .b_o = xt::zeros<float>({d_model})};
}

Case small_case() {
    return case_on({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {Vector{1, 1, 1}, Vector{0, 0, 0}, 1e-5});
}

void check_all_cells(Case const& c, Trace const& trace) {
    for (Step const& step : trace.steps())
        for (std::size_t i = 0; i < row_count(step.values); ++i)
            for (std::size_t j = 0; j < column_count(step.values); ++j) {
                Worked const worked = work_out(c, trace, step.term, i, j);
                INFO(step.term.name << " " << i << " " << j);
                CHECK(worked.agrees());
                CHECK(worked.lines.back().value == static_cast<double>(worked.in_trace));
                CHECK_FALSE(worked.says.empty());
            }
}

}  // namespace

TEST_CASE("a score: the products in order, with their running sum") {
    Worked const worked = work_out(small_case(), small_trace(), terms::scores, 2, 1);
    REQUIRE(worked.lines.size() == 3);
    CHECK(worked.lines[0].what == "q[0] * k[0]");
    CHECK(worked.lines[0].left == 1.0);
    CHECK(worked.lines[0].right == 0.0);
    CHECK(worked.lines[0].running == 0.0);
    CHECK(worked.lines[1].left == 1.0);
    CHECK(worked.lines[1].right == 2.0);
    CHECK(worked.lines[1].value == 2.0);
    CHECK(worked.lines[1].running == 2.0);
    CHECK(worked.lines[2].what == "rounded to float32");
    CHECK(worked.lines[2].value == 2.0);
    CHECK(worked.result == 2);
    CHECK(worked.agrees());
}

TEST_CASE("a softmax: largest, differences, exponentials, sum, quotient") {
    Worked const worked = work_out(small_case(), small_trace(), terms::softmax, 1, 1);
    REQUIRE(worked.lines.size() == 7);
    CHECK(worked.lines[0].value == Approx(1.4142136));  // the largest
    CHECK(worked.lines[1].value == Approx(-1.4142136));
    CHECK(worked.lines[2].value == Approx(0.2431167));  // e to that
    CHECK(worked.lines[3].value == 0);
    CHECK(worked.lines[4].value == 1);
    CHECK(worked.lines[4].running.value() == Approx(1.2431167));
    CHECK(worked.lines[5].value == Approx(0.8044297));
    CHECK(worked.result == Approx(0.8044297F));
}

TEST_CASE("a blend stops at the last row that may be read") {
    Worked const worked = work_out(small_case(), small_trace(), terms::blend, 1, 1);
    REQUIRE(worked.lines.size() == 3);  // two products, and the rounding
    CHECK(worked.lines[0].value == 0);
    CHECK(worked.lines[1].left.value() == Approx(.8044297));
    CHECK(worked.lines[1].running.value() == Approx(.8044297));
    CHECK(work_out(small_case(), small_trace(), terms::blend, 2, 1).result == Approx(1.2033362F));
}

TEST_CASE("a normalized value goes over mean, variance and root") {
    // [1, 0, 0, 0] with epsilon 1e-5: mean 0.25, variance 0.1875, values 1.7320046 and -0.5773349.
    Case const c = case_on({{1, 0, 0, 0}}, {Vector{1, 1, 1, 1}, Vector{0, 0, 0, 0}, 1e-5});
    Trace trace;
    trace.tokens = awkward_tokens(1);
    trace.add(terms::normalized, Matrix{{1.7320046F, -0.5773349F, -0.5773349F, -0.5773349F}});
    Worked const worked = work_out(c, trace, terms::normalized, 0, 0);
    CHECK(worked.lines[4].value == 0.25);
    CHECK(worked.lines[9].value == 0.1875);
    CHECK(worked.result == Approx(1.7320046F).epsilon(1e-7));
    CHECK(work_out(c, trace, terms::normalized, 0, 3).result == Approx(-0.5773349F).epsilon(1e-7));
}

TEST_CASE("every number of a trace is worked out to the bit") {
    check_all_cells(random_case(), trace_of(random_case()));
    check_all_cells(deeper_case(7), trace_of(deeper_case(7), 3));
}

TEST_CASE("every number of every experiment is worked out to the bit") {
    for (Experiment const& experiment : experiments()) {
        INFO(std::string{experiment.name});
        Case const changed = with_experiment(random_case(3), experiment.name);
        check_all_cells(changed, trace_of_experiment(changed, experiment.name));
    }
}

TEST_CASE("a row without any weight is worked out, and said to take nothing home") {
    Case c = random_case(3);
    for (float& value : c.w_q) value *= 1e6F;
    c = with_experiment(c, "masked-after-softmax");
    Trace const trace = trace_of(c);
    std::size_t empty_rows = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        auto const weights = row(trace[terms::softmax], i);
        if (std::count(weights.begin(), weights.end(), 0.0F) != 5) continue;
        ++empty_rows;
        Worked const worked = work_out(c, trace, terms::blend, i, 0);
        CHECK(worked.agrees());
        CHECK_THAT(worked.says, Contains("gives no row any weight"));
    }
    CHECK(empty_rows > 0);
    check_all_cells(c, trace);
}

TEST_CASE("a case or a trace that does not fit is refused before anything is read") {
    Trace const trace = trace_of(random_case());
    Case c = random_case();
    c.visible.clear();
    CHECK_THROWS_AS(work_out(c, trace, terms::softmax, 1, 1), std::invalid_argument);
    CHECK_THROWS_AS(work_out(random_case(1, 4), trace, terms::softmax, 1, 1), std::invalid_argument);
    Trace no_tokens = trace;
    no_tokens.tokens.clear();
    CHECK_THROWS_WITH(work_out(random_case(), no_tokens, terms::q, 0, 0),
                      Contains("tokens: expected one for each of 5 rows"));
    c = random_case();
    c.normalize = [](Matrix const& rows, LayerNorm const&) { return rows; };
    CHECK_THROWS_WITH(work_out(c, trace, terms::normalized, 0, 0), Contains("normalize: expected one of"));
}

TEST_CASE("200 random numbers of long texts are worked out to the bit") {
    Random random{5};
    for (int time = 0; time < 200; ++time) {
        auto const seed = static_cast<unsigned>(100 + random.below(5));
        Case const c = random_case(seed, 20 + random.below(20));
        Trace const trace = trace_of(c);
        Step const& step = trace.steps()[random.below(trace.steps().size())];
        Worked const worked = work_out(c, trace, step.term, random.below(row_count(step.values)),
                                       random.below(column_count(step.values)));
        CHECK(worked.agrees());
    }
}

TEST_CASE("rows of an excerpt that are right up to a shift can be worked from") {
    Case c = random_case();
    c.residual_is_exact = false;
    check_all_cells(c, trace_of(c));
    CHECK_THROWS_AS(work_out(c, trace_of(c), terms::residual, 0, 0), UsageError);
}

TEST_CASE("a number that is not the head's own is seen not to agree") {
    Trace wrong;
    wrong.tokens = awkward_tokens(3);
    wrong.add(terms::q, {{1, 0}, {0, 1}, {1, 1}});
    wrong.add(terms::k, {{1, 0}, {0, 2}, {1, 1}});
    wrong.add(terms::scores, {{1, 0, 1}, {0, 2, 1}, {1, std::nextafter(2.0F, 3.0F), 2}});
    CHECK_FALSE(work_out(small_case(), wrong, terms::scores, 2, 1).agrees());
}

TEST_CASE("learned numbers say where they lie in the file") {
    Trace const trace = trace_of(random_case());
    CHECK_THAT(work_out(random_case(), trace, terms::token_embedding, 1, 3).says,
               Contains("wte.weight, row 11, column 3: number 135"));
    CHECK_THAT(work_out(random_case(), trace, terms::position_embedding, 1, 3).says,
               Contains("wpe.weight, row 1, column 3: number 15"));
    CHECK_THAT(work_out(random_case(), trace, terms::projection_bias, 0, 3).says,
               Contains("h.0.attn.c_proj.bias, number 3"));
}

TEST_CASE("heads are added in their order, this one in its place") {
    Worked const worked = work_out(random_case(), trace_of(random_case()), terms::residual_after, 2, 3);
    REQUIRE(worked.lines.size() == 6);
    CHECK(worked.lines[0].what == "residual");
    CHECK(worked.lines[1].what == "head 0");
    CHECK(worked.lines[2].what == "head 1, this one");
    CHECK(worked.lines[3].what == "head 2");
    CHECK(worked.lines[4].what == "b_o[3]");
}

TEST_CASE("places that a step does not have are refused") {
    Trace const trace = trace_of(random_case());
    CHECK_THROWS_AS(work_out(random_case(), trace, terms::q, 5, 0), UsageError);
    CHECK_THROWS_WITH(work_out(random_case(), trace, terms::q, 0, 4),
                      Contains("05_q has no column 4; choose one from 0 to 3"));
    CHECK_THROWS_WITH(work_out(random_case(), trace, terms::projection_bias, 1, 0), Contains("no row 1"));
    CHECK_THROWS_WITH(work_out(deeper_case(), trace_of(deeper_case(), 3), terms::token_embedding, 0, 0),
                      Contains("only layer 0 has embeddings"));
}
