// Read in small pieces: the content is not needed, and memory that is used again is faster than new.
#include "load/known_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nettle/sha2.h>

#include <array>
#include <fstream>
#include <system_error>

namespace onehead {

namespace {

std::string sha256_of(std::filesystem::path const& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 32768> piece{};
    sha256_ctx state{};
    sha256_init(&state);
    while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
        sha256_update(&state, static_cast<std::size_t>(in.gcount()),
                      reinterpret_cast<std::uint8_t const*>(piece.data()));
    }
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&state, digest.size(), digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

bool is_known(std::filesystem::path const& path, KnownFile const& known) {
    std::error_code error;
    return std::filesystem::file_size(path, error) == known.size && !error && sha256_of(path) == known.sha256;
}

}  // namespace onehead
