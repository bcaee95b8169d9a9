// The first bytes of the file: how long the header is, and whether this is such a file at all.
#include "load/safetensors_header.hpp"

#include <fmt/format.h>
#include <array>
#include <bit>
#include <span>

#include "error.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and read as it lies");

constexpr std::uint64_t longest_header = std::uint64_t{4} << 20U;  // GPT-2 XL's has 60 kB

// What else is found under the name of a model, and what to do.
struct Impostor {
    std::string_view first_bytes, explanation;
};
constexpr std::array impostors{
    Impostor{"version https://git-lfs", "a Git LFS pointer, not the file it stands for: run `git lfs pull`"},
    Impostor{"<", "a web page, not a model: download it again"},
    Impostor{"PK", "a zip archive, perhaps PyTorch's own format: save the model as safetensors"},
};

std::string first_bytes(File const& file) {
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64)), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

// The length of a real header can look like a letter or two, so this is asked only where it cannot be a
// length.
[[noreturn]] void refuse_length(File const& file, std::uint64_t length) {
    std::string const start = first_bytes(file);
    for (auto const& [known, explanation] : impostors)
        if (start.starts_with(known))
            throw Error(fmt::format("{}: expected a safetensors file, found {}", file.name(), explanation));
    throw Error(
        fmt::format("{}: expected a safetensors file, whose header has 1 to {} bytes, found length {}: "
                    "it starts with {}",
                    file.name(), longest_header, length, quote(start.substr(0, 16))));
}

std::uint64_t header_length(File const& file) {
    constexpr std::size_t prefix = sizeof(std::uint64_t);
    if (file.size() < prefix)
        throw Error(fmt::format("{}: expected a safetensors file, found {} bytes: download it again",
                                file.name(), file.size()));
    std::uint64_t length = 0;
    file.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length == 0 || length > longest_header) refuse_length(file, length);
    if (length > file.size() - prefix)
        throw Error(fmt::format(
            "{}: cut short in its header: expected at least {} bytes, found {}: download it again",
            file.name(), prefix + length, file.size()));
    return length;
}

}  // namespace

SafetensorsHeader read_header(File const& file) {
    std::uint64_t const length = header_length(file);
    std::string text(static_cast<std::size_t>(length), '\0');
    file.read(sizeof length, std::as_writable_bytes(std::span(text)));
    SafetensorsHeader header = parse_header(text, file.name());
    header.data_begin = sizeof length + length;
    check_ranges(header, file.size() - header.data_begin, file.name());
    return header;
}

}  // namespace onehead
