#include "study/compare.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace onehead {
namespace {

bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

double distance(double a, double b) {
    if (a == b) return 0;
    double const difference = std::fabs(a - b);
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

void Difference::add(float a, float b, std::size_t at_row, std::size_t at_column) {
    bool const first = same();
    ++cells;
    if (same_bits(a, b)) {
        ++identical;
    } else if (double const d = distance(a, b); first || d > largest) {
        largest = d;
        row = at_row;
        column = at_column;
    }
}

Difference compare(Matrix const& a, Matrix const& b, Cells const& which) {
    if (a.shape() != b.shape()) throw std::invalid_argument("compare: the shapes differ");
    Difference result;
    for (std::size_t i = 0; i < row_count(a); ++i)
        for (std::size_t j = 0; j < column_count(a); ++j)
            if (which(i, j)) result.add(a(i, j), b(i, j), i, j);
    return result;
}

Difference compare(Matrix const& a, Matrix const& b) {
    return compare(a, b, [](std::size_t, std::size_t) { return true; });
}

}  // namespace onehead
