#include "load/safetensors.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "error.hpp"
#include "load/quote.hpp"

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

}  // namespace onehead
