// Pages and files: numbers, tables, CSV, and a folder that is whole or not there.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "onehead/error.hpp"
#include "onehead/io/folder.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/pages/document.hpp"
#include "onehead/trace/files.hpp"
#include "support/temp_folder.hpp"

namespace onehead::test {
namespace {

std::string read(std::filesystem::path const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string ours(int number) {
    return fmt::format(R"({{"schema": "onehead-trace", "number": {}}})", number);
}

OutputFile file(std::string const& name, std::string const& bytes) {
    return {name, [bytes](Sink const& out) { out(bytes); }};
}

std::string step_csv(Step const& step, Tokens const& tokens) {
    std::string csv;
    write_step_csv(step, tokens, [&](std::string_view piece) { csv += piece; });
    return csv;
}

}  // namespace

TEST_CASE("rounded numbers never look exact when they are not") {
    CHECK(weight(0) == "0");
    CHECK(weight(1) == "1");
    CHECK(weight(1e-9) == ".000");
    CHECK(weight(0.9999) == "1.000");
    CHECK(weight(0.3994) == ".399");
    CHECK(score(-0.001) == "0.00");
    CHECK(score(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(score(312345.6) == "312345.60");
    CHECK(score(-31234560.0) == "-3.12e+07");
    CHECK(component(-0.0001) == "0.000");
    CHECK(change(0) == "0");
    CHECK(change(0.0312) == "3.1e-02");
}

TEST_CASE("CSV: labels are quoted, numbers are the shortest that read back, positions head the columns") {
    Tokens const tokens{{1, "a,b"}, {2, "\""}};
    Step const scores{terms::masked_scores, "",
                      Matrix{{0.1F, -std::numeric_limits<float>::infinity()}, {1e-7F, 3}}};
    CHECK(step_csv(scores, tokens) ==
          "pos,token_id,token,\"key0 'a,b'\",\"key1 '\"\"'\"\n"
          "0,1,\"'a,b'\",0.1,-inf\n"
          "1,2,\"'\"\"'\",1e-07,3\n");
    Step const bias{terms::projection_bias, "", Matrix{{1, 2}}};
    CHECK(step_csv(bias, tokens) == "pos,token_id,token,d0,d1\n,,,1,2\n");
    CHECK(tokens_csv(tokens) ==
          "pos,token_id,token,bytes\n0,1,\"'a,b'\",\\x61\\x2c\\x62\n1,2,\"'\"\"'\",\\x22\n");
}

TEST_CASE("tidy: a line for each cell, with the labels of both its tokens") {
    Tokens const tokens{{1, "a,b"}, {2, "c"}};
    Step const scores{terms::masked_scores, "",
                      Matrix{{0.1F, -std::numeric_limits<float>::infinity()}, {2, 3}}};
    CHECK(tidy_csv(scores, tokens) ==
          "query_pos,query,key_pos,key,value\n"
          "0,\"'a,b'\",0,\"'a,b'\",0.1\n"
          "0,\"'a,b'\",1,'c',-inf\n"
          "1,'c',0,\"'a,b'\",2\n"
          "1,'c',1,'c',3\n");
}

TEST_CASE("CSV: a long step comes in pieces that make up the same text") {
    std::mt19937 random{5};
    Matrix values = make_matrix(300, 500);
    for (float& value : values) {
        auto const drawn = static_cast<std::uint32_t>(random());  // any float that there is
        std::memcpy(&value, &drawn, sizeof value);
        if (!std::isfinite(value)) value = 0;
    }
    Tokens const tokens(300, Token{464, "The"});
    std::string expected = "pos,token_id,token";
    for (std::size_t j = 0; j < 500; ++j) expected += fmt::format(",d{}", j);
    for (std::size_t i = 0; i < 300; ++i) {
        expected += fmt::format("\n{},464,'The'", i);
        for (float const value : row(values, i)) expected += fmt::format(",{}", value);
    }
    std::size_t pieces = 0;
    std::string csv;
    write_step_csv({terms::residual, "", values}, tokens, [&](std::string_view piece) {
        ++pieces;
        csv += piece;
    });
    CHECK(pieces > 2);
    CHECK((csv == expected + "\n"));
}

TEST_CASE("CSV: there is room for the longest numbers") {
    float const longest = -1.0000033e15F;
    Step const step{terms::projection_bias, "", Matrix{{longest, longest, longest}}};
    CHECK(step_csv(step, {}).ends_with(",,,-1000003300000000,-1000003300000000,-1000003300000000\n"));
}

TEST_CASE("npy: the data begins at a multiple of 64") {
    std::string const bytes = npy(Matrix{{1, 2}, {3, 4}});
    CHECK(bytes.substr(1, 5) == "NUMPY");
    CHECK(bytes.find("'shape': (2, 2)") != std::string::npos);
    CHECK((bytes.size() - 4 * sizeof(float)) % 64 == 0);
}

TEST_CASE("a folder appears whole, and what it replaces stays until then") {
    TempFolder const temp;
    auto const folder = temp.path() / "deep" / "trace";
    write_folder(folder, {file("trace.json", ours(1)), file("trace.txt", "one")}, trace_folder);
    CHECK(read(folder / "trace.txt") == "one");

    // A file that cannot be made whole: the earlier trace stays as it was, and nothing else.
    auto const fails = [](Sink const& out) {
        out("half");
        throw Error("no");
    };
    CHECK_THROWS_AS(write_folder(folder, {file("trace.json", ours(2)), {"trace.txt", fails}}, trace_folder),
                    Error);
    CHECK(read(folder / "trace.json") == ours(1));
    CHECK(std::distance(std::filesystem::directory_iterator{temp.path() / "deep"}, {}) == 1);

    write_folder(folder, {file("trace.json", ours(3))}, trace_folder);
    CHECK(read(folder / "trace.json") == ours(3));
    CHECK_FALSE(std::filesystem::exists(folder / "trace.txt"));
}

TEST_CASE("what is not a trace is never replaced") {
    TempFolder const temp;
    auto const foreign = temp.path() / "notes";
    std::filesystem::create_directories(foreign);
    CHECK_NOTHROW(expect_replaceable(foreign, trace_folder));  // empty
    std::ofstream(foreign / "trace.txt") << "mine";
    CHECK_THROWS_AS(expect_replaceable(foreign, trace_folder), Error);  // no trace.json
    std::ofstream(foreign / "trace.json") << R"({"traceEvents": [], "schema": "chrome"})";
    CHECK_THROWS_WITH(expect_replaceable(foreign, trace_folder),
                      Catch::Contains("trace.json of something else"));
    std::ofstream(foreign / "trace.json") << ours(1);
    CHECK_NOTHROW(expect_replaceable(foreign, trace_folder));
    std::ofstream(foreign / "diary.txt") << "mine";
    CHECK_THROWS_WITH(expect_replaceable(foreign, trace_folder), Catch::Contains("diary.txt"));
    std::filesystem::create_directory_symlink(foreign, temp.path() / "link");
    CHECK_THROWS_AS(expect_replaceable(temp.path() / "link", trace_folder), Error);
    CHECK_THROWS_AS(write_folder(foreign / "diary.txt", {}, trace_folder), Error);
    CHECK(read(foreign / "diary.txt") == "mine");
}

}  // namespace onehead::test
