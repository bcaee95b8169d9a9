#include "onehead/study/causality.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "onehead/error.hpp"
#include "random_case.hpp"

using namespace onehead;
using namespace onehead::test;
using Catch::Matchers::Contains;

namespace {

using Grid = std::vector<std::string>;

Tokens with_other_token(Tokens tokens, std::size_t pos) {
    tokens[pos] = {9999, "other"};
    return tokens;
}

Grid allowed_grid(Term const& term, std::size_t layer, std::size_t columns, std::size_t n_before = 5) {
    Tokens const after = n_before == 5 ? with_other_token(awkward_tokens(5), 2) : awkward_tokens(5);
    Change const change = find_change(awkward_tokens(n_before), after);
    Grid grid;
    for (std::size_t i = 0; i < 5; ++i) {
        grid.emplace_back();
        for (std::size_t j = 0; j < columns; ++j)
            grid.back() += may_change(term, layer, change, i, j) ? 'x' : '.';
    }
    return grid;
}

Case with_other_row(unsigned seed, std::size_t pos) {
    Matrix rows = random_rows(seed + 2000, 5);
    for (float& value : row(rows, pos)) value = -value;
    return case_of(rows, seed);
}

Case deeper_with_other_rows(unsigned seed, std::size_t first) {
    Matrix rows = random_rows(seed + 2000, 5);
    for (std::size_t i = first; i < 5; ++i)
        for (float& value : row(rows, i)) value = -value;
    return make_case(rows, random_attention(seed), this_head);
}

// A letter a row: identical, changed, Broken, new.
std::string letters(Causality const& result, Term const& term) {
    std::string text;
    for (StepVerdict const& step : result.steps)
        if (step.term == term)
            for (RowVerdict const& row : step.rows)
                text += row.broken() ? 'B' : row.is_new ? 'n' : row.identical() ? '.' : 'c';
    return text;
}

// The same trace with one step's values changed.
Trace with_values(Trace const& trace, Term const& term, void (*change)(Matrix&)) {
    Trace result;
    result.tokens = trace.tokens;
    result.facts = trace.facts;
    for (Step const& step : trace.steps()) {
        Matrix values = step.values;
        if (step.term == term) change(values);
        result.add(step.term, values);
    }
    return result;
}

Trace before_change() {
    return trace_of(random_case());
}

Trace after_change(std::size_t pos = 2) {
    return trace_of(with_other_row(1, pos), with_other_token(awkward_tokens(5), pos));
}

}  // namespace

TEST_CASE("what a word at position 2 of 5 may change in the first block") {
    Grid const row_2{"...", "...", "xxx", "...", "..."};
    Grid const from_2{"...", "...", "xxx", "xxx", "xxx"};
    Grid const nothing{"...", "...", "...", "...", "..."};
    CHECK(allowed_grid(terms::token_embedding, 0, 3) == row_2);
    CHECK(allowed_grid(terms::position_embedding, 0, 3) == nothing);
    for (auto const& term : {terms::residual, terms::normalized, terms::q, terms::k, terms::v})
        CHECK(allowed_grid(term, 0, 3) == row_2);
    for (auto const& term : {terms::scores, terms::scaled_scores})
        CHECK(allowed_grid(term, 0, 5) == Grid{"..x..", "..x..", "xxxxx", "..x..", "..x.."});
    CHECK(allowed_grid(terms::masked_scores, 0, 5) == Grid{".....", ".....", "xxxxx", "..x..", "..x.."});
    for (auto const& term :
         {terms::softmax, terms::blend, terms::output_projection, terms::other_heads, terms::residual_after})
        CHECK(allowed_grid(term, 0, 3) == from_2);
    CHECK(allowed_grid(terms::projection_bias, 0, 3) == nothing);
}

