#include "load/weights_hash.hpp"

#include <fmt/format.h>
#include <nettle/sha2.h>
#include <array>
#include <bit>
#include <cstdint>

namespace onehead {
namespace {

static_assert(std::endian::native == std::endian::little, "the values are hashed as they lie in memory");

class Sha256 {
public:
    Sha256() { sha256_init(&state_); }

    template <class Tensor>
    void add(Tensor const& values) {
        auto const bytes = std::as_bytes(std::span(values.data(), values.size()));
        sha256_update(&state_, bytes.size(), reinterpret_cast<std::uint8_t const*>(bytes.data()));
    }

    std::string hex() {
        std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
        sha256_digest(&state_, digest.size(), digest.data());
        return fmt::format("{:02x}", fmt::join(digest, ""));
    }

private:
    sha256_ctx state_{};
};

}  // namespace

std::string weights_sha256(LayerNorm const& ln_1, HeadWeights const& head, Vector const& c_proj_bias) {
    Sha256 hash;
    hash.add(ln_1.gain);
    hash.add(ln_1.bias);
    hash.add(head.w_q);
    hash.add(head.b_q);
    hash.add(head.w_k);
    hash.add(head.b_k);
    hash.add(head.w_v);
    hash.add(head.b_v);
    hash.add(head.w_o);
    hash.add(c_proj_bias);
    return hash.hex();
}

}  // namespace onehead
