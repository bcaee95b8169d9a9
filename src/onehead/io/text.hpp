// Text from outside, made safe to read: what a terminal would obey, what hides, turns the text around or
// looks like something else is written as an escape. Below that, UTF-8 and Unicode as far as that and the
// tokenizer need them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;

namespace onehead {

// A token's bytes in single quotes: ' cat', '\n', '\xF0\x9F', '\''. Different bytes have different labels.
std::string label(std::string_view bytes);

// The bytes whose label it is; nothing for a text that is no label.
std::optional<std::string> bytes_of_label(std::string_view shown);

// The same without quotes, for a line for people, such as a file's name or a whole message. Visible text,
// quotes and backslashes stay as they are, so what is printable already stays too.
std::string printable(std::string_view text);

// What a message repeats of a file: in double quotes, and not endless.
std::string quote(std::string_view text);

// How many columns a UTF-8 text takes in a terminal: two for wide characters.
std::size_t display_width(std::string_view text);

// The code point that begins at a byte. What Unicode forbids (overlong forms, surrogates, values above
// U+10FFFF, sequences cut short) is none.
struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;  // in bytes; 0 where no valid code point begins
};

CodePoint code_point_at(std::string_view text, std::size_t at);

// The offset of the first byte that begins no valid code point; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

// The text with U+FFFD for what is not UTF-8, as JSON has to have it.
std::string valid_utf8(std::string_view text);

// "1 row", "2 rows".
std::string counted(std::size_t count, std::string_view noun);

// In single quotes, as a shell takes it for one word whatever is in it.
std::string shell_quoted(std::string_view text);

// A regular expression over UTF-8 text that knows Unicode's properties: as much of PCRE2 as this project
// needs, which is to ask whether the expression matches at one place.
class Regex {
public:
    explicit Regex(std::string_view pattern);

    // How many bytes the match takes that begins exactly at `at`; 0 if there is none. The text must be valid
    // UTF-8 and `at` the beginning of a code point. May be called from several threads.
    std::size_t match_length(std::string_view text, std::size_t at) const;

private:
    std::shared_ptr<pcre2_real_code_8 const> code_;
};

}  // namespace onehead
