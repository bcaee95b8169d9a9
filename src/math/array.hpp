// Numbers from elsewhere, of any shape: what a reference brings along before anyone has said which step it
// is.
#pragma once

#include <cstddef>
#include <vector>

namespace onehead {

struct Array {
    std::vector<std::size_t> shape;
    std::vector<double> values;  // row-major; float32 and float64 are both exact in double
    bool is_float32 = false;     // how the numbers were stored
};

}  // namespace onehead
