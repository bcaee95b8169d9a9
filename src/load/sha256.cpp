#include "load/sha256.hpp"

#include <fmt/format.h>
#include <array>
#include <cstdint>

namespace onehead {

Sha256::Sha256() {
    sha256_init(&state_);
}

void Sha256::add(std::span<std::byte const> bytes) {
    sha256_update(&state_, bytes.size(), reinterpret_cast<std::uint8_t const*>(bytes.data()));
}

std::string Sha256::hex() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&state_, digest.size(), digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace onehead
