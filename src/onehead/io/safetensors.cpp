#include "onehead/io/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "onehead/error.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/text.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and read as it lies");

namespace {

std::string shape_text(std::vector<std::uint64_t> const& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

// How many values a shape has; nothing if that does not fit into 64 bits.
std::optional<std::uint64_t> value_count(std::vector<std::uint64_t> const& shape) {
    std::uint64_t count = 1;
    for (std::uint64_t const n : shape)
        if (__builtin_mul_overflow(count, n, &count)) return std::nullopt;
    return count;
}

template <class Tensor>
std::span<float> all_of(Tensor& values) {
    return {values.data(), values.size()};
}

}  // namespace

Safetensors::Safetensors(std::filesystem::path const& path) : file_(path), header_(read_header(file_)) {}

TensorInfo const* Safetensors::find(std::string_view tensor) const {
    auto const found = tensors().find(tensor);
    return found == tensors().end() ? nullptr : &found->second;
}

TensorInfo const& Safetensors::at(std::string_view tensor) const {
    if (auto const* found = find(tensor)) return *found;
    throw Error({name(), fmt::format("a tensor {}", quote(tensor)),
                 fmt::format("{} others: it is missing", tensors().size())});
}

std::string Safetensors::place(std::string_view tensor) const {
    return fmt::format("{}: tensor {}", name(), quote(tensor));
}

void Safetensors::expect_shape(std::string_view tensor, std::vector<std::uint64_t> const& shape,
                               std::string_view by) const {
    auto const& found = at(tensor).shape;
    if (found == shape) return;
    throw Error({place(tensor),
                 fmt::format("shape {}{}", shape_text(shape), by.empty() ? "" : fmt::format(" ({})", by)),
                 shape_text(found)});
}

Vector Safetensors::read_vector(std::string_view tensor, std::size_t n) const {
    expect_shape(tensor, {n});
    Vector values = Vector::from_shape({n});
    read_weights(tensor, 0, all_of(values));
    return values;
}

Matrix Safetensors::read_matrix(std::string_view tensor, std::size_t rows, std::size_t columns) const {
    expect_shape(tensor, {rows, columns});
    return read_rows_from_to(tensor, 0, rows);
}

Matrix Safetensors::read_rows(std::string_view tensor, std::span<std::size_t const> rows) const {
    std::size_t const columns = width(tensor, rows.empty() ? 0 : std::ranges::max(rows) + 1);
    Matrix values = Matrix::from_shape({rows.size(), columns});
    for (std::size_t i = 0; i < rows.size(); ++i) read_weights(tensor, rows[i] * columns, row(values, i));
    return values;
}

Matrix Safetensors::read_rows_from_to(std::string_view tensor, std::size_t first, std::size_t last) const {
    std::size_t const columns = width(tensor, last);
    Matrix values = Matrix::from_shape({last - first, columns});
    read_weights(tensor, first * columns, all_of(values));
    return values;
}

std::vector<double> Safetensors::read_doubles(std::string_view tensor) const {
    auto const& info = at(tensor);
    std::vector<double> values(value_count(info.shape).value());
    if (info.dtype == "F64") {
        read_bytes(info, 0, std::as_writable_bytes(std::span(values)));
    } else {
        std::vector<float> narrow(values.size());
        read_floats(tensor, 0, narrow);
        std::ranges::copy(narrow, values.begin());
    }
    return values;
}

std::vector<std::int64_t> Safetensors::read_integers(std::string_view tensor) const {
    auto const& info = at(tensor);
    if (info.dtype != "I64") throw Error({place(tensor), "dtype I64", info.dtype});
    std::vector<std::int64_t> values(value_count(info.shape).value());
    read_bytes(info, 0, std::as_writable_bytes(std::span(values)));
    return values;
}

// The number of columns of a matrix that has at least so many rows.
std::size_t Safetensors::width(std::string_view tensor, std::size_t least_rows) const {
    auto const& shape = at(tensor).shape;
    if (shape.size() == 2 && shape[0] >= least_rows) return shape[1];
    throw Error({place(tensor), fmt::format("a matrix of at least {} rows", least_rows),
                 "shape " + shape_text(shape)});
}

void Safetensors::read_bytes(TensorInfo const& tensor, std::uint64_t skip, std::span<std::byte> bytes) const {
    file_.read(header_.data_begin + tensor.begin + skip, bytes);
}

// Reading weights: widened to float32 where the file has half as many bits, by several threads where there
// are many, and none of them infinite or not a number.

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

// As std::isfinite for each, but without a branch, so that several are looked at side by side: where all bits
// of the exponent are set, adding to its last one runs over into the sign's place.
[[gnu::always_inline]] inline bool all_finite_here(std::span<float const> values) {
    std::uint32_t signs = 0;
    for (float const value : values)
        signs |= (std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU) + 0x00800000U;
    return signs < 0x80000000U;
}

// Half a gigabyte goes through here: eight values at a time, where the processor can.
#if defined(__x86_64__)
[[gnu::target("avx2")]] bool all_finite_avx2(std::span<float const> values) {
    return all_finite_here(values);
}
bool all_finite(std::span<float const> values) {
    static bool const has_avx2 = static_cast<bool>(__builtin_cpu_supports("avx2"));
    return has_avx2 ? all_finite_avx2(values) : all_finite_here(values);
}
#else
bool all_finite(std::span<float const> values) {
    return all_finite_here(values);
}
#endif

}  // namespace

