// Files that pretend to be safetensors. Each is an Error of one line that names the file and says what is
// wrong.
#include <catch2/catch.hpp>

#include "onehead/error.hpp"
#include "onehead/io/safetensors.hpp"
#include "support/message_of.hpp"
#include "support/safetensors_writer.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

struct BadFile {
    std::string what, bytes;
    std::vector<std::string> words;
};

std::string length_and(std::uint64_t length, std::string const& rest) {
    return bytes_of(std::vector<std::uint64_t>{length}) + rest;
}

std::string one_tensor(std::string const& entry, std::size_t data_size) {
    return with_header(R"({"w": )" + entry + "}", std::string(data_size, '\0'));
}

std::string two_tensors(std::string const& a_range, std::string const& b_range, std::size_t data_size) {
    auto const entry = [](std::string const& range) {
        return R"({"dtype": "U8", "shape": [4], "data_offsets": )" + range + "}";
    };
    return with_header(R"({"a": )" + entry(a_range) + R"(, "b": )" + entry(b_range) + "}",
                       std::string(data_size, '\0'));
}

std::vector<BadFile> not_even_a_header() {
    return {
        {"empty", "", {"0 bytes", "again"}},
        {"seven bytes", "1234567", {"7 bytes"}},
        {"length 0", length_and(0, "{}"), {"length 0"}},
        {"length near 2^64", length_and(~std::uint64_t{0}, "{}"), {"length 18446744073709551615"}},
        {"length near 2^64, to wrap around",
         length_and(~std::uint64_t{0} - 7, "{}"),
         {"length 18446744073709551608"}},
        {"length over the limit", length_and((4U << 20U) + 1, std::string(100, ' ')), {"length 4194305"}},
        {"length over the file", length_and(100, "{}"), {"cut short", "108", "found 10", "again"}},
        {"Git LFS",
         "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 548105171\n",
         {"Git LFS", "git lfs pull"}},
        {"a web page", "<!DOCTYPE html>\n<html><body>404</body></html>\n", {"web page", "download"}},
        {"PyTorch's zip", "PK\x03\x04 and more and more", {"zip archive"}},
        {"some text", "Access denied to this thing", {"Access denied", "safetensors"}},
    };
}

std::vector<BadFile> not_the_right_json() {
    auto const metadata = [](std::string const& text) {
        return with_header(R"({"__metadata__": )" + text + "}");
    };
    return {
        {"not JSON", with_header("{nonsense}"), {"JSON", "byte"}},
        {"cut JSON", with_header(R"({"w": {"dtype")"), {"JSON"}},
        {"text after it", with_header("{} {}"), {"JSON"}},
        {"bytes that are not UTF-8", with_header("{\"\xff\": 1}"), {"JSON"}},
        {"a list", with_header("[]"), {"JSON object", "[]"}},
        {"a number", with_header("7"), {"JSON object", "7"}},
        {"spaces first", with_header(" {}"), {"JSON object", "first byte"}},
        {"a zero byte after it", with_header(std::string("{}\0\0", 4)), {"JSON", "byte 2"}},
        {"a zero byte and another header",
         with_header(std::string("{}\0{\"w\": 1}", 11)),
         {"JSON", "byte 2"}},
        {"a tensor twice",
         with_header(R"({"w": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]},
                                           "w": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}})"),
         {"\"w\"", "twice"}},
        {"metadata twice",
         with_header(R"({"__metadata__": {}, "__metadata__": {}})"),
         {"__metadata__", "twice"}},
        {"a metadata key twice", metadata(R"({"a": "1", "a": "1"})"), {"\"a\"", "twice"}},
        {"a number as metadata", metadata(R"({"n_head": 12})"), {"n_head", "a text", "12"}},
        {"nested metadata", metadata(R"({"a": {"b": "c"}})"), {"a: expected a text"}},
        {"deep nesting", with_header(R"({"w": )" + std::string(100000, '[')), {"16 levels"}},
        {"deep nesting of objects", with_header(R"({"w": {"shape": {"a": {"b": {}}}}})"), {"\"w\"", "dtype"}},
    };
}

