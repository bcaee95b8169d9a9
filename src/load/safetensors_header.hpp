// What a .safetensors file says about itself. The file is
//     8 bytes      length n of the header, little-endian
//     n bytes      the header, JSON: {"__metadata__": {"key": "text", ...},
//                                     "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//                                     ...}
//     the rest     the tensors' bytes, row-major, little-endian, without gaps
// Nothing here is believed: a header that comes back has been checked against the size of the file, down to
// the last byte, so that reading a tensor needs no further checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "load/file.hpp"

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
};

// How many bytes one value takes; 0 for a dtype that the format does not know.
std::size_t dtype_size(std::string_view dtype);

// Throws an Error that names the file, the tensor and what is wrong with it. Takes memory and time of the
// order of the header's length, which is limited, whatever it says.
SafetensorsHeader read_header(File const& file);

// read_header's two halves: the JSON text to names, shapes and ranges; and those against the number of bytes
// there.
SafetensorsHeader parse_header(std::string const& text, std::string const& file);
void check_ranges(SafetensorsHeader const& header, std::uint64_t data_size, std::string const& file);

}  // namespace onehead
