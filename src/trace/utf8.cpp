// How many bytes a code point takes is written in its first byte; each of the others begins with the bits 10.
#include "trace/utf8.hpp"

namespace onehead {

namespace {

std::size_t sequence_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    if (first >= 0xF0 && first < 0xF5) return 4;
    return 0;
}

char32_t payload_of_first_byte(unsigned char first, std::size_t length) {
    return length == 1 ? first : first & (0xFFU >> (length + 1));
}

bool is_allowed(char32_t value, std::size_t length) {
    char32_t const smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0;
    bool const surrogate = value >= 0xD800 && value < 0xE000;
    return value >= smallest && value <= 0x10FFFF && !surrogate;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
    auto const first = static_cast<unsigned char>(text[at]);
    std::size_t const length = sequence_length(first);
    if (length == 0 || length > text.size() - at) return {};
    char32_t value = payload_of_first_byte(first, length);
    for (char const c : text.substr(at + 1, length - 1)) {
        auto const byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0U) != 0x80) return {};
        value = (value << 6U) | (byte & 0x3FU);
    }
    return is_allowed(value, length) ? CodePoint{value, length} : CodePoint{};
}

std::size_t find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = code_point_at(text, at).length;
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

}  // namespace onehead
