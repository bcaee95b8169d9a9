// Where the header says that each tensor lies, against the bytes that are there: each range as long as dtype
// and shape ask for, one after the other, no gap and no overlap, and the last one ends where the file ends.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "error.hpp"
#include "load/quote.hpp"
#include "load/safetensors_header.hpp"

namespace onehead {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t>, 18> dtypes{{
    {"F64", 8},
    {"F32", 4},
    {"F16", 2},
    {"BF16", 2},
    {"I64", 8},
    {"I32", 4},
    {"I16", 2},
    {"I8", 1},
    {"U64", 8},
    {"U32", 4},
    {"U16", 2},
    {"U8", 1},
    {"BOOL", 1},
    {"C64", 8},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
    {"F8_E8M0", 1},
    {"F8_E4M3FNUZ", 1},
}};

// Nothing if it does not fit into 64 bits.
std::optional<std::uint64_t> byte_count(TensorInfo const& tensor) {
    std::uint64_t bytes = dtype_size(tensor.dtype);
    for (std::uint64_t const n : tensor.shape)
        if (__builtin_mul_overflow(bytes, n, &bytes)) return std::nullopt;
    return bytes;
}

void check_tensor(TensorInfo const& tensor, std::string const& name) {
    if (dtype_size(tensor.dtype) == 0)
        throw Error(
            fmt::format("{}: expected a dtype such as F32 or F16, found {}", name, quote(tensor.dtype)));
    if (tensor.begin > tensor.end)
        throw Error(
            fmt::format("{}: data_offsets [{}, {}] end before they begin", name, tensor.begin, tensor.end));
    auto const expected = byte_count(tensor);
    if (!expected)
        throw Error(
            fmt::format("{}: shape [{}] is too large for any file", name, fmt::join(tensor.shape, ", ")));
    if (tensor.end - tensor.begin != *expected)
        throw Error(fmt::format("{}: dtype {} and shape [{}] need {} bytes, data_offsets hold {}", name,
                                tensor.dtype, fmt::join(tensor.shape, ", "), *expected,
                                tensor.end - tensor.begin));
}

using Entry = SafetensorsHeader::Tensors::value_type;

std::vector<Entry const*> in_order_of_bytes(SafetensorsHeader::Tensors const& tensors) {
    std::vector<Entry const*> entries;
    for (auto const& entry : tensors) entries.push_back(&entry);
    std::ranges::sort(entries, {}, [](Entry const* e) { return std::pair(e->second.begin, e->second.end); });
    return entries;
}

}  // namespace

std::size_t dtype_size(std::string_view dtype) {
    auto const* const found =
        std::ranges::find(dtypes, dtype, &std::pair<std::string_view, std::size_t>::first);
    return found == dtypes.end() ? 0 : found->second;
}

void check_ranges(SafetensorsHeader const& header, std::uint64_t data_size, std::string const& file) {
    std::uint64_t covered = 0;
    for (auto const* entry : in_order_of_bytes(header.tensors)) {
        auto const& [name, tensor] = *entry;
        auto const where = fmt::format("{}: tensor {}", file, quote(name));
        check_tensor(tensor, where);
        if (tensor.begin != covered)
            throw Error(fmt::format(
                "{}: expected to begin at byte {}, where the one before it ends, found byte {}: "
                "the tensors {}",
                where, covered, tensor.begin, tensor.begin < covered ? "overlap" : "leave a gap"));
        covered = tensor.end;
    }
    if (covered != data_size)
        throw Error(
            fmt::format("{}: expected {} bytes of tensors after the header, found {}: {}download it again",
                        file, covered, data_size, covered > data_size ? "cut short, " : ""));
}

}  // namespace onehead
