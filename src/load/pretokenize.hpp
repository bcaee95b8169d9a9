// Before any merge, GPT-2 cuts a text into pieces: words, numbers, runs of other signs, each with the one
// space before it, and runs of white space. No token reaches over the edge of a piece.
#pragma once

#include <cstddef>
#include <string_view>

namespace onehead {

// How many bytes the piece has that begins at `at`. The text must be valid UTF-8 and `at` the end of a piece
// or 0.
std::size_t piece_length(std::string_view text, std::size_t at);

}  // namespace onehead
