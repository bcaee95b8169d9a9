#include "load/half.hpp"

#include <bit>
#include <cstddef>

namespace onehead {
namespace {

constexpr std::uint32_t bias_difference = 127 - 15;  // between the exponents of float32 and F16
constexpr int fraction_difference = 23 - 10;

// Branchless, so that a compiler can do several at once.
std::uint32_t widen_f16_bits(std::uint32_t half) {
    std::uint32_t const sign = (half & 0x8000U) << 16U;
    std::uint32_t const magnitude = half & 0x7fffU;
    std::uint32_t const normal = (magnitude << fraction_difference) + (bias_difference << 23U);
    std::uint32_t const endless = normal + (bias_difference << 23U);  // inf and NaN: all exponent bits set
    auto const tiny =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24F);
    std::uint32_t const wide = magnitude < 0x0400U ? tiny : magnitude >= 0x7c00U ? endless : normal;
    return sign | wide;
}

}  // namespace

void widen_f16(std::span<std::uint16_t const> narrow, std::span<float> wide) {
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = std::bit_cast<float>(widen_f16_bits(narrow[i]));
}

void widen_bf16(std::span<std::uint16_t const> narrow, std::span<float> wide) {
    for (std::size_t i = 0; i < wide.size(); ++i)
        wide[i] = std::bit_cast<float>(std::uint32_t{narrow[i]} << 16U);
}

}  // namespace onehead
