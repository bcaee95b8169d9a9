// Small matrices for tests, written as they look.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "onehead/math/tensor.hpp"

namespace onehead::test {

// The values with their exact bits, so that == means bit-identical (and -0 is not 0).
inline std::vector<std::uint32_t> bits(Matrix const& m) {
    std::vector<std::uint32_t> words(m.size());
    if (!words.empty()) std::memcpy(words.data(), m.data(), m.size() * sizeof(float));
    return words;
}

inline Matrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
    std::mt19937 generator{seed};
    Matrix m = make_matrix(rows, columns);
    for (float& value : m) value = static_cast<float>(generator()) / 2147483648.0F - 1.0F;
    return m;
}

// The first `count` rows.
inline Matrix first_rows(Matrix const& m, std::size_t count) {
    Matrix head = make_matrix(count, column_count(m));
    std::memcpy(head.data(), m.data(), head.size() * sizeof(float));
    return head;
}

}  // namespace onehead::test
