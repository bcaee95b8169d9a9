// A character stays as it is if a reader can tell it from every other; else it becomes an escape:
//   \n \t \r \' \\     as in C++
//   \x1B               an ASCII control character (two digits)
//   \xF0               a byte that belongs to no valid UTF-8; such bytes are 80 or more, so it is never one
//                      of the former
//   \u{200B}           any other code point: spaces but U+0020, what is invisible or reorders the text,
//                      private and unassigned ones, and a combining mark with nothing visible before it
// Undoing the escapes gives the bytes back, which is why no two byte strings share a label.
#include "onehead/io/text.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>
#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "onehead/error.hpp"

namespace onehead {

namespace {

std::string escaped(std::string_view text, std::string_view quotes);

}  // namespace

std::string label(std::string_view bytes) {
    return '\'' + escaped(bytes, "'\\") + '\'';
}

std::string printable(std::string_view text) {
    return escaped(text, "");
}

std::string quote(std::string_view text) {
    std::size_t longest = 80;
    if (text.size() <= longest) return '"' + escaped(text, "\"\\") + '"';
    while (longest > 76 && (static_cast<unsigned char>(text[longest]) & 0xC0U) == 0x80) --longest;
    return '"' + escaped(text.substr(0, longest), "\"\\") + "\"...";
}

namespace {

enum class Look { visible, mark, hidden };

// U+2800 is an empty Braille cell; U+FFFC and U+FFFD stand for something that could not be shown.
Look look_of(std::string_view character) {
    static Regex const hidden(R"([\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\x{2800}\x{FFFC}\x{FFFD}])");
    static Regex const mark(R"(\p{M})");
    if (hidden.match_length(character, 0) > 0) return Look::hidden;
    return mark.match_length(character, 0) > 0 ? Look::mark : Look::visible;
}

// What stands for one ASCII character; empty if it stands for itself.
std::string ascii_escape(char c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\t':
            return "\\t";
        case '\r':
            return "\\r";
        default:
            return c < ' ' || c == '\x7F' ? fmt::format("\\x{:02X}", static_cast<unsigned char>(c)) : "";
    }
}

// quotes: characters that get a backslash before them.
std::string escaped(std::string_view text, std::string_view quotes) {
    constexpr std::string_view no_base = " \'\\";  // a combining mark is not shown on these
    std::string shown;
    bool carries_mark = false;
    for (std::size_t at = 0; at < text.size();) {
        auto const [value, length] = code_point_at(text, at);
        std::string_view const character = text.substr(at, std::max<std::size_t>(length, 1));
        char const c = text[at];
        at += character.size();
        std::string escape;
        if (length == 0) escape = fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
        if (length == 1) escape = quotes.find(c) == quotes.npos ? ascii_escape(c) : std::string{'\\', c};
        if (length > 1) {
            Look const look = look_of(character);
            if (look == Look::hidden || (look == Look::mark && !carries_mark))
                escape = fmt::format("\\u{{{:04X}}}", static_cast<unsigned>(value));
        }
        shown += escape.empty() ? character : escape;
        carries_mark = escape.empty() && no_base.find(c) == no_base.npos;
    }
    return shown;
}

std::string utf8(char32_t value) {
    auto const last = [value](unsigned shift) {
        return static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
    };
    auto const first = [value](unsigned marker, unsigned shift) {
        return static_cast<char>(marker | (value >> shift));
    };
    if (value < 0x80) return {static_cast<char>(value)};
    if (value < 0x800) return {first(0xC0, 6), last(0)};
    if (value < 0x10000) return {first(0xE0, 12), last(6), last(0)};
    return {first(0xF0, 18), last(12), last(6), last(0)};
}

// Takes an escape off the front of a text, after its backslash.
std::optional<std::string> take_escape(std::string_view& text) {
    char const kind = text.empty() ? '\0' : text[0];
    text.remove_prefix(std::min<std::size_t>(text.size(), 1));
    if (kind == 'n') return "\n";
    if (kind == 't') return "\t";
    if (kind == 'r') return "\r";
    if (kind == '\'' || kind == '\\') return std::string{kind};
    bool const is_byte = kind == 'x';
    if (!is_byte && (kind != 'u' || !text.starts_with('{'))) return std::nullopt;
    if (!is_byte) text.remove_prefix(1);
    std::size_t const length = is_byte ? 2 : text.find('}');
    if (length > text.size()) return std::nullopt;
    std::uint32_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + length, value, 16);
    if (error != std::errc{} || end != text.data() + length || value > 0x10FFFF) return std::nullopt;
    text.remove_prefix(is_byte ? 2 : length + 1);
    return is_byte ? std::string{static_cast<char>(value)} : utf8(value);
}

}  // namespace

