// Text as code points: the one decoder of UTF-8 that everything else goes through. What Unicode forbids
// (overlong forms, surrogates, values above U+10FFFF, sequences cut short) is no code point here either.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;

namespace onehead {

struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;  // in bytes; 0 where no valid code point begins
};

CodePoint code_point_at(std::string_view text, std::size_t at);

// The offset of the first byte that begins no valid code point; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

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

// The bytes in single quotes, with everything that cannot be seen as itself written as an escape: ' cat',
// '\n', '\xF0\x9F', '\''. Never the same for two different tokens.
std::string label(std::string_view bytes);

// How many columns a UTF-8 text takes in a terminal: two for wide characters.
std::size_t display_width(std::string_view text);

// Text from outside, such as a file's name, as it may stand in a line for people. What would move the cursor,
// hide itself or turn the text around is written as an escape, as in a token's label.

// Visible text, quotes and backslashes stay as they are, so that what is printable already stays too.
std::string printable(std::string_view text);

// Text out of a file, as it may stand in a message: in double quotes, on one line, plain ASCII and not
// endless, whatever the file holds.

std::string quote(std::string_view text);

}  // namespace onehead
