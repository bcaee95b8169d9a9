// A matrix as numpy's .npy, version 1.0: float32, little-endian, row-major.
#pragma once

#include <string>

#include "math/tensor.hpp"

namespace onehead {

std::string npy(Matrix const& values);

}  // namespace onehead