std::optional<std::string> bytes_of_label(std::string_view shown) {
    if (shown.size() < 2 || shown.front() != '\'' || shown.back() != '\'') return std::nullopt;
    std::string bytes;
    for (std::string_view rest = shown.substr(1, shown.size() - 2); !rest.empty();) {
        char const c = rest[0];
        rest.remove_prefix(1);
        if (c != '\\') {
            bytes += c;
        } else if (auto const character = take_escape(rest)) {
            bytes += *character;
        } else {
            return std::nullopt;
        }
    }
    if (label(bytes) != shown) return std::nullopt;  // other escapes than `label` would write
    return bytes;
}

// An estimate of the columns that a terminal gives a text: the sum over its code points of 2 for what Unicode
// calls wide (East Asian Wide or Fullwidth, and what is shown as an emoji), 0 for marks and invisible
// characters, 1 for the rest. Terminals disagree about sequences that join emoji; each part is counted here.
// Each half of a flag takes 1.

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

// The expression is interpreted, not compiled to machine code: most texts are a sentence, over before that
// would pay.

namespace {

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

std::string pcre2_message(int code) {
    std::string message(128, '\0');
    int const length =
        pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message.data()), message.size());
    message.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return message;
}

PCRE2_SPTR code_units(std::string_view text) {
    return reinterpret_cast<PCRE2_SPTR>(text.data());
}

pcre2_code* compile(std::string_view pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* const code = pcre2_compile(code_units(pattern), pattern.size(), PCRE2_UTF | PCRE2_ANCHORED,
                                           &error, &offset, nullptr);
    if (code != nullptr) return code;
    throw Error(fmt::format(
        "PCRE2 {}.{} does not take the expression {} at offset {}: {}; expected PCRE2 10.40 or later "
        "with Unicode",
        PCRE2_MAJOR, PCRE2_MINOR, pattern, offset, pcre2_message(error)));
}

pcre2_match_data* match_data_of_this_thread() {
    thread_local MatchData const data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
    return data.get();
}

}  // namespace

Regex::Regex(std::string_view pattern) : code_(compile(pattern), pcre2_code_free) {}

std::size_t Regex::match_length(std::string_view text, std::size_t at) const {
    // Without NO_UTF_CHECK each call would check the whole text.
    pcre2_match_data* const data = match_data_of_this_thread();
    int const result =
        pcre2_match(code_.get(), code_units(text), text.size(), at, PCRE2_NO_UTF_CHECK, data, nullptr);
    if (result == PCRE2_ERROR_NOMATCH) return 0;
    if (result < 0)
        throw Error(fmt::format("PCRE2 gives up at byte {} of a text: {}", at, pcre2_message(result)));
    return pcre2_get_ovector_pointer(data)[1] - at;
}

// How many bytes a code point takes is written in its first byte; each of the others begins with the bits 10.

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

std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        std::size_t const length = std::min(find_invalid_utf8(text), text.size());
        valid += text.substr(0, length);
        if (length < text.size()) valid += "\xEF\xBF\xBD";
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    return valid;
}

std::size_t find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const length = code_point_at(text, at).length;
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_quoted(std::string_view text) {
    std::string word = "'";
    for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

}  // namespace onehead