TEST_CASE("what a word at position 2 of 5 may change in a deeper block") {
    Grid const from_2{"...", "...", "xxx", "xxx", "xxx"};
    for (auto const& term :
         {terms::residual, terms::normalized, terms::q, terms::k, terms::v, terms::masked_scores,
          terms::softmax, terms::blend, terms::output_projection, terms::other_heads, terms::residual_after})
        CHECK(allowed_grid(term, 3, 3) == from_2);
    for (auto const& term : {terms::scores, terms::scaled_scores})
        CHECK(allowed_grid(term, 3, 5) == Grid{"..xxx", "..xxx", "xxxxx", "xxxxx", "xxxxx"});
    CHECK(allowed_grid(terms::projection_bias, 3, 3) == Grid(5, "..."));
}

TEST_CASE("two appended words may change nothing before them but unmasked scores with them") {
    Grid const from_3{"...", "...", "...", "xxx", "xxx"};
    for (std::size_t const layer : {0U, 3U}) {
        for (auto const& term : {terms::position_embedding, terms::residual, terms::q, terms::softmax,
                                 terms::blend, terms::residual_after})
            CHECK(allowed_grid(term, layer, 3, 3) == from_3);
        CHECK(allowed_grid(terms::scores, layer, 5, 3) == Grid{"...xx", "...xx", "...xx", "xxxxx", "xxxxx"});
    }
    CHECK(allowed_grid(terms::masked_scores, 0, 5, 3) == Grid{".....", ".....", ".....", "xxxxx", "xxxxx"});
}

TEST_CASE("a changed word in the first block does what it may and no more") {
    Causality const result = check_causality(before_change(), after_change());
    CHECK(result.holds());
    CHECK(result.change.first() == 2);
    CHECK(result.steps.size() == 16);
    CHECK(letters(result, terms::token_embedding) == "..c..");
    CHECK(letters(result, terms::position_embedding) == ".....");
    CHECK(letters(result, terms::q) == "..c..");
    CHECK(letters(result, terms::scores) == "ccccc");
    CHECK(letters(result, terms::masked_scores) == "..ccc");
    CHECK(letters(result, terms::softmax) == "..ccc");
    CHECK(letters(result, terms::blend) == "..ccc");
    CHECK(letters(result, terms::projection_bias) == ".");
    CHECK(letters(result, terms::residual_after) == "..ccc");
}

TEST_CASE("how much a row changed is told") {
    Causality const result = check_causality(before_change(), after_change());
    StepVerdict const& step = result.steps.front();
    REQUIRE(step.term == terms::token_embedding);
    Matrix const rows = random_rows(2001, 5);
    float largest = 0;
    for (float const value : row(rows, 2)) largest = std::max(largest, 2 * std::fabs(value));
    CHECK(step.rows[2].allowed.largest == largest);
    CHECK(step.rows[2].allowed.row == 2);
    CHECK(step.rows[1].allowed.cells + step.rows[1].forbidden.cells == d_model);
}

TEST_CASE("a changed word in a deeper block") {
    Trace const before = trace_of(deeper_case(), 3);
    Trace const after = trace_of(deeper_with_other_rows(1, 2), with_other_token(awkward_tokens(5), 2), 3);
    Causality const result = check_causality(before, after);
    CHECK(result.holds());
    CHECK(letters(result, terms::residual) == "..ccc");
    CHECK(letters(result, terms::scores) == "ccccc");
    CHECK(letters(result, terms::blend) == "..ccc");
    // The same change is too much for the first block, where only row 2 may change on arrival.
    Causality const as_layer_0 =
        check_causality(trace_of(deeper_case()),
                        trace_of(deeper_with_other_rows(1, 2), with_other_token(awkward_tokens(5), 2)));
    CHECK_FALSE(as_layer_0.holds());
    CHECK(letters(as_layer_0, terms::residual) == "..cBB");
}

