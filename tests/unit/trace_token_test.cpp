// Labels: what they look like, and that undoing the escapes gives the bytes back, so that no two tokens share
// one.
#include "onehead/trace/trace.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "onehead/model/tokenizer.hpp"
#include "support/bytes_of_label.hpp"
#include "support/temp_folder.hpp"

using onehead::display_width;
using onehead::label;
using onehead::test::bytes_of_label;

TEST_CASE("a label shows what can be seen and escapes what cannot") {
    CHECK(label(" cat") == "' cat'");
    CHECK(label("") == "''");
    CHECK(label("NA") == "'NA'");
    CHECK(label("a\n\t\r") == R"('a\n\t\r')");
    CHECK(label("it's \"\\\"") == R"('it\'s "\\"')");
    CHECK(label(std::string_view("\0\x1B\x7F", 3)) == R"('\x00\x1B\x7F')");
    CHECK(label("\xF0\x9F\x98") == R"('\xF0\x9F\x98')");
    CHECK(label("a\xFFz") == R"('a\xFFz')");
    CHECK(label("\xC3\xA9\xC3") == "'\u00E9\\xC3'");
    CHECK(label("caf\u00E9 \u4E2D\U0001F600") == "'caf\u00E9 \u4E2D\U0001F600'");
    CHECK(label("\xED\xA0\x80\xC0\xAF") == R"('\xED\xA0\x80\xC0\xAF')");
}

TEST_CASE("a label escapes characters that hide, move or imitate others") {
    auto const [character, expected] = GENERATE(table<std::string, std::string>({
        {"\u00A0", R"('\u{00A0}')"},  // no-break space
        {"\u0085", R"('\u{0085}')"},  // next line, a C1 control; the byte \x85 has another label
        {"\u3000", R"('\u{3000}')"},  // ideographic space
        {"\u00AD", R"('\u{00AD}')"},  // soft hyphen
        {"\u200B", R"('\u{200B}')"},  // zero width space
        {"\u200D", R"('\u{200D}')"},  // zero width joiner
        {"\u202E\u202C", R"('\u{202E}\u{202C}')"},  // right-to-left override
        {"\u2066\u2069", R"('\u{2066}\u{2069}')"},  // left-to-right isolate
        {"\u061C", R"('\u{061C}')"},                // Arabic letter mark
        {"\u2028", R"('\u{2028}')"},                // line separator
        {"\uFEFF", R"('\u{FEFF}')"},                // byte order mark
        {"\u180E", R"('\u{180E}')"},                // Mongolian vowel separator
        {"\u3164", R"('\u{3164}')"},                // Hangul filler: a letter without ink
        {"\u2800", R"('\u{2800}')"},                // Braille pattern without dots
        {"\uFFFD", R"('\u{FFFD}')"},                // looks like a broken byte
        {"\uE000", R"('\u{E000}')"},                // private use
        {"\u0378", R"('\u{0378}')"},                // unassigned
        {"\uFDD0", R"('\u{FDD0}')"},                // no character for ever
        {"\U000E0041", R"('\u{E0041}')"},           // tag
        {"\U0010FFFF", R"('\u{10FFFF}')"},          // the last one
    }));
    CHECK(label(character) == expected);
}

TEST_CASE("a combining mark is shown where it has something to sit on") {
    CHECK(label("e\u0301\u0302") == "'e\u0301\u0302'");
    CHECK(label("\u0301") == R"('\u{0301}')");
    CHECK(label(" \u0301") == R"(' \u{0301}')");
    CHECK(label("\n\u0301") == R"('\n\u{0301}')");
    CHECK(label("\\\u0301") == R"('\\\u{0301}')");
    CHECK(label("\u200B\u0301\u0302") == R"('\u{200B}\u{0301}\u{0302}')");
    CHECK(label("\u2764\uFE0F") == "'\u2764\\u{FE0F}'");
}

TEST_CASE("no two tokens of GPT-2 share a label, and a label gives the bytes back") {
    onehead::Tokenizer const tokenizer(onehead::test::gpt2_mini);
    std::set<std::string> labels;
    for (int id = 0; id < tokenizer.size(); ++id) {
        std::string const bytes = tokenizer.bytes(id);
        if (bytes_of_label(label(bytes)) != bytes) FAIL("token " << id << ": " << label(bytes));
        if (onehead::bytes_of_label(label(bytes)) != bytes) FAIL("token " << id << ": " << label(bytes));
        labels.insert(label(bytes));
    }
    CHECK(labels.size() == 50257);
}

TEST_CASE("any bytes come back from their label") {
    auto random = [state = 1U]() mutable { return (state = state * 1664525U + 1013904223U) >> 12U; };
    std::string_view const likely = "\\'xu{}41 \n\xC2\xA0\xE2\x80\x8B\xCC\x81\xF0\x9F\x98\x80";
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes(random() % 12, '\0');
        for (char& byte : bytes)
            byte = random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
        if (bytes_of_label(label(bytes)) != bytes) FAIL(label(bytes));
        if (onehead::bytes_of_label(label(bytes)) != bytes) FAIL(label(bytes));
    }
}

TEST_CASE("the display width counts columns") {
    CHECK(display_width("") == 0);
    CHECK(display_width("' cat'") == 6);
    CHECK(display_width("caf\u00E9") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("\u4E2D\u6587") == 4);
    CHECK(display_width("\u304B\u30AB\uFF76") == 5);  // the last one is half a column pair wide
    CHECK(display_width("\uAC00") == 2);
    CHECK(display_width("\u1112\u1161\u11AB") == 2);  // one syllable from three letters
    CHECK(display_width("\uFF01") == 2);
    CHECK(display_width("\U0001F600\U0001F680\u2705") == 6);
    CHECK(display_width("\U0001F1E9\U0001F1EA") == 2);  // a flag
    CHECK(display_width("\u2192\u2014\u00B1") == 3);
    CHECK(display_width("\u05E9\u05B8") == 1);
    CHECK(display_width("\u200B\u202E\u202C") == 0);
    CHECK(display_width("\xF0\x9F") == 2);  // bytes that are no UTF-8
}

TEST_CASE("what is no label has no bytes") {
    for (std::string const text :
         {"", "'", "cat", "'cat", "'a'b'", R"('\')", R"('\q')", R"('\x1')", R"('\x1z')", R"('\x41')",
          R"('\u{110000}')", R"('\u{41}')", R"('\u{')", "'\n'", R"('\#5')"})
        if (onehead::bytes_of_label(text)) FAIL(text);
}

TEST_CASE("what a message repeats is short and plain") {
    using onehead::quote;
    CHECK(quote("a \"b\" \\ 'c'") == R"("a \"b\" \\ 'c'")");
    CHECK(quote("a\n\x1B[2J\u202E") == R"("a\n\x1B[2J\u{202E}")");
    CHECK(quote(std::string(80, 'x')) == '"' + std::string(80, 'x') + '"');
    CHECK(quote(std::string(81, 'x')) == '"' + std::string(80, 'x') + "\"...");
    CHECK(quote(std::string(79, 'x') + "\u4E2D\u6587") ==
          '"' + std::string(79, 'x') + "\"...");  // no half of a character
}

TEST_CASE("what is not UTF-8 is replaced, byte by byte") {
    CHECK(onehead::valid_utf8("a\xFFz\xF0\x9F") == "a\uFFFDz\uFFFD\uFFFD");
    CHECK(onehead::valid_utf8("caf\u00E9") == "caf\u00E9");
    CHECK(onehead::valid_utf8("") == "");
}
