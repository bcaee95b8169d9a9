// Where "the same bytes everywhere" ends: which characters can be seen is what PCRE2 knows of Unicode, and
// each of its versions knows more of them.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "onehead/io/text.hpp"

TEST_CASE("a character that is new in Unicode is an escape where PCRE2 does not know it yet") {
    std::array<char, 32> version{};
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version.data());
    CAPTURE(version.data());
    // U+1FAE0 came with Unicode 14, U+1FAE8 with 15. Debian 12's PCRE2 has 14, Debian 13's has 16.
    bool const knows_15 = std::atoi(version.data()) >= 15;
    CHECK(onehead::label("\U0001FAE0") == "'\U0001FAE0'");
    CHECK(onehead::label("\U0001FAE8") == (knows_15 ? "'\U0001FAE8'" : "'\\u{1FAE8}'"));
}
