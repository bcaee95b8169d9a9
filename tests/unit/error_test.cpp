#include <catch2/catch.hpp>

#include "onehead/error.hpp"

using onehead::Error;
using onehead::UsageError;

TEST_CASE("an error says where, what was expected, what was found and what to do", "[error]") {
    CHECK(Error({.where = "a.npy", .expected = "float32", .found = "float64", .advice = "save it again"})
              .what() == std::string{"a.npy: expected float32, found float64; save it again"});
    CHECK(Error({.where = "a.npy", .expected = "a file"}).what() == std::string{"a.npy: expected a file"});
    CHECK(Error({.where = "a.npy", .found = "cannot be opened: denied"}).what() ==
          std::string{"a.npy: cannot be opened: denied"});
    CHECK(Error({.found = "no memory is left", .advice = "take a shorter text"}).what() ==
          std::string{"no memory is left; take a shorter text"});
}

TEST_CASE("an error about a field of the request begins with its name", "[error]") {
    UsageError const error{"head", {.expected = "a head from 0 to 2", .found = "3"}};
    CHECK(error.what() == std::string{"head: expected a head from 0 to 2, found 3"});
    CHECK(error.field() == "head");
    CHECK(UsageError{"text", {.where = "byte 3", .expected = "UTF-8"}}.what() ==
          std::string{"text: byte 3: expected UTF-8"});
    CHECK(UsageError{"no field"}.field().empty());
}
