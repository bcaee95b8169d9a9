#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "onehead/io/safetensors.hpp"

using namespace onehead;

namespace {

std::vector<std::uint16_t> every_16_bits() {
    std::vector<std::uint16_t> all(65536);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    return all;
}

// IEEE 754's definition, in double, with library functions.
double f16_by_definition(unsigned bits) {
    int const exponent = static_cast<int>(bits >> 10U & 31U);
    double const fraction = bits & 1023U;
    double const sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

}  // namespace

TEST_CASE("half: all 65536 values of F16 are widened exactly", "[load]") {
    auto const narrow = every_16_bits();
    std::vector<float> wide(narrow.size());
    widen_f16(narrow, wide);
    int wrong = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
        double const expected = f16_by_definition(narrow[i]);
        bool const same = std::isnan(expected)
                              ? std::isnan(wide[i])
                              : wide[i] == expected && std::signbit(wide[i]) == std::signbit(expected);
        wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("half: some values of F16 by hand", "[load]") {
    std::vector<std::uint16_t> const narrow{0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x8000};
    std::vector<float> wide(narrow.size());
    widen_f16(narrow, wide);
    CHECK(wide == std::vector<float>{1, -2, 0.333251953125F, 65504, 0x1p-24F, -0.0F});
}

TEST_CASE("half: BF16 is the upper half of a float32", "[load]") {
    auto const narrow = every_16_bits();
    std::vector<float> wide(narrow.size());
    widen_bf16(narrow, wide);
    int wrong = 0;
    for (std::size_t i = 0; i < wide.size(); ++i)
        wrong += std::bit_cast<std::uint32_t>(wide[i]) == narrow[i] * 65536U ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(wide[0x3f80] == 1);
    CHECK(wide[0xc049] == -3.140625F);
}
