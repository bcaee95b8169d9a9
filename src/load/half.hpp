// The two 16-bit floats that weights are stored in. Each of their values is also a float32, so that widening
// is exact: it only moves bits.
//   F16   1 sign bit, 5 exponent bits, 10 fraction bits
//   BF16  1 sign bit, 8 exponent bits,  7 fraction bits: the upper half of a float32
#pragma once

#include <cstdint>
#include <span>

namespace onehead {

// Both fill `wide` from as many `narrow` values.
void widen_f16(std::span<std::uint16_t const> narrow, std::span<float> wide);
void widen_bf16(std::span<std::uint16_t const> narrow, std::span<float> wide);

}  // namespace onehead
