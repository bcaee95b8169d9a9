// Writes small .safetensors files, good ones and, with a header of one's own, bad ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onehead::test {

// The bytes of values as they lie in memory (little-endian, like the format).
template <class Value>
std::string bytes_of(std::vector<Value> const& values) {
    std::string bytes(values.size() * sizeof(Value), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

// Any header before any data; the length is right unless given.
inline std::string with_header(std::string const& header, std::string const& data = "") {
    return bytes_of(std::vector<std::uint64_t>{header.size()}) + header + data;
}

struct TestTensor {
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::string bytes;
};

inline TestTensor f32(std::vector<std::uint64_t> shape, std::vector<float> const& values) {
    return {"F32", std::move(shape), bytes_of(values)};
}

// A tensor whose values are first, first + 1, ...
inline TestTensor counting(std::vector<std::uint64_t> shape, float first) {
    std::uint64_t count = 1;
    for (auto const n : shape) count *= n;
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<float>(i);
    return f32(std::move(shape), values);
}

// What a file holds; a test changes it and writes it.
struct TestFile {
    std::map<std::string, TestTensor> tensors;
    std::map<std::string, std::string> metadata;

    std::string bytes() const {
        nlohmann::json header = nlohmann::json::object();
        if (!metadata.empty()) header["__metadata__"] = metadata;
        std::string data;
        for (auto const& [name, tensor] : tensors) {
            header[name] = {{"dtype", tensor.dtype},
                            {"shape", tensor.shape},
                            {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
            data += tensor.bytes;
        }
        return with_header(header.dump(), data);
    }
};

}  // namespace onehead::test
