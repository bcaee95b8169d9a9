#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "onehead/error.hpp"
#include "onehead/io/safetensors.hpp"
#include "support/message_of.hpp"
#include "support/safetensors_writer.hpp"
#include "support/temp_folder.hpp"
#include "support/values_of.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

TestFile some_tensors() {
    TestFile file;
    file.metadata["text"] = "caf\u00e9";
    file.tensors["f32"] = counting({3, 2}, 1);
    file.tensors["f16"] = {
        "F16", {2, 2}, bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x3555, 0x0001})};
    file.tensors["bf16"] = {"BF16", {2}, bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc049})};
    file.tensors["f64"] = {"F64", {2}, bytes_of(std::vector<double>{0.1, -HUGE_VAL})};
    file.tensors["i64"] = {"I64", {2}, bytes_of(std::vector<std::int64_t>{-5, 50256})};
    file.tensors["f8"] = {"F8_E4M3", {3}, "abc"};
    file.tensors["bool"] = {"BOOL", {1, 1, 2}, std::string(2, '\1')};
    file.tensors["scalar"] = f32({}, {7});
    file.tensors["empty"] = f32({0, 5}, {});
    return file;
}

struct Opened {
    TempFolder folder;
    Safetensors file;

    explicit Opened(TestFile const& content) : file(folder.write("some.safetensors", content.bytes())) {}
};

}  // namespace

TEST_CASE("safetensors: every dtype that serves, as float32", "[load]") {
    Opened const opened(some_tensors());
    auto const& file = opened.file;
    CHECK(file.metadata().at("text") == "caf\u00e9");
    CHECK(file.tensors().size() == 9);
    CHECK(grid_of(file.read_matrix("f32", 3, 2)) == Grid{{1, 2}, {3, 4}, {5, 6}});
    CHECK(grid_of(file.read_matrix("f16", 2, 2)) == Grid{{1, -2}, {0.333251953125F, 0x1p-24F}});
    CHECK(values_of(file.read_vector("bf16", 2)) == Values{1, -3.140625F});
    CHECK(file.read_integers("i64") == std::vector<std::int64_t>{-5, 50256});
    CHECK(file.read_matrix("empty", 0, 5).size() == 0);
}

TEST_CASE("safetensors: chosen rows, in any order and again", "[load]") {
    Opened const opened(some_tensors());
    auto const& file = opened.file;
    CHECK(grid_of(file.read_rows("f32", std::vector<std::size_t>{2, 0, 2})) == Grid{{5, 6}, {1, 2}, {5, 6}});
    CHECK(grid_of(file.read_rows("f16", std::vector<std::size_t>{1})) == Grid{{0.333251953125F, 0x1p-24F}});
    CHECK(grid_of(file.read_rows_from_to("f32", 0, 2)) == Grid{{1, 2}, {3, 4}});
    check_message(message_of([&] { file.read_rows("f32", std::vector<std::size_t>{3}); }),
                  {"some.safetensors", "\"f32\"", "at least 4 rows", "[3, 2]"});
    check_message(message_of([&] { file.read_rows_from_to("bf16", 0, 1); }), {"\"bf16\"", "matrix", "[2]"});
}

