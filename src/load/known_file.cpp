// Read in small pieces: the content is not needed, and memory that is used again is faster than new.
#include "load/known_file.hpp"

#include <array>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

#include "load/sha256.hpp"

namespace onehead {

namespace {

std::string sha256_of(std::filesystem::path const& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 32768> piece{};
    Sha256 hash;
    while (in.read(piece.data(), piece.size()), in.gcount() > 0)
        hash.add(std::as_bytes(std::span(piece)).first(static_cast<std::size_t>(in.gcount())));
    return hash.hex();
}

}  // namespace

bool is_known(std::filesystem::path const& path, KnownFile const& known) {
    std::error_code error;
    return std::filesystem::file_size(path, error) == known.size && !error && sha256_of(path) == known.sha256;
}

bool is_known(std::string_view content, KnownFile const& known) {
    if (content.size() != known.size) return false;
    Sha256 hash;
    hash.add(std::as_bytes(std::span(content)));
    return hash.hex() == known.sha256;
}

}  // namespace onehead
