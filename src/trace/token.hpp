// A token as people and files see it: its id in the vocabulary, the bytes it stands for, and a label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onehead {

struct Token {
    int id = 0;
    std::string bytes;  // need not be valid UTF-8: an emoji is several tokens
};

using Tokens = std::vector<Token>;

// The bytes in single quotes, with everything that cannot be seen as itself written as an escape: ' cat',
// '\n', '\xF0\x9F', '\''. Never the same for two different tokens.
std::string label(std::string_view bytes);

// How many columns a UTF-8 text takes in a terminal: two for wide characters.
std::size_t display_width(std::string_view text);

}  // namespace onehead
