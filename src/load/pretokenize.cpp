// The expression is GPT-2's own. Its \s means Unicode's White_Space, as in the Python module `regex` that
// GPT-2 uses: with U+0085, without U+001C to U+001F, U+180E and U+FEFF. The \s of PCRE2 takes U+180E too, and
// JavaScript's takes U+FEFF and not U+0085, so the property is asked for by name. Upper-case 'S is no
// contraction: GPT-2 sees to case.
#include "load/pretokenize.hpp"

#include "trace/regex.hpp"

namespace onehead {

std::size_t piece_length(std::string_view text, std::size_t at) {
    static Regex const piece(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+)"
                             R"(|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+)");
    return piece.match_length(text, at);
}

}  // namespace onehead
