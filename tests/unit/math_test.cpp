// The arithmetic under the head: products, the exponential, threads.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "onehead/math/exp.hpp"
#include "onehead/math/kernel.hpp"
#include "onehead/math/parallel.hpp"
#include "onehead/math/tensor.hpp"
#include "support/each_kernel.hpp"
#include "support/matrices.hpp"

namespace onehead::test {

TEST_CASE("a row times a matrix takes the matrix as [in, out]") {
    CHECK((matmul(Matrix{{1, 0}}, Matrix{{1, 2}, {3, 4}}) == Matrix{{1, 2}}));
    CHECK((matmul(Matrix{{1, 2}}, Matrix{{1, 2}, {3, 4}}, Vector{10, 20}) == Matrix{{17, 30}}));
    CHECK_THROWS(matmul(Matrix{{1, 2, 3}}, Matrix{{1, 2}, {3, 4}}));
}

TEST_CASE("sums run in double and are rounded once") {
    // In float32, 1e8 + 1 is 1e8: a float sum would give 0.
    CHECK((matmul(Matrix{{1e8F, 1, -1e8F}}, Matrix{{1}, {1}, {1}}) == Matrix{{1}}));
    // In index order: the 1 is lost in 1e17 before -1e17 comes, as it is in a double sum from the left.
    CHECK((matmul(Matrix{{1, 1e17F, -1e17F}}, Matrix{{1}, {1}, {1}}) == Matrix{{0}}));
}

TEST_CASE("every kernel gives the bits of the plain loops, for every shape and thread count", "[threads]") {
    std::size_t const threads = thread_count();
    with_each_kernel([&](Kernel const& kernel) {
        // [n, inner, m], also one off what a tile, a block or a part of the inner index holds.
        for (auto const& [n, inner, m] : {std::array<std::size_t, 3>{1, 1, 1},
                                          {6, 64, 32},
                                          {7, 65, 33},
                                          {5, 192, 576},
                                          {13, 768, 100},
                                          {1, 33, 1037},
                                          {24, 32, 513},
                                          {25, 385, 65},
                                          {40, 300, 64},
                                          {193, 400, 31},
                                          {200, 3, 130},
                                          {12, 5, 1},
                                          {33, 130, 1},
                                          {70, 64, 2},
                                          {200, 65, 4},
                                          {96, 63, 6},
                                          {1000, 129, 7}}) {
            Matrix const a = random_matrix(n, inner, 1);
            Matrix const b = random_matrix(inner, m, 2);
            Vector const bias = xt::view(random_matrix(1, m, 3), 0, xt::all());
            std::vector<std::size_t> growing;
            std::vector<std::size_t> scattered;
            for (std::size_t i = 0; i < n; ++i) {
                growing.push_back(std::min(2 * i + 1, inner));
                scattered.push_back(i * 97 % (inner + 1));
            }
            for (std::size_t const count : {1U, 2U, 3U}) {
                set_thread_count(count);
                CAPTURE(kernel.name, n, inner, m, count);
                CHECK(bits(multiply({a, b})) == bits(multiply_plainly({a, b})));
                std::span<float const> const biases{bias.data(), bias.size()};
                CHECK(bits(multiply({a, b, biases})) == bits(multiply_plainly({a, b, biases})));
                for (auto const& depths : {growing, scattered})
                    CHECK(bits(multiply({a, b, {}, depths})) == bits(multiply_plainly({a, b, {}, depths})));
            }
        }
    });
    set_thread_count(threads);
}

TEST_CASE("a row of a product does not depend on how many rows there are") {
    Matrix const a = random_matrix(37, 192, 4);
    Matrix const b = random_matrix(192, 64, 5);
    Matrix const whole = matmul(a, b);
    for (std::size_t n = 1; n < 37; ++n)
        CHECK(bits(matmul(first_rows(a, n), b)) == bits(first_rows(whole, n)));
}

TEST_CASE("nothing beyond a row's depth is read") {
    float const nan = std::nanf("");
    Matrix const product = matmul_to_depth(Matrix{{1, 0, 0}, {.5F, .5F, 0}}, Matrix{{2}, {4}, {nan}},
                                           std::array<std::size_t, 2>{1, 2});
    CHECK((product == Matrix{{2}, {3}}));
    with_each_kernel([&](Kernel const& kernel) {
        Matrix values = random_matrix(500, 40, 6);  // of which the last row would spoil every sum
        for (float& value : row(values, 499)) value = nan;
        std::vector<std::size_t> const depths(30, 499);
        Matrix const weights = random_matrix(30, 500, 7);
        CAPTURE(kernel.name);
        CHECK(bits(multiply({weights, values, {}, depths})) ==
              bits(multiply_plainly({weights, values, {}, depths})));
    });
}

TEST_CASE("a product of nothing has the shape that it should have") {
    CHECK(row_count(matmul(make_matrix(0, 3), make_matrix(3, 2))) == 0);
    CHECK((matmul(make_matrix(2, 0), make_matrix(0, 2), Vector{1, 2}) == Matrix{{1, 2}, {1, 2}}));
    CHECK(column_count(matmul(random_matrix(100, 3, 1), make_matrix(3, 0))) == 0);
}

TEST_CASE("the exponential agrees with the library's") {
    double worst = 0;
    for (double x = -708; x < 709; x += 0.0137)
        worst = std::max(worst, std::fabs(exponential(x) / std::exp(x) - 1));
    CHECK(worst < 4e-16);  // two units in the last place
    CHECK(exponential(0) == 1);
    CHECK(exponential(8) == Approx(2980.957987041728).epsilon(1e-15));
    CHECK(exponential(-1e4) == 0);
    CHECK(exponential(-INFINITY) == 0);
    CHECK(exponential(710) == INFINITY);
    CHECK(std::isnan(exponential(NAN)));
}

TEST_CASE("exponentials side by side have the bits of one alone") {
    std::vector<double> values{0,   -0.0, -708,     708.9,     709,  710,  -708.1,
                               1e9, -1e9, INFINITY, -INFINITY, 1e-9, -745, NAN};
    for (double x = -750; x < 750; x += 0.0731) values.push_back(x);
    std::vector<double> together = values;
    exponentials(together);
    std::size_t different = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double const alone = exponential(values[i]);
        different += std::memcmp(&together[i], &alone, sizeof alone) != 0 ? 1U : 0U;
    }
    CHECK(different == 0);
}

TEST_CASE("ranges cover everything once, and an Error in a thread comes back to the caller", "[threads]") {
    set_thread_count(3);
    std::vector<int> seen(10);
    for_ranges(10, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ++seen[i];
    });
    CHECK(seen == std::vector<int>(10, 1));
    CHECK_THROWS_AS(for_ranges(10, 1,
                               [](std::size_t, std::size_t last) {
                                   if (last == 10) throw std::bad_alloc{};
                               }),
                    std::bad_alloc);
    set_thread_count(2);
}

}  // namespace onehead::test
