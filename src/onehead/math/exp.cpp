// e^x = 2^n * e^r with n = round(x / ln 2), so that |r| <= ln(2) / 2, where 14 terms of the series are
// enough.
#include "onehead/math/exp.hpp"

#include <algorithm>
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

// For -708 <= x <= 709. Without a branch, so that the compiler can work out several side by side.
inline double in_range(double x) {
    double const rounded = x * log2_e + rounder;  // n in its last bits
    double const n = rounded - rounder;
    double const r = (x - n * ln2_high) - n * ln2_low;
    double sum = 0;
#pragma GCC unroll 14
    for (double const term : series) sum = sum * r + term;
    auto const power_of_two = std::bit_cast<double>((std::bit_cast<std::uint64_t>(rounded) + 1023) << 52U);
    return sum * power_of_two;
}

}  // namespace

double exponential(double x) {
    if (x != x) return x;
    if (x < -708) return 0;
    if (x > 709) return std::numeric_limits<double>::infinity();
    return in_range(x);
}

void exponentials(std::span<double> values) {
    std::array<double, 128> powers{};
    for (std::size_t first = 0; first < values.size(); first += powers.size()) {
        auto const some = values.subspan(first, std::min(powers.size(), values.size() - first));
        for (std::size_t i = 0; i < some.size(); ++i) powers[i] = in_range(some[i]);
        for (std::size_t i = 0; i < some.size(); ++i)
            some[i] = some[i] >= -708 && some[i] <= 709 ? powers[i] : exponential(some[i]);
    }
}

}  // namespace onehead