std::vector<BadFile> not_the_right_fields() {
    return {
        {"a field twice", one_tensor(R"({"dtype": "U8", "dtype": "U8"})", 0), {"\"dtype\"", "twice"}},
        {"an unknown field", one_tensor(R"({"colour": "red"})", 0), {"\"w\"", "\"dtype\""}},
        {"a field missing", one_tensor(R"({"dtype": "U8", "shape": [0]})", 0), {"\"w\"", "data_offsets"}},
        {"three offsets",
         one_tensor(R"({"dtype": "U8", "shape": [0], "data_offsets": [0, 0, 0]})", 0),
         {"\"w\"", "data_offsets"}},
        {"negative number",
         one_tensor(R"({"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]})", 1),
         {"\"w\"", "shape", "-1"}},
        {"fraction",
         one_tensor(R"({"dtype": "U8", "shape": [1.0], "data_offsets": [0, 1]})", 1),
         {"\"w\"", "shape", "1.0"}},
        {"over 64 bits",
         one_tensor(R"({"dtype": "U8", "shape": [18446744073709551616], "data_offsets": [0, 1]})", 1),
         {"\"w\"", "shape"}},
        {"text for a number",
         one_tensor(R"({"dtype": "U8", "shape": ["1"], "data_offsets": [0, 1]})", 1),
         {"\"w\"", "shape"}},
        {"null", one_tensor("null", 0), {"\"w\"", "null"}},
        {"many dimensions",
         one_tensor(R"({"dtype": "U8", "shape": [1,1,1,1,1,1,1,1,1], "data_offsets": [0, 1]})", 1),
         {"\"w\"", "at most 8"}},
        {"a name that would forge a line",
         with_header(R"({"a\nonehead: fine\u001b[2J": 1})"),
         {"a\\nonehead", "\\x1B"}},
    };
}

std::vector<BadFile> not_the_right_ranges() {
    auto const tensor = [](std::string const& dtype, std::string const& shape, std::string const& range) {
        return one_tensor(
            R"({"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": )" + range + "}", 8);
    };
    return {
        {"unknown dtype", tensor("F128", "[1]", "[0, 8]"), {"\"w\"", "F128"}},
        {"begin after end", tensor("F32", "[2]", "[8, 0]"), {"\"w\"", "[8, 0]"}},
        {"shape overflows", tensor("F32", "[4294967296, 4294967296]", "[0, 8]"), {"\"w\"", "too large"}},
        {"shape overflows to the right size",
         tensor("F32", "[4611686018427387906]", "[0, 8]"),
         {"\"w\"", "too large"}},
        {"shape too small",
         tensor("F32", "[1]", "[0, 8]"),
         {"\"w\"", "F32", "[1]", "need 4 bytes", "hold 8"}},
        {"shape too large", tensor("F16", "[5]", "[0, 8]"), {"\"w\"", "10 bytes", "hold 8"}},
        {"range beyond the file",
         tensor("F32", "[4]", "[0, 16]"),
         {"cut short", "expected 16", "found 8", "again"}},
        {"range far beyond",
         tensor("U8", "[1152921504606846976]", "[0, 1152921504606846976]"),
         {"cut short", "found 8"}},
        {"more bits than 64 bits count",
         tensor("U8", "[9223372036854775807]", "[0, 9223372036854775807]"),
         {"too large"}},
        {"bytes left over", tensor("F32", "[1]", "[0, 4]"), {"expected 4", "found 8"}},
        {"first byte unused", tensor("U8", "[7]", "[1, 8]"), {"\"w\"", "gap"}},
        {"overlap", two_tensors("[0, 4]", "[2, 6]", 6), {"\"b\"", "overlap"}},
        {"the same bytes twice", two_tensors("[0, 4]", "[0, 4]", 4), {"\"b\"", "overlap"}},
        {"gap", two_tensors("[0, 4]", "[5, 9]", 9), {"\"b\"", "gap"}},
    };
}

void check_refused(BadFile const& bad) {
    INFO(bad.what);
    TempFolder const folder;
    auto const path = folder.write("bad.safetensors", bad.bytes);
    auto const message = message_of([&] { Safetensors const file(path); });
    check_message(message, {"bad.safetensors"});
    check_message(message, bad.words);
    CHECK(message.size() < 600);
}

}  // namespace

TEST_CASE("safetensors: refuses what is no such file", "[load]") {
    for (auto const& bad : not_even_a_header()) check_refused(bad);
}

TEST_CASE("safetensors: refuses a header that is not the right JSON", "[load]") {
    for (auto const& bad : not_the_right_json()) check_refused(bad);
    for (auto const& bad : not_the_right_fields()) check_refused(bad);
}

TEST_CASE("safetensors: refuses ranges that are not the data's", "[load]") {
    for (auto const& bad : not_the_right_ranges()) check_refused(bad);
}

TEST_CASE("safetensors: refuses a folder and a missing file", "[load]") {
    TempFolder const folder;
    check_message(message_of([&] { Safetensors const file(folder.path()); }),
                  {folder.path().string(), "a folder"});
    check_message(message_of([&] { Safetensors const file(folder.path() / "no.safetensors"); }),
                  {"no.safetensors"});
}
