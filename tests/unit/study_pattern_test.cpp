// What a row of the pattern amounts to, and what each head of a model does, on patterns that can be worked
// out by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "onehead/study/statistics.hpp"
#include "onehead/study/survey.hpp"

namespace onehead::test {
namespace {

// Tokens 5 7 5 7: rows 2 and 3 have seen their token before.
Matrix const pattern{{1, 0, 0, 0}, {.75F, .25F, 0, 0}, {.25F, .5F, .25F, 0}, {0, .125F, .75F, .125F}};
std::vector<int> const ids{5, 7, 5, 7};

}  // namespace

TEST_CASE("a row that reads n rows equally reads n rows in effect") {
    PatternRow const even = describe_pattern_row(std::vector<float>{.25F, .25F, .25F, .25F, 0});
    CHECK(even.effective_rows == Approx(4));
    CHECK(even.entropy == Approx(std::log(4.0)));
    PatternRow const single = describe_pattern_row(std::vector<float>{0, 1, 0});
    CHECK(single.effective_rows == 1);
    CHECK(single.favourite == 1);
    CHECK(single.largest == 1);
}

TEST_CASE("sums and zeros of a whole pattern") {
    PatternSums const good = sum_pattern(pattern);
    CHECK(good.worst_sum == 0);
    CHECK(good.later == 6);
    CHECK(good.exact_zeros == 6);
    PatternSums const leaky = sum_pattern(Matrix{{.5F, .25F}, {.5F, .5F}});
    CHECK(leaky.worst_sum == .25);
    CHECK(leaky.exact_zeros == 0);
}

TEST_CASE("the survey of a head is a mean over rows 1 and later") {
    Matrix const scores{{1, 9, 9, 9}, {1, 1, 9, 9}, {1, 1, 1, 9}, {1, 1, 1, 11}};
    HeadSurvey const seen = survey_head(scores, pattern, ids);
    CHECK(seen.self == Approx((.25 + .25 + .125) / 3));
    CHECK(seen.previous == Approx((.75 + .5 + .75) / 3));
    CHECK(seen.first == Approx((.75 + .25 + 0) / 3));
    CHECK(seen.induction ==
          Approx((.5 + .75) / 2));  // row 2 on row 1, row 3 on row 2: what followed last time
    CHECK(seen.duplicate == Approx((.25 + .125) / 2));  // row 2 on row 0, row 3 on row 1
    CHECK(seen.strongest == .75);
    CHECK(seen.query == 3);
    CHECK(seen.key == 2);                      // row 0 does not count
    CHECK(seen.score_deviation == Approx(3));  // nine times 1 and once 11: mean 2, variance (9 + 81) / 10
}

TEST_CASE("figures of a list") {
    std::vector<float> const values{3, 4};
    CHECK(sum(values) == 7);
    CHECK(mean(values) == 3.5);
    CHECK(standard_deviation(values) == .5);
    CHECK(norm(values) == 5);
    CHECK(cosine_similarity(values, std::vector<float>{-4, 3}) == 0);
    CHECK(cosine_similarity(values, std::vector<float>{6, 8}) == Approx(1));
    CHECK(cosine_similarity(values, std::vector<float>{0, 0}) == 0);
}

}  // namespace onehead::test
