// A fingerprint of the weights that one head works with, by which two traces can tell whether they are of the
// same head. It is taken from the values as float32, so that an F16 file, its F32 twin and an excerpt give
// the same.
#pragma once

#include <string>

#include "head/weights.hpp"

namespace onehead {

// sha256 in hex of, one after the other, row-major, little-endian float32:
// ln_1 gain and bias, w_q, b_q, w_k, b_k, w_v, b_v, w_o, c_proj_bias.
std::string weights_sha256(LayerNorm const& ln_1, HeadWeights const& head, Vector const& c_proj_bias);

}  // namespace onehead
