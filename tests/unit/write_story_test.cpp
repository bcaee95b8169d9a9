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
        for (Inline const& paragraph : chapter.before) text += plain(paragraph) + "\n";
        for (Inline const& paragraph : chapter.after) text += plain(paragraph) + "\n";
    }
    return text;
}

bool says(Trace const& trace, std::string const& words) {
    return all_of(chapters(trace)).find(words) != std::string::npos;
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
    for (Chapter const& chapter : chapters(trace))
        for (Term const& term : chapter.steps) numbers.push_back(term.number);
    std::vector<int> expected;
    for (Step const& step : trace.steps()) expected.push_back(step.term.number);
    CHECK(numbers == expected);
}

TEST_CASE("the story says what is masked, and what is not") {
    Trace trace = small_trace();
    CHECK(says(trace, "One row comes later: 2 ' c', score "));
    trace.facts.row = 2;
    CHECK(says(trace, "nothing comes later, so nothing is masked"));
    trace.facts.row = 0;
    CHECK(says(trace, "2 rows come later; the highest score among them is "));
    CHECK(says(trace, "Row 0 'a' gives most weight to itself: 1."));
}

TEST_CASE("an experiment is told where it differs, and nowhere else") {
    Trace trace = small_trace();
    trace.facts.experiment = "unscaled";
    CHECK_FALSE(says(trace, "That is how GPT-2 does it"));
    trace.set_formula(terms::scaled_scores, "scores / 1");
    auto const story = chapters(trace);
    REQUIRE(story.size() == 5);
    CHECK(plain(story[2].before.back()) ==
          "That is how GPT-2 does it. This run is the experiment \"unscaled\", and differs here: "
          "09_scaled_scores = scores / 1.");
    CHECK_FALSE(says(trace, "Unscaled, the largest weight"));
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
    Scale const weights = Scale::weights();
    CHECK(weights.name(0) == "p0");
    CHECK(weights.name(1) == "p8");
    CHECK(weights.name(0.25) == "p4");  // its root is one half
    CHECK(weights.from(9) == 1);
    CHECK_FALSE(weights.cuts());
    std::vector<float> const values{-9, 0, 1, 9};
    Scale const both = Scale::around_zero(values);
    CHECK(both.name(0) == "z");
    CHECK(both.name(-100) == "n4");
    CHECK(both.name(100) == "u4");
    CHECK(both.from(both.last() + 1) == 9);
}

TEST_CASE("scores before and after the division are on one scale") {
    Trace const trace = small_trace();
    double const raw = Scale::of(trace, terms::scores).from(5);
    CHECK(Scale::of(trace, terms::scaled_scores).from(5) == raw);
    CHECK(Scale::of(trace, terms::masked_scores).from(5) == raw);
    CHECK(Scale::of(trace, terms::q).from(5) != raw);
}

TEST_CASE("a row without any weight is told as such") {
    Trace trace;
    trace.tokens = {{1, "a"}, {2, " b"}};
    trace.add(terms::softmax, Matrix{{1, 0}, {0, 0}});
    CHECK(plain(pattern_sentence(trace, 1)) ==
          "Row 1 ' b' gives no weight to any row: all its weights are 0.");
}

}  // namespace onehead::test
