// The product of two matrices, fast: many of its sums side by side, each in the order of the plain loops. A
// product of two float32 is exact in double, so a fused multiply-add rounds as a product and a sum do: every
// instruction set gives the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "onehead/math/tensor.hpp"

namespace onehead {

Matrix multiply(Product const& product);  // [n, m], the bits of multiply_plainly

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
