// Two results of one shape, held against each other. Every question of this kind (two runs, a changed word,
// a reference) is answered from here, so that "the same" means one thing: the same bits.
#pragma once

#include <cstddef>
#include <functional>

#include "math/tensor.hpp"

namespace onehead {

struct Difference {
    std::size_t cells = 0;      // that were compared
    std::size_t identical = 0;  // of these, those with the same bits
    double largest = 0;         // absolute
    std::size_t row = 0;        // where it is, the first of equals; unless all are identical
    std::size_t column = 0;

    bool same() const { return identical == cells; }
    void add(float a, float b, std::size_t at_row, std::size_t at_column);  // one more cell
};

// |a - b|: 0 for equal values, -inf too; infinite where only one of them is finite or one is not a number.
double distance(double a, double b);

using Cells = std::function<bool(std::size_t row, std::size_t column)>;

// a and b have the same shape; compared are those cells for which `which` holds.
Difference compare(Matrix const& a, Matrix const& b, Cells const& which);
Difference compare(Matrix const& a, Matrix const& b);  // all cells

}  // namespace onehead
