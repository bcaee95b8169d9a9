#include "onehead/io/safetensors.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

std::string shape_text(std::vector<std::uint64_t> const& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::uint64_t value_count(TensorInfo const& tensor) {
    return (tensor.end - tensor.begin) / dtype_size(tensor.dtype);
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
    throw Error(
        fmt::format("{}: tensor {} is missing from the {} there: the file is incomplete, or not GPT-2's",
                    name(), quote(tensor), tensors().size()));
}

void Safetensors::expect_shape(std::string_view tensor, std::vector<std::uint64_t> const& shape,
                               std::string_view by) const {
    auto const& found = at(tensor).shape;
    if (found == shape) return;
    throw Error(fmt::format("{}: tensor {}: expected shape {}{}, found {}", name(), quote(tensor),
                            shape_text(shape), by.empty() ? "" : fmt::format(" ({})", by),
                            shape_text(found)));
}

Vector Safetensors::read_vector(std::string_view tensor, std::size_t n) const {
    expect_shape(tensor, {n});
    Vector values = Vector::from_shape({n});
    read_weights(tensor, 0, all_of(values));
    return values;
}

Matrix Safetensors::read_matrix(std::string_view tensor, std::size_t rows, std::size_t columns) const {
    expect_shape(tensor, {rows, columns});
    return read_first_rows(tensor, rows);
}

Matrix Safetensors::read_rows(std::string_view tensor, std::span<std::size_t const> rows) const {
    std::size_t const columns = width(tensor, rows.empty() ? 0 : std::ranges::max(rows) + 1);
    Matrix values = Matrix::from_shape({rows.size(), columns});
    for (std::size_t i = 0; i < rows.size(); ++i) read_weights(tensor, rows[i] * columns, row(values, i));
    return values;
}

Matrix Safetensors::read_first_rows(std::string_view tensor, std::size_t n) const {
    Matrix values = Matrix::from_shape({n, width(tensor, n)});
    read_weights(tensor, 0, all_of(values));
    return values;
}

std::vector<double> Safetensors::read_doubles(std::string_view tensor) const {
    auto const& info = at(tensor);
    std::vector<double> values(value_count(info));
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
    if (info.dtype != "I64")
        throw Error(
            fmt::format("{}: tensor {}: expected dtype I64, found {}", name(), quote(tensor), info.dtype));
    std::vector<std::int64_t> values(value_count(info));
    read_bytes(info, 0, std::as_writable_bytes(std::span(values)));
    return values;
}

// The number of columns of a matrix that has at least so many rows.
std::size_t Safetensors::width(std::string_view tensor, std::size_t least_rows) const {
    auto const& shape = at(tensor).shape;
    if (shape.size() != 2 || shape[0] < least_rows)
        throw Error(fmt::format("{}: tensor {}: expected a matrix of at least {} rows, found shape {}",
                                name(), quote(tensor), least_rows, shape_text(shape)));
    return shape[1];
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

// The first bytes of the file: how long the header is, and whether this is such a file at all.

namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and read as it lies");

constexpr std::uint64_t longest_header = std::uint64_t{4} << 20U;  // GPT-2 XL's has 60 kB

// What else is found under the name of a model, and what to do.
struct Impostor {
    std::string_view first_bytes, explanation;
};
constexpr std::array impostors{
    Impostor{"version https://git-lfs", "a Git LFS pointer, not the file it stands for: run `git lfs pull`"},
    Impostor{"<", "a web page, not a model: download it again"},
    Impostor{"PK", "a zip archive, perhaps PyTorch's own format: save the model as safetensors"},
};

std::string first_bytes(File const& file) {
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64)), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

// The length of a real header can look like a letter or two, so this is asked only where it cannot be a
// length.
[[noreturn]] void refuse_length(File const& file, std::uint64_t length) {
    std::string const start = first_bytes(file);
    for (auto const& [known, explanation] : impostors)
        if (start.starts_with(known))
            throw Error(fmt::format("{}: expected a safetensors file, found {}", file.name(), explanation));
    throw Error(
        fmt::format("{}: expected a safetensors file, whose header has 1 to {} bytes, found length {}: "
                    "it starts with {}",
                    file.name(), longest_header, length, quote(start.substr(0, 16))));
}

std::uint64_t header_length(File const& file) {
    constexpr std::size_t prefix = sizeof(std::uint64_t);
    if (file.size() < prefix)
        throw Error(fmt::format("{}: expected a safetensors file, found {} bytes: download it again",
                                file.name(), file.size()));
    std::uint64_t length = 0;
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length == 0 || length > longest_header) refuse_length(file, length);
    if (length > file.size() - prefix)
        throw Error(fmt::format(
            "{}: cut short in its header: expected at least {} bytes, found {}: download it again",
            file.name(), prefix + length, file.size()));
    return length;
}

}  // namespace

SafetensorsHeader read_header(File const& file) {
    std::uint64_t const length = header_length(file);
    std::string text(static_cast<std::size_t>(length), '\0');
    file.read(sizeof length, std::as_writable_bytes(std::span(text)));
    SafetensorsHeader header = parse_header(text, file.name());
    header.data_begin = sizeof length + length;
    check_ranges(header, file.size() - header.data_begin, file.name());
    return header;
}

