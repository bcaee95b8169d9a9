// e^x = 2^n * e^r with n = round(x / ln 2), so that |r| <= ln(2) / 2, where 14 terms of the series are
// enough.
#include "math/exp.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace onehead {
namespace {

constexpr double log2_e = 0x1.71547652b82fep+0;
// ln 2 in two parts: the first has few bits, so that n times it is exact.
constexpr double ln2_high = 0x1.62e42fee00000p-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;
// Adding and taking away 1.5 * 2^52 leaves no room for a fraction: it rounds to a whole number.
constexpr double rounder = 0x1.8p52;

// 1/13!, 1/12!, ..., 1/1!, 1/0!
constexpr std::array<double, 14> series{
    1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
    1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};

double power_of_two(double n) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52);
}

}  // namespace

double exponential(double x) {
    if (x != x) return x;
    if (x < -708) return 0;
    if (x > 709) return std::numeric_limits<double>::infinity();
    double const n = (x * log2_e + rounder) - rounder;
    double const r = (x - n * ln2_high) - n * ln2_low;
    double sum = 0;
    for (double const term : series) sum = sum * r + term;
    return sum * power_of_two(n);
}

}  // namespace onehead