TEST_CASE("appended words leave all earlier rows alone") {
    for (std::size_t const layer : {0U, 3U}) {
        auto const run = [&](std::size_t n_seq) {
            return trace_of(layer == 0 ? random_case(1, n_seq) : deeper_case(1, n_seq), layer);
        };
        Causality const result = check_causality(run(5), run(7));
        CHECK(result.holds());
        CHECK(result.change.first() == 5);
        for (StepVerdict const& step : result.steps)
            CHECK(letters(result, step.term) == (step.term == terms::projection_bias ? "." : ".....nn"));
    }
}

TEST_CASE("the same text changes nothing") {
    Causality const result = check_causality(before_change(), before_change());
    CHECK(result.holds());
    CHECK(result.change.first() == 5);
    for (StepVerdict const& step : result.steps)
        for (RowVerdict const& row : step.rows) CHECK(row.identical());
}

TEST_CASE("one last bit in a blend that must not move is caught") {
    Trace const leaking =
        with_values(after_change(), terms::blend, [](Matrix& m) { m(1, 3) = std::nextafter(m(1, 3), 9.0F); });
    Causality const result = check_causality(before_change(), leaking);
    CHECK_FALSE(result.holds());
    CHECK(letters(result, terms::blend) == ".Bccc");
    for (StepVerdict const& step : result.steps)
        if (step.term == terms::blend) {
            CHECK(step.rows[1].forbidden.column == 3);
            CHECK(step.rows[1].forbidden.cells - step.rows[1].forbidden.identical == 1);
            CHECK(step.rows[1].forbidden.largest > 0);
            CHECK(step.rows[1].forbidden.largest < 1e-6);
        }
}

TEST_CASE("a head without a mask is caught, also when words are appended") {
    auto const run = [](Case const& c, Tokens const& tokens) {
        Trace trace = trace_of(with_experiment(c, "unmasked"), tokens);
        trace.facts.experiment = "unmasked";
        return trace;
    };
    Causality const changed =
        check_causality(run(random_case(), awkward_tokens(5)),
                        run(with_other_row(1, 2), with_other_token(awkward_tokens(5), 2)));
    CHECK(letters(changed, terms::masked_scores) == "BBccc");
    CHECK(letters(changed, terms::softmax) == "BBccc");
    Causality const appended =
        check_causality(run(random_case(), awkward_tokens(5)), run(random_case(1, 6), awkward_tokens(6)));
    CHECK(letters(appended, terms::scores) == ".....n");
    CHECK(letters(appended, terms::masked_scores) == "BBBBBn");
    CHECK(letters(appended, terms::softmax) == "BBBBBn");
}

TEST_CASE("a share for a row that was appended is caught though there is nothing to compare it with") {
    Trace const leaking =
        with_values(trace_of(random_case(1, 6)), terms::softmax, [](Matrix& m) { m(1, 5) = 1e-30F; });
    CHECK(letters(check_causality(before_change(), leaking), terms::softmax) == ".B...n");
}

TEST_CASE("a trace without its tokens is refused before anything is read") {
    Trace without = after_change();
    without.tokens.clear();
    CHECK_THROWS_AS(check_causality(before_change(), without), std::invalid_argument);
    CHECK_THROWS_AS(check_causality(without, before_change()), std::invalid_argument);
}

TEST_CASE("when positions shift there is no row by row") {
    Tokens const before = awkward_tokens(5);
    Tokens longer = before;
    longer.insert(longer.begin() + 1, {9999, "other"});
    CHECK_THROWS_AS(find_change(before, longer), UsageError);
    CHECK_THROWS_WITH(find_change(before, longer), Contains("5 tokens before") && Contains("6 after"));
    CHECK_THROWS_AS(find_change(before, awkward_tokens(4)), UsageError);
}

TEST_CASE("runs of different heads are refused") {
    Trace other = after_change();
    other.facts.head = 2;
    CHECK_THROWS_WITH(check_causality(before_change(), other),
                      Contains("layer 0, head 1 of random") && Contains("head 2"));
    other = after_change();
    other.facts.experiment = "unscaled";
    CHECK_THROWS_AS(check_causality(before_change(), other), UsageError);
}
