// Where the time goes: product[i, j] = float(sum over k of a[i, k] * b[k, j] + bias[j]), many sums side by
// side. Each sum runs in double, k = 0, 1, 2, ..., starting from 0; the bias comes last. A product of two
// float32 is exact in double, so a fused multiply-add rounds as a product and a sum do: every instruction set
// gives the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "onehead/math/tensor.hpp"

namespace onehead {

// What is multiplied. A row of the product depends on the same row of a alone, never on how many rows there
// are.
struct Product {
    Matrix const& a;                        // [n, inner]
    Matrix const& b;                        // [inner, m]
    std::span<float const> bias{};          // [m], or empty
    std::span<std::size_t const> depths{};  // [n]: row i sums over k < depths[i] only; empty: over all
};

Matrix multiply(Product const& product);  // [n, m]

// The same as three plain loops: what `multiply` is tested against, bit for bit.
Matrix multiply_plainly(Product const& product);

// One way of computing a tile of the product: for one instruction set.
struct Kernel {
    std::string_view name;  // "avx512"
    bool (*runs_here)();
    std::size_t rows, columns;  // of a tile
    // sums[rows][columns] = sum over k < inner of a[k][rows] * b[k][columns], packed one after the other, but
    // for the rows of b, which begin `stride` apart.
    void (*tile)(double const* a, float const* b, std::size_t stride, std::size_t inner, double* sums);
};

std::span<Kernel const> kernels();

// Uses that kernel from now on, instead of the best that runs here.
void use_kernel(Kernel const& kernel);

}  // namespace onehead
