#include "write/npy.hpp"

#include <fmt/format.h>
#include <bit>

namespace onehead {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

std::string npy(Matrix const& values) {
    std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                     row_count(values), column_count(values));
    // Magic, version and length take 10 bytes; the whole is padded so that the data begins at a multiple
    // of 64.
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::string file{"\x93NUMPY\x01\x00", 8};
    file += static_cast<char>(header.size() % 256);
    file += static_cast<char>(header.size() / 256);
    file += header;
    file.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float));
    return file;
}

}  // namespace onehead
