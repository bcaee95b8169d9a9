#include "onehead/io/csv.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "onehead/error.hpp"

using namespace onehead;
using Catch::Matchers::Contains;
using Fields = std::vector<std::string>;

namespace {

std::vector<Fields> records(std::string const& text) {
    CsvReader csv{text, "f.csv"};
    std::vector<Fields> all;
    while (csv.next()) all.push_back(csv.fields());
    return all;
}

}  // namespace

TEST_CASE("records are read as RFC 4180 has them") {
    CHECK(records("").empty());
    CHECK(records("a,b\n1,2\n") == std::vector<Fields>{{"a", "b"}, {"1", "2"}});
    CHECK(records("a\r\nb\r\n") == std::vector<Fields>{{"a"}, {"b"}});
    CHECK(records(",\n") == std::vector<Fields>{{"", ""}});
    CHECK(records("\n") == std::vector<Fields>{{""}});
    CHECK(records("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n") ==
          std::vector<Fields>{{"a,b", "say \"hi\"", "two\nlines"}});
    CHECK(records("\"\",\"\"\"\"\n") == std::vector<Fields>{{"", "\""}});
}

TEST_CASE("what is not RFC 4180 is refused with its place") {
    CHECK_THROWS_WITH(records("a,b\n1,2"),
                      Contains("f.csv: line 2, column 2: expected a line break, found the end"));
    CHECK_THROWS_WITH(records("a,b\n1,"), Contains("line 2, column 2") && Contains("the end of the file"));
    CHECK_THROWS_WITH(records("a\nb\"c\n"), Contains("line 2, column 1") && Contains("a quote within it"));
    CHECK_THROWS_WITH(records("a,\"b\n"), Contains("column 2: expected a closing quote"));
    CHECK_THROWS_WITH(records("\"a\"b\n"), Contains("column 1") && Contains("found \"b\""));
    CHECK_THROWS_WITH(records("a\rb\n"), Contains("line 1, column 1") && Contains("\\r"));
    CHECK_THROWS_WITH(records("\"two\nlines\"\n\"x\"y\n"), Contains("line 3"));
    CHECK_THROWS_WITH(records("a\r"), Contains("found \"\\r\""));
}

TEST_CASE("an expectation that fails says what was there") {
    CsvReader csv{"pos,d0\n0,nan\n", "f.csv"};
    csv.expect_next("a header");
    CHECK_THROWS_AS(csv.expect(1, "d1"), Error);
    CHECK_THROWS_WITH(csv.expect(1, "d1"), Contains("line 1, column 2: expected \"d1\", found \"d0\""));
    CHECK_THROWS_WITH(csv.expect_count(3), Contains("expected 3 fields, found 2"));
    csv.expect_next("row 0");
    CHECK_THROWS_WITH(csv.number(1, true), Contains("line 2, column 2: expected a float32 or -inf, found"));
    CHECK_THROWS_WITH(csv.expect_next("row 1"), Contains("line 3, column 1: expected row 1"));
    CsvReader longer{"a\nb\n", "f.csv"};
    longer.expect_next("a header");
    CHECK_THROWS_WITH(longer.expect_end(), Contains("line 2") && Contains("expected the end of the file"));
}

TEST_CASE("minus infinity is a number only where it may be one") {
    CsvReader csv{"-inf\n", "f.csv"};
    csv.expect_next("a number");
    CHECK(csv.number(0, true) == -std::numeric_limits<float>::infinity());
    CHECK_THROWS_WITH(csv.number(0, false), Contains("expected a finite float32, found \"-inf\""));
}

TEST_CASE("a float is read whole and to the bit") {
    CHECK(parse_float("0.1") == 0.1F);
    CHECK(parse_float("16777217") == 16777216.0F);  // halfway: to even
    CHECK(parse_float("1e-45") == std::numeric_limits<float>::denorm_min());
    CHECK(parse_float("3.4028235e+38") == std::numeric_limits<float>::max());
    CHECK(std::signbit(parse_float("-0").value()));
    for (auto const* text :
         {"", " 1", "1 ", "+1", "1,5", "nan", "inf", "-nan", "1e39", "0x10", "-infinity", "1e", "#NUM!"})
        CHECK_FALSE(parse_float(text).has_value());
}
