// An estimate of the columns that a terminal gives a text: the sum over its code points of 2 for what Unicode
// calls wide (East Asian Wide or Fullwidth, and what is shown as an emoji), 0 for marks and invisible
// characters, 1 for the rest. Terminals disagree about sequences that join emoji; each part is counted here.
// Each half of a flag takes 1.
#include "trace/regex.hpp"
#include "trace/token.hpp"
#include "trace/utf8.hpp"

namespace onehead {

namespace {

// Blocks with all their unassigned places, which Unicode reserves for wide characters or leaves open.
constexpr std::string_view wide_characters =
    R"((?![\x{1F1E6}-\x{1F1FF}])[\p{Emoji_Presentation})"
    R"(\x{1100}-\x{115F}\x{2329}\x{232A}\x{2E80}-\x{303E}\x{3041}-\x{3247}\x{3250}-\x{4DBF}\x{4E00}-\x{A4C6})"
    R"(\x{A960}-\x{A97C}\x{AC00}-\x{D7A3}\x{F900}-\x{FAD9}\x{FE10}-\x{FE19}\x{FE30}-\x{FE6B}\x{FF01}-\x{FF60})"
    R"(\x{FFE0}-\x{FFE6}\x{16FE0}-\x{1B2FB}\x{1F200}-\x{1F265}\x{20000}-\x{3FFFD}])";

constexpr std::string_view zero_width_characters =
    R"([\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\x{1160}-\x{11FF}])";

std::size_t width_of(std::string_view character) {
    static Regex const zero(zero_width_characters);
    static Regex const wide(wide_characters);
    if (zero.match_length(character, 0) > 0) return 0;
    return wide.match_length(character, 0) > 0 ? 2 : 1;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = code_point_at(text, at).length;
        bool const is_printable_or_broken =
            length == 0 || (length == 1 && text[at] >= ' ' && text[at] != '\x7F');
        width += is_printable_or_broken ? 1 : width_of(text.substr(at, length));
        at += length == 0 ? 1 : length;
    }
    return width;
}

}  // namespace onehead
