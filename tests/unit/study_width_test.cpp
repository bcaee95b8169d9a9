// Scores of made-up queries and keys spread by the root of the width, gaps by the root of twice the width.
#include <catch2/catch.hpp>
#include <cmath>

#include "onehead/study/statistics.hpp"

namespace onehead::test {

TEST_CASE("the spread of scores and gaps grows with the root of the width") {
    for (std::size_t const width : {4U, 64U, 1024U}) {
        WidthDeviations const seen = measure_width(width, 2000);
        auto const d = static_cast<double>(width);
        CHECK(seen.score == Approx(std::sqrt(d)).epsilon(0.05));  // 2000 samples: good to about 2 %
        CHECK(seen.gap == Approx(std::sqrt(2 * d)).epsilon(0.05));
    }
}

TEST_CASE("the made-up numbers are the same everywhere") {
    // From mt19937_64 written out by its definition in another language: one query, two keys.
    WidthDeviations const seen = measure_width(1, 1);
    CHECK(seen.score == Approx(1.430934291410683).epsilon(1e-14));
    CHECK(seen.gap == Approx(2.296256262113785).epsilon(1e-14));
}

}  // namespace onehead::test
