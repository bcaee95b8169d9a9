#include "onehead/io/text.hpp"

#include <catch2/catch.hpp>

using onehead::printable;

TEST_CASE("what can be seen stays as it is, quotes and backslashes too") {
    CHECK(printable("") == "");
    CHECK(printable("data/gpt2-mini: 'The' \"\\n\" \\") == "data/gpt2-mini: 'The' \"\\n\" \\");
    CHECK(printable("caf\u00E9 e\u0301 \u4E2D\u6587 \U0001F600") ==
          "caf\u00E9 e\u0301 \u4E2D\u6587 \U0001F600");
    CHECK(printable("'\\''") == "'\\''");
}

TEST_CASE("what a terminal would obey, or would not show, is escaped") {
    CHECK(printable("a\x1B[2J\nb\r\t\x7F") == R"(a\x1B[2J\nb\r\t\x7F)");
    CHECK(printable("a\u202Eb\u200B\uFEFF\u0085") == R"(a\u{202E}b\u{200B}\u{FEFF}\u{0085})");
    CHECK(printable("a\xFF\xC3'\xE2\x80") == R"(a\xFF\xC3'\xE2\x80)");
}

TEST_CASE("a line that is printable stays so") {
    for (auto const* const text : {"a\x1B'\n", "\\x1B", "'\u0301", "\xFF\\\xFF"})
        CHECK(printable(printable(text)) == printable(text));
}
