// Every direction is a table.
#include "load/byte_symbols.hpp"

#include <array>
#include <cstddef>

#include "trace/utf8.hpp"

namespace onehead {

namespace {

constexpr std::size_t n_bytes = 256;
constexpr std::size_t n_characters = 0x144;  // the last of the alphabet is U+0143

constexpr bool is_visible(std::size_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
    std::array<std::array<char, 2>, n_bytes> utf8{};
    std::array<ByteSymbol, n_bytes> by_byte;
    std::array<std::size_t, n_bytes> byte_by_number{};
    std::array<std::optional<char>, n_characters> byte_by_character;

    Alphabet() {
        std::size_t moved_to = 0x100;
        for (bool const visible : {true, false}) {
            for (std::size_t byte = 0; byte < n_bytes; ++byte) {
                if (is_visible(byte) == visible) add(byte, visible ? byte : moved_to++);
            }
        }
    }

    void add(std::size_t byte, std::size_t character) {
        byte_by_character[character] = static_cast<char>(byte);
        byte_by_number[n_added] = byte;
        by_byte[byte] = {static_cast<int>(n_added++), encode(byte, character)};
    }

    std::string_view encode(std::size_t byte, std::size_t character) {
        if (character < 0x80) utf8[byte] = {static_cast<char>(character), '\0'};
        if (character >= 0x80)
            utf8[byte] = {static_cast<char>(0xC0 | character >> 6),
                          static_cast<char>(0x80 | (character & 0x3F))};
        return {utf8[byte].data(), character < 0x80 ? 1U : 2U};
    }

    std::size_t n_added = 0;
};

Alphabet const& alphabet() {
    static Alphabet const alphabet;
    return alphabet;
}

}  // namespace

ByteSymbol const& symbol_of_byte(char byte) {
    return alphabet().by_byte[static_cast<unsigned char>(byte)];
}

ByteSymbol const& byte_symbol(int number) {
    return alphabet().by_byte[alphabet().byte_by_number.at(static_cast<std::size_t>(number))];
}

std::optional<std::string> bytes_of(std::string_view characters) {
    std::string bytes;
    for (std::size_t at = 0; at < characters.size();) {
        auto const [character, length] = code_point_at(characters, at);
        if (length == 0 || character >= n_characters || !alphabet().byte_by_character[character])
            return std::nullopt;
        bytes += *alphabet().byte_by_character[character];
        at += length;
    }
    return bytes;
}

}  // namespace onehead
