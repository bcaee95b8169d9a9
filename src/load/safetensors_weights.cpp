// Reading weights: widened to float32 where the file has half as many bits, by several threads where there
// are many, and none of them infinite or not a number.
#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>

#include "error.hpp"
#include "load/half.hpp"
#include "load/quote.hpp"
#include "load/safetensors.hpp"
#include "math/parallel.hpp"

namespace onehead {
namespace {

// Where a value stands, from its place in the row-major order: "[3, 17]".
std::string index_text(std::vector<std::uint64_t> shape, std::uint64_t place) {
    for (std::size_t i = shape.size(); i-- > 0;) {
        std::uint64_t const length = shape[i];
        shape[i] = place % length;
        place /= length;
    }
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

// As std::isfinite for each, but without a branch: several are looked at side by side.
bool all_finite(std::span<float const> values) {
    constexpr std::int32_t infinity = 0x7F800000;
    std::int32_t largest = 0;
    for (float const value : values)
        largest = std::max(largest, std::bit_cast<std::int32_t>(value) & 0x7FFFFFFF);
    return largest < infinity;
}

}  // namespace

void Safetensors::read_floats(std::string_view tensor, std::uint64_t first, std::span<float> values) const {
    auto const& info = at(tensor);
    if (info.dtype == "F32") return read_bytes(info, first * sizeof(float), std::as_writable_bytes(values));
    if (info.dtype != "F16" && info.dtype != "BF16")
        throw Error(fmt::format("{}: tensor {}: expected dtype F32, F16 or BF16, found {}: convert it",
                                name(), quote(tensor), info.dtype));
    std::vector<std::uint16_t> narrow(values.size());
    read_bytes(info, first * sizeof(std::uint16_t), std::as_writable_bytes(std::span(narrow)));
    (info.dtype == "F16" ? widen_f16 : widen_bf16)(narrow, values);
}

void Safetensors::read_weights(std::string_view tensor, std::uint64_t first, std::span<float> values) const {
    constexpr std::size_t piece = std::size_t{1} << 16;  // stays in the cache until it is checked
    for_ranges(values.size(), 4 * piece, [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; at += piece) {
            auto const part = values.subspan(at, std::min(piece, end - at));
            read_floats(tensor, first + at, part);
            if (!all_finite(part)) refuse_damage(tensor, first + at, part);
        }
    });
}

void Safetensors::refuse_damage(std::string_view tensor, std::uint64_t first,
                                std::span<float const> values) const {
    auto const bad = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
    auto const place = first + static_cast<std::uint64_t>(bad - values.begin());
    throw Error(fmt::format("{}: tensor {}: expected numbers, found {} at {}: the weights are damaged",
                            name(), quote(tensor), *bad, index_text(at(tensor).shape, place)));
}

}  // namespace onehead
