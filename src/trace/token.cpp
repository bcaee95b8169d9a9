// Labels. A character stays as it is if a reader can tell it from every other; else it becomes an escape:
//   \n \t \r \' \\     as in C++
//   \x1B               an ASCII control character (two digits)
//   \xF0               a byte that belongs to no valid UTF-8; such bytes are 80 or more, so it is never one
//   of the former \u{200B}           any other code point: spaces but U+0020, what is invisible or reorders
//   the text, private and
//                      unassigned ones, and a combining mark with nothing visible before it to sit on
// Undoing the escapes gives the bytes back, which is why no two byte strings share a label.
#include "trace/token.hpp"

#include <fmt/format.h>

#include "trace/regex.hpp"
#include "trace/utf8.hpp"

namespace onehead {

namespace {

enum class Look { visible, mark, hidden };

bool matches(Regex const& regex, std::string_view text, std::size_t at) {
    return regex.match_length(text, at) > 0;
}

// U+2800 is an empty Braille cell; U+FFFC and U+FFFD stand for something that could not be shown.
Look look_at(std::string_view text, std::size_t at) {
    static Regex const hidden(R"([\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\x{2800}\x{FFFC}\x{FFFD}])");
    static Regex const mark(R"(\p{M})");
    if (matches(hidden, text, at)) return Look::hidden;
    return matches(mark, text, at) ? Look::mark : Look::visible;
}

std::string byte_escape(char byte) {
    return fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
}

// The text that a label is made of, and whether it ends in something that a combining mark can sit on.
struct Label {
    std::string text = "'";
    bool carries_mark = false;

    void show(std::string_view character, bool carries) {
        text += character;
        carries_mark = carries;
    }

    void escape(std::string_view characters) {
        text += characters;
        carries_mark = false;
    }

    void add_ascii(char c) {
        switch (c) {
            case '\n':
                return escape("\\n");
            case '\t':
                return escape("\\t");
            case '\r':
                return escape("\\r");
            case '\'':
                return escape("\\'");
            case '\\':
                return escape("\\\\");
            default:
                break;
        }
        if (c < ' ' || c == '\x7F') return escape(byte_escape(c));
        show({&c, 1}, c != ' ');
    }

    void add_wide(std::string_view character, char32_t value) {
        Look const look = look_at(character, 0);
        if (look == Look::visible || (look == Look::mark && carries_mark)) return show(character, true);
        escape(fmt::format("\\u{{{:04X}}}", static_cast<unsigned>(value)));
    }
};

}  // namespace

std::string label(std::string_view bytes) {
    Label label;
    for (std::size_t at = 0; at < bytes.size();) {
        auto const [value, length] = code_point_at(bytes, at);
        if (length == 0) label.escape(byte_escape(bytes[at]));
        if (length == 1) label.add_ascii(bytes[at]);
        if (length > 1) label.add_wide(bytes.substr(at, length), value);
        at += length == 0 ? 1 : length;
    }
    return label.text + '\'';
}

}  // namespace onehead
