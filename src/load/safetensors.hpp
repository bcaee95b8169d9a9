// A .safetensors file: tensors by name, and only the bytes of those that are asked for are read. Weights come
// back as float32: F32 as it is, F16 and BF16 widened, which changes no value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "load/file.hpp"
#include "load/safetensors_header.hpp"
#include "math/tensor.hpp"

namespace onehead {

// Every function throws an Error that names file and tensor if the tensor is not there, has another shape or
// a dtype that does not serve, or (where Vector or Matrix come back) holds an inf or a NaN.
class Safetensors {
public:
    explicit Safetensors(std::filesystem::path const& path);

    std::string name() const { return file_.name(); }
    SafetensorsHeader::Tensors const& tensors() const { return header_.tensors; }
    SafetensorsHeader::Metadata const& metadata() const { return header_.metadata; }

    TensorInfo const* find(std::string_view tensor) const;  // null if there is none
    TensorInfo const& at(std::string_view tensor) const;

    // `by` says who expects this shape, for the message: "n_embd 768 in config.json".
    void expect_shape(std::string_view tensor, std::vector<std::uint64_t> const& shape,
                      std::string_view by = {}) const;

    Vector read_vector(std::string_view tensor, std::size_t n) const;  // [n]
    Matrix read_matrix(std::string_view tensor, std::size_t rows,
                       std::size_t columns) const;  // [rows, columns]
    Matrix read_rows(std::string_view tensor,
                     std::span<std::size_t const> rows) const;             // [rows.size(), its columns]
    Matrix read_first_rows(std::string_view tensor, std::size_t n) const;  // [n, its columns]

    std::vector<double> read_doubles(
        std::string_view tensor) const;  // of any shape, also F64, also inf and NaN
    std::vector<std::int64_t> read_integers(std::string_view tensor) const;  // I64 of any shape

private:
    void read_bytes(TensorInfo const& tensor, std::uint64_t skip, std::span<std::byte> bytes) const;
    void read_floats(std::string_view tensor, std::uint64_t first, std::span<float> values) const;
    void read_weights(std::string_view tensor, std::uint64_t first, std::span<float> values) const;
    [[noreturn]] void refuse_damage(std::string_view tensor, std::uint64_t first,
                                    std::span<float const> values) const;
    std::size_t width(std::string_view tensor, std::size_t least_rows) const;

    File file_;
    SafetensorsHeader header_;
};

}  // namespace onehead
