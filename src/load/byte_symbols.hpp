// GPT-2's alphabet. Its files write each of the 256 bytes as one visible character, so that text files can
// hold them: the 188 visible characters of Latin-1 stand for themselves, the other bytes are moved to U+0100
// and up: a space is U+0120. In the vocabulary the single bytes come in that order too, visible ones first.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace onehead {

struct ByteSymbol {
    int number = 0;               // 0 to 255
    std::string_view characters;  // one character, as UTF-8
};

ByteSymbol const& symbol_of_byte(char byte);

// The symbol with that number, 0 to 255.
ByteSymbol const& byte_symbol(int number);

// The bytes that a text in the alphabet stands for; nothing if a character is not of the alphabet.
std::optional<std::string> bytes_of(std::string_view characters);

}  // namespace onehead