// Values first, first + 1, ... of a tensor.
void Safetensors::read_floats(std::string_view tensor, std::uint64_t first, std::span<float> values) const {
    auto const& info = at(tensor);
    auto const read = [&]<class Stored>(std::vector<Stored> stored) {
        read_bytes(info, first * sizeof(Stored), std::as_writable_bytes(std::span(stored)));
        return stored;
    };
    if (info.dtype == "F32") {
        read_bytes(info, first * sizeof(float), std::as_writable_bytes(values));
    } else if (info.dtype == "F16") {
        widen_f16(read(std::vector<std::uint16_t>(values.size())), values);
    } else if (info.dtype == "BF16") {
        widen_bf16(read(std::vector<std::uint16_t>(values.size())), values);
    } else if (info.dtype == "F64") {
        std::ranges::transform(read(std::vector<double>(values.size())), values.begin(),
                               [](double value) { return static_cast<float>(value); });
    } else {
        throw Error({place(tensor), "dtype F32, F16, BF16 or F64", info.dtype, "convert it"});
    }
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
    auto const index = first + static_cast<std::uint64_t>(bad - values.begin());
    throw Error({place(tensor), "finite numbers",
                 fmt::format("{} at {}", *bad, index_text(at(tensor).shape, index)),
                 "the weights are damaged, or too large for float32"});
}

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

// The header: how long it is, and whether this is such a file at all.

namespace {

constexpr std::uint64_t longest_header = std::uint64_t{4} << 20U;  // GPT-2 XL's has 60 kB

// The length of a real header can look like a letter or two, so what else the file could be is asked only
// where it cannot be a length.
[[noreturn]] void refuse_length(File const& file, std::uint64_t length) {
    std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64)), '\0');
    file.read(0, std::as_writable_bytes(std::span(start)));
    refuse_impostor(start, file.name());
    throw Error({file.name(),
                 fmt::format("a safetensors file, whose header has 1 to {} bytes", longest_header),
                 fmt::format("length {}: it starts with {}", length, quote(start.substr(0, 16)))});
}

std::uint64_t header_length(File const& file) {
    constexpr std::size_t prefix = sizeof(std::uint64_t);
    if (file.size() < prefix)
        throw Error(
            {file.name(), "a safetensors file", fmt::format("{} bytes", file.size()), "download it again"});
    std::uint64_t length = 0;
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length == 0 || length > longest_header) refuse_length(file, length);
    if (length > file.size() - prefix)
        throw Error({file.name() + ": cut short in its header",
                     fmt::format("at least {} bytes", prefix + length), std::to_string(file.size()),
                     "download it again"});
    return length;
}

// Where the header says that each tensor is: each range as long as dtype and shape ask for, one after the
// other, without a gap or an overlap.
void check_ranges(SafetensorsHeader const& header, std::string const& file);

}  // namespace

SafetensorsHeader read_header_alone(File const& file) {
    std::uint64_t const length = header_length(file);
    std::string text(static_cast<std::size_t>(length), '\0');
    file.read(sizeof length, std::as_writable_bytes(std::span(text)));
    SafetensorsHeader header = parse_header(text, file.name());
    header.data_begin = sizeof length + length;
    return header;
}

SafetensorsHeader read_header(File const& file) {
    SafetensorsHeader header = read_header_alone(file);
    std::uint64_t const found = file.size() - header.data_begin;
    std::uint64_t const expected = header.data_size();
    if (expected == found) return header;
    throw Error({file.name(), fmt::format("{} bytes of tensors after the header", expected),
                 std::to_string(found),
                 expected > found ? "it is cut short: download it again" : "download it again"});
}

std::uint64_t SafetensorsHeader::data_size() const {
    std::uint64_t size = 0;
    for (auto const& [_, tensor] : tensors) size = std::max(size, tensor.end);
    return size;
}

namespace {

constexpr std::size_t most_dimensions = 8;

std::vector<std::uint64_t> counts(JsonObject const& tensor, char const* key) {
    json const& list = tensor.get(key);
    auto const is_size = [](json const& value) { return value.is_number_unsigned(); };
    if (!list.is_array() || list.size() > most_dimensions || !std::ranges::all_of(list, is_size))
        tensor.refuse(key, fmt::format("a list of at most {} whole numbers", most_dimensions));
    return list.get<std::vector<std::uint64_t>>();
}

TensorInfo read_info(JsonObject const& tensor) {
    TensorInfo info{tensor.text("dtype"), counts(tensor, "shape")};
    auto const offsets = counts(tensor, "data_offsets");
    if (offsets.size() != 2) tensor.refuse("data_offsets", "[begin, end]");
    info.begin = offsets[0];
    info.end = offsets[1];
    return info;
}

SafetensorsHeader::Metadata read_metadata(JsonObject const& metadata, json const& values) {
    SafetensorsHeader::Metadata texts;
    for (auto const& [key, _] : values.items()) texts.emplace(key, metadata.text(key.c_str()));
    return texts;
}

}  // namespace

