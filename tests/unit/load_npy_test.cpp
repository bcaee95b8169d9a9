#include "onehead/io/npy.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "onehead/error.hpp"

using namespace onehead;
using Catch::Matchers::Contains;

namespace {

std::string little_endian(std::uint64_t number, int count) {
    std::string bytes;
    for (; count > 0; --count, number >>= 8) bytes += static_cast<char>(number & 0xff);
    return bytes;
}

std::string file(int version, std::string const& header, std::string const& numbers) {
    std::string const length = little_endian(header.size(), version == 1 ? 2 : 4);
    return "\x93NUMPY" + little_endian(static_cast<unsigned>(version), 2) + length + header + numbers;
}

std::string header(std::string const& dtype, std::string const& shape, std::string const& fortran = "False") {
    return "{'descr': '" + dtype + "', 'fortran_order': " + fortran + ", 'shape': (" + shape + "), }     \n";
}

std::string floats(std::vector<float> const& values) {
    std::string bytes;
    for (float const value : values) bytes += little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return bytes;
}

std::string doubles(std::vector<double> const& values) {
    std::string bytes;
    for (double const value : values) bytes += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return bytes;
}

}  // namespace

// numpy.save(f, numpy.array([[1.5, -2]], dtype="<f4")), byte for byte.
TEST_CASE("a file of numpy's own is read") {
    std::string const header_text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    std::string const saved = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header_text +
                              std::string(117 - header_text.size(), ' ') + "\n" +
                              std::string("\x00\x00\xc0\x3f\x00\x00\x00\xc0", 8);
    REQUIRE(saved.size() == 128 + 8);
    Array const array = parse_npy(saved, "a.npy");
    CHECK(array.shape == std::vector<std::size_t>{1, 2});
    CHECK(array.values == std::vector<double>{1.5, -2});
    CHECK(array.dtype == "F32");
}

TEST_CASE("versions, both dtypes and 1 to 4 dimensions are read") {
    for (int const version : {1, 2, 3}) {
        Array const array = parse_npy(file(version, header("<f8", "3,"), doubles({1, 0.1, -4})), "a.npy");
        CHECK(array.shape == std::vector<std::size_t>{3});
        CHECK(array.values == std::vector<double>{1, 0.1, -4});
        CHECK(array.dtype == "F64");
    }
    Array const array = parse_npy(file(1, header("<f4", "1, 2, 1, 2"), floats({1, 2, 3, 0.1F})), "a.npy");
    CHECK(array.shape == std::vector<std::size_t>{1, 2, 1, 2});
    CHECK(array.values.back() == static_cast<double>(0.1F));
}

TEST_CASE("infinities and NaN come back as they are") {
    double const inf = std::numeric_limits<double>::infinity();
    Array const array = parse_npy(file(1, header("<f8", "2,"), doubles({-inf, inf - inf})), "a.npy");
    CHECK(array.values[0] == -inf);
    CHECK(array.values[1] != array.values[1]);
}

TEST_CASE("an array of another kind is refused with what to do") {
    auto const parse = [](std::string const& head, std::string const& numbers = floats({1, 2})) {
        return parse_npy(file(1, head, numbers), "a.npy");
    };
    CHECK_THROWS_AS(parse(header("<i8", "1,")), Error);
    CHECK_THROWS_WITH(parse(header("<i8", "1,")),
                      Contains("a.npy: expected float16, float32 or float64") && Contains("<i8"));
    CHECK_THROWS_WITH(parse(header("<i2", "4,")), Contains("astype(numpy.float32)"));
    CHECK_THROWS_WITH(parse(header(">f4", "2,")), Contains(">f4"));
    CHECK_THROWS_WITH(parse(header("<f4", "")), Contains("1 to 4 dimensions"));
    CHECK_THROWS_WITH(parse(header("<f4", "1, 1, 1, 1, 2")), Contains("1 to 4 dimensions"));
    CHECK_THROWS_WITH(parse(header("<f4", "0,")), Contains("shape"));
    CHECK_THROWS_WITH(parse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n"),
                      Contains("expected a header such as"));
}

TEST_CASE("a damaged file is refused") {
    std::string const whole = file(1, header("<f4", "2,"), floats({1, 2}));
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_THROWS_AS(parse_npy(whole.substr(0, size), "a.npy"), Error);
    CHECK_THROWS_WITH(parse_npy(whole + "x", "a.npy"), Contains("8 bytes of numbers") && Contains("found 9"));
    CHECK_THROWS_WITH(parse_npy("<html>", "a.npy"), Contains("begins with \"<html>\""));
    CHECK_THROWS_WITH(parse_npy(file(4, header("<f4", "2,"), floats({1, 2})), "a.npy"), Contains("4.0"));
    CHECK_THROWS_WITH(parse_npy(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "a.npy"),
                      Contains("4294967295"));
    for (auto const* shape :
         {"3,", "4294967296, 4294967296", "99999999999999999999,", "2, 2", "18446744073709551615, 2"})
        CHECK_THROWS_AS(parse_npy(file(1, header("<f4", shape), floats({1, 2})), "a.npy"), Error);
}

// The format says that a reader must not depend on the order of the keys; other writers quote and space
// differently.
TEST_CASE("a header of another writer is read") {
    for (std::string const head :
         {"{'shape': (1, 2), 'fortran_order': False, 'descr': '<f4'}",
          "{'fortran_order': False, 'descr': '<f4', 'shape': (1, 2)}\n",
          "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(1,2,),}     \n",
          " { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 1 , 2 ) , } "}) {
        INFO(head);
        Array const array = parse_npy(file(1, head, floats({1, 2})), "a.npy");
        CHECK(array.shape == std::vector<std::size_t>{1, 2});
        CHECK(array.values == std::vector<double>{1, 2});
    }
    for (std::string const head : {"{'descr': '<f4', 'fortran_order': False}",
                                   "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
                                   "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
                                   "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': (2",
                                   "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", "{}", ""}) {
        INFO(head);
        CHECK_THROWS_WITH(parse_npy(file(1, head, floats({1, 2})), "a.npy"), Contains("a header such as"));
    }
}

// numpy.asfortranarray(numpy.arange(6).reshape(2, 3)) is 0 3 1 4 2 5 in the file; of shape (2, 3, 2), element
// [i, j, k] is at i + 2j + 6k.
TEST_CASE("Fortran's order comes back row-major") {
    Array const flat = parse_npy(file(1, header("<f4", "2, 3", "True"), floats({0, 3, 1, 4, 2, 5})), "a.npy");
    CHECK(flat.shape == std::vector<std::size_t>{2, 3});
    CHECK(flat.values == std::vector<double>{0, 1, 2, 3, 4, 5});
    std::vector<float> stored(12);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 2; ++k)
                stored[i + 2 * j + 6 * k] = static_cast<float>(100 * i + 10 * j + k);
    Array const deep = parse_npy(file(1, header("<f4", "2, 3, 2", "True"), floats(stored)), "a.npy");
    CHECK(deep.values == std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
}

TEST_CASE("float16 is widened") {
    std::string const halves =
        little_endian(0x3c00, 2) + little_endian(0xc000, 2) + little_endian(0x3555, 2);  // 1, -2, 0.33325
    Array const array = parse_npy(file(1, header("<f2", "3,"), halves), "a.npy");
    CHECK(array.values == std::vector<double>{1, -2, 0.333251953125});
    CHECK(array.dtype == "F16");
}
