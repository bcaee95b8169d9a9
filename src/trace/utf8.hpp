// Text as code points: the one decoder of UTF-8 that everything else goes through. What Unicode forbids
// (overlong forms, surrogates, values above U+10FFFF, sequences cut short) is no code point here either.
#pragma once

#include <cstddef>
#include <string_view>

namespace onehead {

struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;  // in bytes; 0 where no valid code point begins
};

CodePoint code_point_at(std::string_view text, std::size_t at);

// The offset of the first byte that begins no valid code point; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace onehead