// The header's JSON, event by event. No tree is built: whatever does not belong (nesting, a name given twice,
// a number that is no count) ends the reading where it stands, so that a hostile header costs no memory.

namespace {

using nlohmann::json;

constexpr std::size_t most_tensors = 16384;  // GPT-2 XL has 580
constexpr std::size_t most_metadata = 1024;
constexpr std::size_t most_dimensions = 8;

class HeaderReader : public json::json_sax_t {
public:
    explicit HeaderReader(std::string file) : file_(std::move(file)) {}

    SafetensorsHeader take() { return std::move(header_); }

    bool start_object(std::size_t /*size*/) override {
        if (place_ == Place::before) return go(Place::top);
        if (place_ != Place::named) return refuse("an object");
        return go(name_ == "__metadata__" ? Place::metadata : Place::tensor);
    }

    bool end_object() override {
        if (place_ == Place::tensor) keep_tensor();
        return go(place_ == Place::top ? Place::after : Place::top);
    }

    bool key(std::string& text) override {
        if (place_ == Place::top) {
            name_ = text;
            field_.clear();
            tensor_ = {};
            if (!names_.insert(name_).second) return refuse("a second entry of that name");
            if (names_.size() > most_tensors)
                return refuse(fmt::format("more than {} tensors", most_tensors));
            return go(Place::named);
        }
        field_ = text;
        return true;
    }

    bool string(std::string& text) override {
        if (place_ == Place::metadata) return keep_metadata(text);
        if (place_ != Place::tensor || field_ != "dtype" || tensor_.dtype)
            return refuse(fmt::format("text {}", quote(text)));
        tensor_.dtype = text;
        return true;
    }

    bool start_array(std::size_t /*size*/) override {
        auto* const list = open_list();
        if (place_ != Place::tensor || list == nullptr || *list) return refuse("a list");
        list->emplace();
        return go(Place::list);
    }

    bool end_array() override { return go(Place::tensor); }

    bool number_unsigned(std::uint64_t number) override {
        if (place_ != Place::list) return refuse(fmt::format("number {}", number));
        auto& list = **open_list();
        if (list.size() == most_dimensions)
            return refuse(fmt::format("more than {} numbers", most_dimensions));
        list.push_back(number);
        return true;
    }

    bool number_integer(std::int64_t number) override { return refuse(fmt::format("number {}", number)); }
    bool number_float(double /*number*/, std::string const& text) override {
        return refuse(fmt::format("number {}", quote(text)));
    }
    bool null() override { return refuse("null"); }
    bool boolean(bool /*value*/) override { return refuse("true or false"); }
    bool binary(json::binary_t& /*value*/) override { return refuse("bytes"); }

    bool parse_error(std::size_t byte, std::string const& /*token*/,
                     json::exception const& /*error*/) override {
        throw Error(
            fmt::format("{}: header: expected JSON, found something else at its byte {}: download it again",
                        file_, byte));
    }

private:
    enum class Place { before, top, named, metadata, tensor, list, after };

    struct Tensor {
        std::optional<std::string> dtype;
        std::optional<std::vector<std::uint64_t>> shape, data_offsets;
    };

    bool go(Place place) {
        place_ = place;
        return true;
    }

    bool refuse(std::string const& found) const {
        auto const field = field_.empty() ? "" : fmt::format(", field {}", quote(field_));
        auto const where = place_ == Place::before ? "its start" : quote(name_);
        throw Error(fmt::format("{}: header: {}{}: did not expect {}", file_, where, field, found));
    }

    std::optional<std::vector<std::uint64_t>>* open_list() {
        if (field_ == "shape") return &tensor_.shape;
        if (field_ == "data_offsets") return &tensor_.data_offsets;
        return nullptr;
    }

    bool keep_metadata(std::string const& text) {
        if (!header_.metadata.emplace(field_, text).second)
            return refuse(fmt::format("a second {}", quote(field_)));
        if (header_.metadata.size() > most_metadata)
            return refuse(fmt::format("more than {} texts", most_metadata));
        return true;
    }

    void keep_tensor() {
        auto& [dtype, shape, offsets] = tensor_;
        if (!dtype || !shape || !offsets || offsets->size() != 2)
            throw Error(fmt::format("{}: header: {}: expected dtype, shape and data_offsets [begin, end]",
                                    file_, quote(name_)));
        header_.tensors[name_] = {*dtype, *shape, offsets->front(), offsets->back()};
    }

    std::string file_;
    SafetensorsHeader header_;
    std::set<std::string> names_;
    Place place_ = Place::before;
    std::string name_, field_;
    Tensor tensor_;
};

}  // namespace

SafetensorsHeader parse_header(std::string const& text, std::string const& file) {
    HeaderReader reader(file);
    json::sax_parse(text, &reader);
    return reader.take();
}

// Where the header says that each tensor lies, against the bytes that are there: each range as long as dtype
// and shape ask for, one after the other, no gap and no overlap, and the last one ends where the file ends.

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
