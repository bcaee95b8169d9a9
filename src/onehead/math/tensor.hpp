// The two shapes that everything here is made of, and the one product between them.
// Values are float32, as in GPT-2. Every sum runs in double, in index order, and is rounded to float32 once.
// A product of two float32 is exact in double, so such a sum is the same on every machine.
#pragma once

#include <cfloat>
#include <cstddef>
#include <span>
#include <string_view>

#if __has_include(<xtensor/containers/xtensor.hpp>)  // since 0.26
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

namespace onehead {

static_assert(FLT_EVAL_METHOD == 0,
              "float arithmetic must be float arithmetic, or the bits differ between machines");

using Vector = xt::xtensor<float, 1>;  // owned
using Matrix = xt::xtensor<float, 2>;  // owned, row-major

inline std::size_t row_count(Matrix const& m) {
    return m.shape(0);
}
inline std::size_t column_count(Matrix const& m) {
    return m.shape(1);
}

// Row i of a matrix, as a view.
inline std::span<float const> row(Matrix const& m, std::size_t i) {
    return {m.data() + i * column_count(m), column_count(m)};
}
inline std::span<float> row(Matrix& m, std::size_t i) {
    return {m.data() + i * column_count(m), column_count(m)};
}

Matrix make_matrix(std::size_t rows, std::size_t columns);  // uninitialised

// Throw std::invalid_argument, which says the name, the shape expected and the shape found, for any other.
void expect_shape(std::string_view name, Matrix const& m, std::size_t rows, std::size_t columns);
void expect_shape(std::string_view name, Vector const& v, std::size_t size);

// What is multiplied. A row of the product depends on the same row of a alone, never on how many rows there
// are.
struct Product {
    Matrix const& a;                        // [n, inner]
    Matrix const& b;                        // [inner, m], as it lies in GPT-2's files: [in, out]
    std::span<float const> bias{};          // [m], or empty
    std::span<std::size_t const> depths{};  // [n]: row i sums over k < depths[i] only; empty: over all
};

// What a product is: three plain loops. product[i, j] = float(sum over k of a[i, k] * b[k, j] + bias[j]), the
// sum in double, k = 0, 1, 2, ..., the bias last. math/kernel computes the same bits faster.
Matrix multiply_plainly(Product const& product);  // [n, m]

// a [n, inner] times b [inner, m]: [n, m].
Matrix matmul(Matrix const& a, Matrix const& b);

// The same with a bias [m] added to each row's sum, last, in double.
Matrix matmul(Matrix const& a, Matrix const& b, Vector const& bias);

// The same without a bias, where row i sums over the first depths[i] of the inner index only: nothing beyond
// them is read.
Matrix matmul_to_depth(Matrix const& a, Matrix const& b, std::span<std::size_t const> depths);

}  // namespace onehead
