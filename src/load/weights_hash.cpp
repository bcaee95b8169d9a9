#include "load/weights_hash.hpp"

#include <bit>
#include <span>

#include "load/sha256.hpp"

namespace onehead {
namespace {

static_assert(std::endian::native == std::endian::little, "the values are hashed as they lie in memory");

template <class Tensor>
std::span<std::byte const> bytes_of(Tensor const& values) {
    return std::as_bytes(std::span(values.data(), values.size()));
}

}  // namespace

std::string weights_sha256(LayerNorm const& ln_1, HeadWeights const& head, Vector const& c_proj_bias) {
    Sha256 hash;
    hash.add(bytes_of(ln_1.gain));
    hash.add(bytes_of(ln_1.bias));
    hash.add(bytes_of(head.w_q));
    hash.add(bytes_of(head.b_q));
    hash.add(bytes_of(head.w_k));
    hash.add(bytes_of(head.b_k));
    hash.add(bytes_of(head.w_v));
    hash.add(bytes_of(head.b_v));
    hash.add(bytes_of(head.w_o));
    hash.add(bytes_of(c_proj_bias));
    return hash.hex();
}

}  // namespace onehead
