// Tensors as vectors, which Catch can compare and print. (xtensor's own == is taken apart by CHECK and fails
// to compile.)
#pragma once

#include <vector>

#include "onehead/math/tensor.hpp"

namespace onehead::test {

using Values = std::vector<float>;
using Grid = std::vector<Values>;

inline Values values_of(Vector const& v) {
    return {v.begin(), v.end()};
}

inline Grid grid_of(Matrix const& m) {
    Grid grid;
    for (std::size_t i = 0; i < row_count(m); ++i) grid.emplace_back(row(m, i).begin(), row(m, i).end());
    return grid;
}

}  // namespace onehead::test
