// A .safetensors file: tensors by name. Only the bytes of those that are asked for are read. The file is
//     8 bytes      length n of the header, little-endian
//     n bytes      the header, JSON: {"__metadata__": {"key": "text", ...},
//                                     "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//                                     ...}
//     the rest     the tensors' bytes, row-major, little-endian, without gaps
// Nothing here is believed: a header that comes back has been checked against the size of the file, down to
// the last byte, so reading a tensor needs no further checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/io/file.hpp"
#include "onehead/math/tensor.hpp"

namespace onehead {

// One tensor of a file.
struct TensorInfo {
    std::string dtype;  // "F32"
    std::vector<std::uint64_t> shape;
    std::uint64_t begin = 0, end = 0;  // its bytes, counted from the first one after the header
};

struct SafetensorsHeader {
    using Tensors = std::map<std::string, TensorInfo, std::less<>>;
    using Metadata = std::map<std::string, std::string, std::less<>>;

    Tensors tensors;
    Metadata metadata;
    std::uint64_t data_begin = 0;  // where the first tensor's bytes are in the file

    std::uint64_t data_size() const;  // how many bytes the tensors take together
};

// Weights come back as float32: F32 as it is, F16 and BF16 widened, which changes no value, F64 rounded once.
// Every function throws an Error that names file and tensor if the tensor is not there, has another shape or
// a dtype that does not serve, or (where Vector or Matrix come back) holds an inf or a NaN.
class Safetensors {
public:
    explicit Safetensors(std::filesystem::path const& path);

    std::string name() const { return file_.name(); }
    SafetensorsHeader const& header() const { return header_; }
    SafetensorsHeader::Tensors const& tensors() const { return header_.tensors; }
    SafetensorsHeader::Metadata const& metadata() const { return header_.metadata; }
    std::uint64_t data_begin() const { return header_.data_begin; }

    TensorInfo const* find(std::string_view tensor) const;  // null if there is none
    TensorInfo const& at(std::string_view tensor) const;

    // `by` says who expects this shape, for the message: "n_embd 768 in config.json".
    void expect_shape(std::string_view tensor, std::vector<std::uint64_t> const& shape,
                      std::string_view by = {}) const;

    Vector read_vector(std::string_view tensor, std::size_t n) const;  // [n]
    Matrix read_matrix(std::string_view tensor, std::size_t rows,
                       std::size_t columns) const;  // [rows, columns]
    Matrix read_rows(std::string_view tensor,
                     std::span<std::size_t const> rows) const;  // [rows.size(), its columns]
    Matrix read_rows_from_to(std::string_view tensor, std::size_t first,
                             std::size_t last) const;  // [last - first, its columns]

    std::vector<double> read_doubles(std::string_view tensor) const;         // of any shape, also inf and NaN
    std::vector<std::int64_t> read_integers(std::string_view tensor) const;  // I64 of any shape

private:
    void read_bytes(TensorInfo const& tensor, std::uint64_t skip, std::span<std::byte> bytes) const;
    void read_floats(std::string_view tensor, std::uint64_t first, std::span<float> values) const;
    void read_weights(std::string_view tensor, std::uint64_t first, std::span<float> values) const;
    [[noreturn]] void refuse_damage(std::string_view tensor, std::uint64_t first,
                                    std::span<float const> values) const;
    std::size_t width(std::string_view tensor, std::size_t least_rows) const;
    std::string place(std::string_view tensor) const;

    File file_;
    SafetensorsHeader header_;
};

// The header of a file. Throws an Error that names the file, the tensor and what is wrong with it. Takes
// memory and time of the order of the header's length, which is limited, whatever it says.
SafetensorsHeader read_header(File const& file);

// The same of a file that may end after its header: what a download asks for first.
SafetensorsHeader read_header_alone(File const& file);

// The header's JSON to names, shapes and ranges.
SafetensorsHeader parse_header(std::string const& text, std::string const& file);

// The bytes of such a file: tensors one after the other in the order in which they are added.
class SafetensorsWriter {
public:
    explicit SafetensorsWriter(std::vector<std::pair<std::string, std::string>> metadata)
        : metadata_(std::move(metadata)) {}

    void add(std::string const& name, Matrix const& values);
    void add(std::string const& name, Vector const& values);
    void add(std::string const& name, std::vector<std::int64_t> const& values);

    std::string bytes() const;

private:
    void add(std::string const& name, char const* dtype, std::vector<std::uint64_t> shape,
             std::span<std::byte const> bytes);

    std::vector<std::pair<std::string, std::string>> metadata_;
    std::vector<std::pair<std::string, TensorInfo>> tensors_;
    std::string data_;
};

// The two 16-bit floats that weights are stored in, widened: both fill `wide` from as many `narrow` values.
// Each of their values is also a float32, so this only moves bits.
//     F16   1 sign bit, 5 exponent bits, 10 fraction bits
//     BF16  1 sign bit, 8 exponent bits,  7 fraction bits: the upper half of a float32
void widen_f16(std::span<std::uint16_t const> narrow, std::span<float> wide);
void widen_bf16(std::span<std::uint16_t const> narrow, std::span<float> wide);

}  // namespace onehead
