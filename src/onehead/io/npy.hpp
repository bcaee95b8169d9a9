// An array as numpy.save writes it: what a reference brings along before anyone has said which step it is.
// The file is
//     6 bytes        "\x93NUMPY"
//     2 bytes        version: 1.0, 2.0 or 3.0
//     2 or 4 bytes   length of the header, little-endian (2 bytes in version 1)
//     the header     {'descr': '<f4', 'fortran_order': False, 'shape': (6, 64), }, keys in any order
//     the rest       the numbers
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "onehead/io/file.hpp"
#include "onehead/math/tensor.hpp"

namespace onehead {

struct Array {
    std::vector<std::size_t> shape;
    std::vector<double> values;  // row-major, whatever the file had; every stored type is exact in double
    std::string dtype = "F64";   // how the numbers were stored, by safetensors' names: F16, BF16, F32, F64
};

// Floats of 16, 32 or 64 bits, little-endian, row-major or in Fortran's order, of 1 to 4 dimensions. Throws
// an Error that names the file and, for an array of another kind, what to save instead. Numbers beyond
// `most_bytes` are not read.
Array read_npy(std::filesystem::path const& path, std::size_t most_bytes = std::size_t{1} << 28U);
Array read_npy(File const& file, std::size_t most_bytes);

// The same for bytes in memory; `name` names them in messages.
Array parse_npy(std::string const& bytes, std::string const& name);

// A matrix as .npy, version 1.0: float32, little-endian, row-major.
std::string npy(Matrix const& values);

}  // namespace onehead
