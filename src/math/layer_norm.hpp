// LayerNorm: each row is shifted to mean 0, divided by its standard deviation, then given a learned gain and
// bias.
#pragma once

#include <span>

#include "math/tensor.hpp"

namespace onehead {

struct Moments {
    double mean;
    double variance;  // biased: divided by the count, not by the count less one
};

Moments moments(std::span<float const> values);

// rows [n, d_model], gain and bias [d_model]: float((row - mean) / sqrt(variance + epsilon) * gain + bias),
// in double until the end. torch.nn.LayerNorm.
Matrix layer_norm(Matrix const& rows, Vector const& gain, Vector const& bias, double epsilon);

}  // namespace onehead
