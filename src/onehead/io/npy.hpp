// Numbers from elsewhere, of any shape: what a reference brings along before anyone has said which step it
// is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "onehead/math/tensor.hpp"

namespace onehead {

struct Array {
    std::vector<std::size_t> shape;
    std::vector<double> values;  // row-major; float32 and float64 are both exact in double
    bool is_float32 = false;     // how the numbers were stored
};

// An array as numpy.save writes it. The file is
//     6 bytes        "\x93NUMPY"
//     2 bytes        version: 1.0, 2.0 or 3.0
//     2 or 4 bytes   length of the header, little-endian (2 bytes in version 1)
//     the header     {'descr': '<f4', 'fortran_order': False, 'shape': (6, 64), }
//     the rest       the numbers

// float32 or float64, little-endian, row-major, of 1 to 4 dimensions. Throws an Error that names the file
// and, for an array of another kind, what to save instead. Numbers beyond `most_bytes` are not read.
Array read_npy(std::filesystem::path const& path, std::size_t most_bytes = std::size_t{1} << 28U);

// The same for bytes in memory; `name` names them in messages.
Array parse_npy(std::string const& bytes, std::string const& name);

// A matrix as numpy's .npy, version 1.0: float32, little-endian, row-major.

std::string npy(Matrix const& values);

}  // namespace onehead
