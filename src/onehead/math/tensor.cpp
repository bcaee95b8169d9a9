#include "onehead/math/tensor.hpp"

#include <fmt/format.h>
#include <stdexcept>

#include "onehead/math/kernel.hpp"

namespace onehead {

namespace {

void expect_fitting(Matrix const& a, Matrix const& b) {
    if (column_count(a) != row_count(b)) throw std::invalid_argument("matmul: inner sizes differ");
}

}  // namespace

Matrix make_matrix(std::size_t rows, std::size_t columns) {
    return Matrix::from_shape({rows, columns});
}

Matrix multiply_plainly(Product const& p) {
    Matrix product = make_matrix(row_count(p.a), column_count(p.b));
    for (std::size_t i = 0; i < row_count(p.a); ++i) {
        std::size_t const depth = p.depths.empty() ? column_count(p.a) : p.depths[i];
        for (std::size_t j = 0; j < column_count(p.b); ++j) {
            double sum = 0;
            for (std::size_t k = 0; k < depth; ++k)
                sum += static_cast<double>(p.a(i, k)) * static_cast<double>(p.b(k, j));
            product(i, j) = static_cast<float>(p.bias.empty() ? sum : sum + static_cast<double>(p.bias[j]));
        }
    }
    return product;
}

void expect_shape(std::string_view name, Matrix const& m, std::size_t rows, std::size_t columns) {
    if (row_count(m) != rows || column_count(m) != columns)
        throw std::invalid_argument(fmt::format("{}: expected shape [{}, {}], found [{}, {}]", name, rows,
                                                columns, row_count(m), column_count(m)));
}

void expect_shape(std::string_view name, Vector const& v, std::size_t size) {
    if (v.size() != size)
        throw std::invalid_argument(fmt::format("{}: expected length {}, found {}", name, size, v.size()));
}

Matrix matmul(Matrix const& a, Matrix const& b) {
    expect_fitting(a, b);
    return multiply({a, b});
}

Matrix matmul(Matrix const& a, Matrix const& b, Vector const& bias) {
    expect_fitting(a, b);
    if (bias.size() != column_count(b)) throw std::invalid_argument("matmul: the bias has another length");
    return multiply({a, b, {bias.data(), bias.size()}});
}

Matrix matmul_to_depth(Matrix const& a, Matrix const& b, std::span<std::size_t const> depths) {
    expect_fitting(a, b);
    if (depths.size() != row_count(a))
        throw std::invalid_argument("matmul_to_depth: expected a depth for each row");
    for (std::size_t const depth : depths)
        if (depth > row_count(b))
            throw std::invalid_argument(
                fmt::format("matmul_to_depth: expected depths up to {}, found {}", row_count(b), depth));
    return multiply({a, b, {}, depths});
}

}  // namespace onehead