SafetensorsHeader parse_header(std::string const& text, std::string const& file) {
    auto const place = file + ": header";
    if (!text.starts_with('{'))
        throw Error({place, "a JSON object, from its first byte", quote(text.substr(0, 16))});
    json const entries = parse_json(text, place);
    SafetensorsHeader header;
    for (auto const& [name, values] : entries.items()) {
        JsonObject const entry(values, fmt::format("{}: {}", place, quote(name)));
        if (name == "__metadata__")
            header.metadata = read_metadata(entry, values);
        else
            header.tensors.emplace(name, read_info(entry));
    }
    check_ranges(header, file);
    return header;
}

namespace {

// How many bits a value takes, for every type of the format.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 22> dtypes{{
    {"F64", 64},    {"F32", 32},    {"F16", 16},    {"BF16", 16},   {"I64", 64},        {"I32", 32},
    {"I16", 16},    {"I8", 8},      {"U64", 64},    {"U32", 32},    {"U16", 16},        {"U8", 8},
    {"BOOL", 8},    {"C64", 64},    {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},
}};

// Of a tensor. Nothing if it does not fit into 64 bits; a part of a byte at the end is refused below.
std::optional<std::uint64_t> bit_count(TensorInfo const& tensor, std::uint64_t bits_of_one) {
    auto bits = value_count(tensor.shape);
    if (bits && __builtin_mul_overflow(*bits, bits_of_one, &*bits)) return std::nullopt;
    return bits;
}

void check_tensor(TensorInfo const& tensor, std::string const& place) {
    auto const* const dtype =
        std::ranges::find(dtypes, tensor.dtype, &std::pair<std::string_view, std::uint64_t>::first);
    if (dtype == dtypes.end()) throw Error({place, "a dtype such as F32 or F16", quote(tensor.dtype)});
    if (tensor.begin > tensor.end)
        throw Error({place, "data_offsets [begin, end]", fmt::format("[{}, {}]", tensor.begin, tensor.end)});
    auto const bits = bit_count(tensor, dtype->second);
    if (!bits)
        throw Error({place, "a shape of a file's size", shape_text(tensor.shape) + ", which is too large"});
    if (tensor.end - tensor.begin == *bits / 8 && *bits % 8 == 0) return;
    throw Error({place,
                 fmt::format("data_offsets for dtype {} and shape {}, which need {} bytes", tensor.dtype,
                             shape_text(tensor.shape), static_cast<double>(*bits) / 8),
                 fmt::format("some that hold {}", tensor.end - tensor.begin)});
}

using NamedTensor = SafetensorsHeader::Tensors::value_type;

std::vector<NamedTensor const*> in_order_of_bytes(SafetensorsHeader::Tensors const& tensors) {
    std::vector<NamedTensor const*> entries;
    for (auto const& entry : tensors) entries.push_back(&entry);
    std::ranges::sort(entries, {},
                      [](NamedTensor const* e) { return std::pair(e->second.begin, e->second.end); });
    return entries;
}

void check_ranges(SafetensorsHeader const& header, std::string const& file) {
    std::uint64_t covered = 0;
    for (auto const* entry : in_order_of_bytes(header.tensors)) {
        auto const& [name, tensor] = *entry;
        auto const place = fmt::format("{}: tensor {}", file, quote(name));
        check_tensor(tensor, place);
        if (tensor.begin != covered)
            throw Error({place, fmt::format("it to begin at byte {}, where the one before it ends", covered),
                         fmt::format("byte {}: the tensors {}", tensor.begin,
                                     tensor.begin < covered ? "overlap" : "leave a gap")});
        covered = tensor.end;
    }
}

}  // namespace

// Writing.

void SafetensorsWriter::add(std::string const& name, Matrix const& values) {
    add(name, "F32", {row_count(values), column_count(values)},
        std::as_bytes(std::span(values.data(), values.size())));
}

void SafetensorsWriter::add(std::string const& name, Vector const& values) {
    add(name, "F32", {values.size()}, std::as_bytes(std::span(values.data(), values.size())));
}

void SafetensorsWriter::add(std::string const& name, std::vector<std::int64_t> const& values) {
    add(name, "I64", {values.size()}, std::as_bytes(std::span(values)));
}

void SafetensorsWriter::add(std::string const& name, char const* dtype, std::vector<std::uint64_t> shape,
                            std::span<std::byte const> bytes) {
    std::uint64_t const begin = data_.size();
    data_.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    tensors_.emplace_back(name, TensorInfo{dtype, std::move(shape), begin, data_.size()});
}

std::string SafetensorsWriter::bytes() const {
    nlohmann::ordered_json header;
    for (auto const& [key, text] : metadata_) header["__metadata__"][key] = text;
    for (auto const& [name, tensor] : tensors_)
        header[name] = {
            {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
    std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    auto const length = static_cast<std::uint64_t>(text.size());
    return std::string(reinterpret_cast<char const*>(&length), sizeof length) + text + data_;
}

}  // namespace onehead
