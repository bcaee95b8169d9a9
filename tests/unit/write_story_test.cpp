// The story of a row: what it says is so in the trace, and what does not apply is not said.
#include <catch2/catch.hpp>
#include <string>

#include "onehead/attention/head.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"
#include "support/random_case.hpp"

namespace onehead::test {
namespace {

std::string all_of(std::vector<Chapter> const& story) {
    std::string text;
    for (Chapter const& chapter : story) {
        for (std::string const& paragraph : chapter.before) text += paragraph + "\n";
        for (std::string const& paragraph : chapter.after) text += paragraph + "\n";
    }
    return text;
}

bool says(Trace const& trace, std::string const& words) {
    return all_of(tell_story(trace)).find(words) != std::string::npos;
}

Trace small_trace() {
    Trace trace = trace_of(random_case(1, 3), {{1, "a"}, {2, " b"}, {3, " c"}});
    trace.facts.row = 1;
    return trace;
}

}  // namespace

TEST_CASE("the story has every step once, in order") {
    Trace const trace = small_trace();
    std::vector<int> numbers;
    for (Chapter const& chapter : tell_story(trace))
        for (Term const& term : chapter.steps) numbers.push_back(term.number);
    std::vector<int> expected;
    for (Step const& step : trace.steps()) expected.push_back(step.term.number);
    CHECK(numbers == expected);
}

TEST_CASE("the story says what is masked, and what is not") {
    Trace trace = small_trace();
    CHECK(says(trace, "1 row comes later, whatever its score"));
    trace.facts.row = 2;
    CHECK(says(trace, "nothing comes later, and nothing is masked"));
    trace.facts.row = 0;
    CHECK(says(trace, "2 rows come later, whatever their scores"));
    CHECK(says(trace, "Row 0 'a' gives most to itself: 1."));
}

TEST_CASE("an experiment is told where it differs, and nowhere else") {
    Trace trace = small_trace();
    trace.facts.experiment = "unscaled";
    CHECK_FALSE(says(trace, "That is how GPT-2 does it"));
    trace.set_formula(terms::scaled_scores, "scores / 1");
    auto const story = tell_story(trace);
    REQUIRE(story.size() == 5);
    CHECK(story[2].before.back() ==
          "That is how GPT-2 does it. This run is the experiment \"unscaled\", and differs here: "
          "09_scaled_scores = scores / 1.");
    CHECK_FALSE(says(trace, "Undivided, the largest share"));
}

TEST_CASE("symbols are those that the formulas use") {
    Trace trace = small_trace();
    auto const names = [&] {
        std::string list;
        for (Symbol const& symbol : explain_symbols(trace)) list += std::string{symbol.name} + " ";
        return list;
    };
    CHECK(names().find("W_q ") != std::string::npos);
    CHECK(names().find("wte ") != std::string::npos);
    CHECK(names().find("MLP") == std::string::npos);
}

TEST_CASE("a window holds the row and no more than it may") {
    for (std::size_t n : {1U, 5U, 20U, 300U})
        for (std::size_t row = 0; row < n; row += 1 + n / 7) {
            Window const shown = window_around(row, n, 20);
            CHECK(shown.size() == std::min<std::size_t>(n, 20));
            CHECK(shown.holds(row));
            CHECK(shown.end <= n);
        }
}

TEST_CASE("shades run over the whole scale, ends included") {
    Scale const shares = Scale::shares(Matrix{{1, 0}, {0, 1}});
    CHECK(shares.name(0) == "p0");
    CHECK(shares.name(1) == "p8");
    CHECK(shares.name(0.5) == "p4");
    CHECK_FALSE(shares.cuts());
    std::vector<float> const values{-9, 0, 1, 9};
    Scale const both = Scale::around_zero(values);
    CHECK(both.name(0) == "z");
    CHECK(both.name(-100) == "n4");
    CHECK(both.name(100) == "u4");
    CHECK(both.from(both.last() + 1) == 9);
}

TEST_CASE("a scale of shares suits what rows give to their favourites") {
    CHECK(Scale::shares(Matrix{{0.03F, 0.02F}, {0.04F, 0.01F}}).from(9) == 0.05);
    CHECK(Scale::shares(Matrix{{0.3F, 0}, {0.4F, 0}}).from(9) == 0.5);
    CHECK(Scale::wider(Scale::shares(Matrix{{0.3F, 0}}), Scale::shares(Matrix{{1, 0}})).from(9) == 1);
}

}  // namespace onehead::test
