// The sha256 of bytes that come one piece after the other.
#pragma once

#include <nettle/sha2.h>
#include <cstddef>
#include <span>
#include <string>

namespace onehead {

class Sha256 {
public:
    Sha256();
    void add(std::span<std::byte const> bytes);
    std::string hex();  // as sha256sum prints it; begins anew

private:
    sha256_ctx state_{};
};

}  // namespace onehead
