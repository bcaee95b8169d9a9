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

// A tile of the product: some rows of a, some columns of b, and some of the inner index.
template <class Number>
struct Tile {
    double const* a;  // [depth, rows], packed: all the tile's rows at one k, then at the next
    Number const* b;  // [depth, columns], a row `b_stride` after the one before
    std::size_t b_stride, depth;
    double* sums;  // [rows, columns], a row `sums_stride` after the one before
    std::size_t sums_stride;
    bool goes_on;  // from the sums that are there already, rather than from 0
};

// sums[r, j] += sum over k < depth of a[k, r] * b[k, j]
template <class Number>
using AddProducts = void (*)(Tile<Number> const&);

// The ways of computing a tile with one instruction set, for 1, 2, ... rows.
struct Kernel {
    std::string_view name;  // "avx512"
    bool (*runs_here)();
    std::size_t columns;                           // of a tile
    std::span<AddProducts<double> const> packed;   // with b packed, as double
    std::span<AddProducts<float> const> in_place;  // with b as it lies in the matrix
};

std::span<Kernel const> kernels();

// Uses that kernel from now on, instead of the best that runs here.
void use_kernel(Kernel const& kernel);

}  // namespace onehead