TEST_CASE("safetensors: any floats as double, with what is no weight", "[load]") {
    Opened const opened(some_tensors());
    auto const& file = opened.file;
    CHECK(file.read_doubles("f64") == std::vector<double>{0.1, -HUGE_VAL});
    CHECK(file.read_doubles("f32") == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(file.read_doubles("scalar") == std::vector<double>{7});
    CHECK(file.read_doubles("bf16") == std::vector<double>{1, -3.140625});
}

TEST_CASE("safetensors: says which tensor does not serve, and why", "[load]") {
    Opened const opened(some_tensors());
    auto const& file = opened.file;
    check_message(message_of([&] { file.read_vector("w", 2); }), {"some.safetensors", "\"w\"", "missing"});
    check_message(message_of([&] { file.read_matrix("f32", 2, 3); }), {"\"f32\"", "[2, 3]", "[3, 2]"});
    check_message(message_of([&] { file.read_vector("f32", 6); }), {"\"f32\"", "[6]", "[3, 2]"});
    check_message(message_of([&] { file.read_vector("i64", 2); }),
                  {"\"i64\"", "F32, F16, BF16 or F64", "I64"});
    check_message(message_of([&] { file.read_vector("f64", 2); }), {"\"f64\"", "-inf", "[1]"});
    check_message(message_of([&] { file.read_vector("f8", 3); }), {"\"f8\"", "F8_E4M3"});
    check_message(message_of([&] { file.read_doubles("bool"); }), {"\"bool\"", "BOOL"});
    check_message(message_of([&] { file.read_integers("f32"); }), {"\"f32\"", "I64", "F32"});
    check_message(message_of([&] { file.expect_shape("f32", {9}, "by config.json"); }), {"by config.json"});
}

TEST_CASE("safetensors: a weight that is no number is named with its place", "[load]") {
    TestFile content;
    auto const nan = std::numeric_limits<float>::quiet_NaN();
    content.tensors["w"] = f32({2, 3}, {1, 2, 3, 4, nan, 6});
    content.tensors["v"] = {"F16", {3}, bytes_of(std::vector<std::uint16_t>{0, 0, 0xfc00})};
    Opened const opened(content);
    auto const& file = opened.file;
    check_message(message_of([&] { file.read_matrix("w", 2, 3); }),
                  {"some.safetensors", "\"w\"", "nan", "[1, 1]"});
    check_message(message_of([&] { file.read_rows("w", std::vector<std::size_t>{1}); }), {"nan", "[1, 1]"});
    CHECK_NOTHROW(file.read_rows("w", std::vector<std::size_t>{0}));
    check_message(message_of([&] { file.read_vector("v", 3); }), {"\"v\"", "-inf", "[2]"});
}

TEST_CASE("safetensors: one that shrinks while it is in use is an Error", "[load]") {
    Opened const opened(some_tensors());
    auto const path = opened.folder.path() / "some.safetensors";
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
    check_message(message_of([&] { opened.file.read_integers("i64"); }), {"some.safetensors", "shorter"});
}

TEST_CASE("safetensors: a header as long as a letter's code is no text", "[load]") {
    auto const length = GENERATE(std::uint64_t{'<'}, std::uint64_t{'P'} + 256U * 'K');
    TempFolder const folder;
    auto const path = folder.write("w", with_header("{" + std::string(length - 2, ' ') + "}"));
    CHECK(Safetensors(path).tensors().empty());
}

// The expected numbers were read from the file with Python: its json and numpy.frombuffer(..., "<f2").
TEST_CASE("safetensors: gpt2-mini's weights as numpy reads them", "[load]") {
    Safetensors const file(ONEHEAD_SOURCE_DIR "/data/gpt2-mini/model.safetensors");
    CHECK(file.tensors().size() == 52);
    auto const c_attn = file.read_matrix("h.0.attn.c_attn.weight", 192, 576);
    CHECK(c_attn(0, 0) == 0.20654296875F);
    CHECK(c_attn(191, 575) == 0.08050537109375F);
    CHECK(file.read_matrix("h.2.mlp.c_fc.weight", 192, 768)(17, 700) == 0.0026950836181640625F);
    CHECK(file.read_vector("h.3.attn.c_proj.bias", 192)(100) == 0.125732421875F);
    auto const embeddings = file.read_rows("wte.weight", std::vector<std::size_t>{464, 50256});
    CHECK(embeddings(0, 0) == 0.0576171875F);
    CHECK(embeddings(1, 191) == 0.1298828125F);
    double sum = 0;
    for (double const value : file.read_doubles("h.3.mlp.c_proj.weight")) sum += value;
    CHECK(sum == Approx(22.650835931301117).epsilon(1e-12));
}

TEST_CASE("safetensors: a reference in float64", "[load]") {
    Safetensors const file(ONEHEAD_SOURCE_DIR "/tests/reference/mini-0-f64.safetensors");
    CHECK(file.read_doubles("0.ln_1")[4U * 192 + 10] == 0.05124153539402594);  // by numpy, "<f8"
    CHECK(file.read_integers("token_ids") == std::vector<std::int64_t>{464, 3797, 3332, 319, 262, 2603});
}

// The nearest float32 of 0.1 is 0x3dcccccd; 1 + 2^-24 lies in the middle and goes to the even one, 1; of
// 1 + 2^-24 + 2^-50 only one rounding in one step gives 1 + 2^-23.
TEST_CASE("safetensors: weights in float64 are rounded once", "[load]") {
    TestFile content;
    content.tensors["w"] = {
        "F64", {2, 2}, bytes_of(std::vector<double>{0.1, 1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50, -3})};
    content.tensors["large"] = {"F64", {1}, bytes_of(std::vector<double>{1e300})};
    Opened const opened(content);
    CHECK(grid_of(opened.file.read_matrix("w", 2, 2)) == Grid{{0x1.99999ap-4F, 1}, {1 + 0x1p-23F, -3}});
    CHECK(grid_of(opened.file.read_rows("w", std::vector<std::size_t>{1})) == Grid{{1 + 0x1p-23F, -3}});
    check_message(message_of([&] { opened.file.read_vector("large", 1); }),
                  {"\"large\"", "inf at [0]", "float32"});
}

TEST_CASE("safetensors: a tensor that nobody reads may have any type of the format", "[load]") {
    auto const [dtype, bits] = GENERATE(table<std::string, std::uint64_t>(
        {{"F64", 64},    {"F32", 32},        {"F16", 16},        {"BF16", 16},   {"I64", 64},
         {"I32", 32},    {"I16", 16},        {"I8", 8},          {"U64", 64},    {"U32", 32},
         {"U16", 16},    {"U8", 8},          {"BOOL", 8},        {"C64", 64},    {"F8_E4M3", 8},
         {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F8_E8M0", 8}, {"F6_E2M3", 6},
         {"F6_E3M2", 6}, {"F4", 4}}));
    INFO(dtype);
    TestFile content;
    content.tensors["w"] = f32({1}, {5});
    content.tensors["other"] = {dtype, {2, 4}, std::string(bits, 'x')};  // 8 values take `bits` bytes
    CHECK(values_of(Opened(content).file.read_vector("w", 1)) == Values{5});
    content.tensors["other"] = {dtype, {2, 4}, std::string(bits + 1, 'x')};
    check_message(message_of([&] { Opened const opened(content); }), {"\"other\"", dtype});
    if (bits >= 8) return;
    content.tensors["other"] = {dtype, {1}, "x"};  // a part of a byte
    check_message(message_of([&] { Opened const opened(content); }), {"\"other\"", dtype});
}

TEST_CASE("safetensors: what is written is read back", "[load]") {
    SafetensorsWriter writer({{"text", "caf\u00e9"}, {"none", ""}});
    Matrix m = Matrix::from_shape({2, 3});
    for (std::size_t i = 0; i < 6; ++i) m.data()[i] = static_cast<float>(i);
    writer.add("m", m);
    writer.add("ids", std::vector<std::int64_t>{-1, 50256});
    TempFolder const folder;
    Safetensors const file(folder.write("w", writer.bytes()));
    CHECK(file.metadata() == SafetensorsHeader::Metadata{{"text", "caf\u00e9"}, {"none", ""}});
    CHECK(grid_of(file.read_matrix("m", 2, 3)) == Grid{{0, 1, 2}, {3, 4, 5}});
    CHECK(file.read_integers("ids") == std::vector<std::int64_t>{-1, 50256});
}
