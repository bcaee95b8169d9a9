// Model folders whose vocabulary is not GPT-2's own: other ids are followed, bad files named.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "onehead/error.hpp"
#include "onehead/model/tokenizer.hpp"

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using onehead::Tokenizer;

namespace {

using Ids = std::vector<int>;

fs::path const model = ONEHEAD_SOURCE_DIR "/data/gpt2-mini";

std::string read(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
}

// A model folder that lives as long as the test.
struct Folder {
    fs::path path =
        fs::temp_directory_path() / ("onehead-tokenizer-test-" + std::to_string(std::random_device{}()));

    Folder(std::string_view merges, std::string_view vocabulary) {
        fs::create_directory(path);
        std::ofstream(path / "merges.txt", std::ios::binary) << merges;
        std::ofstream(path / "vocab.json", std::ios::binary) << vocabulary;
    }
    Folder(Folder const&) = delete;
    Folder(Folder&&) = delete;
    Folder& operator=(Folder const&) = delete;
    Folder& operator=(Folder&&) = delete;
    ~Folder() { fs::remove_all(path); }
};

// 256 bytes, "th" and "the", with ids from the end to the beginning.
std::string small_vocabulary() {
    nlohmann::json ids;
    for (int byte = 0; byte < 256; ++byte)
        ids[std::string(onehead::byte_symbol(byte).characters)] = 257 - byte;
    ids["th"] = 1;
    ids["the"] = 0;
    return ids.dump();
}

std::string const small_merges = "#version: 0.2\nt h\nth e\n";

std::string error_of(std::string_view merges, std::string_view vocabulary) {
    Folder const folder(merges, vocabulary);
    try {
        Tokenizer const tokenizer(folder.path);
    } catch (onehead::UsageError const&) {
        return "a UsageError";
    } catch (onehead::Error const& error) {
        return error.what();
    }
    return "no error";
}

std::string error_of_merges(std::string_view merges) {
    return error_of(merges, small_vocabulary());
}

std::string error_of_vocabulary(std::string_view vocabulary) {
    return error_of(small_merges, vocabulary);
}

}  // namespace

TEST_CASE("a vocabulary that does not follow the rule is read from vocab.json") {
    Folder const folder(small_merges, small_vocabulary());
    Tokenizer const tokenizer(folder.path);
    CHECK(tokenizer.size() == 258);
    CHECK(tokenizer.encode("theth") == Ids{0, 1});
    CHECK(tokenizer.encode("!") == Ids{257});
    CHECK(tokenizer.decode({0, 1, 257}) == "theth!");
    CHECK_THROWS_WITH(tokenizer.bytes(258), Contains("0 to 257"));
}

TEST_CASE("two ids that changed places in GPT-2's vocab.json are noticed") {
    std::string vocabulary =
        replaced(read(model / "vocab.json"), R"("\u0120cat": 3797)", R"("\u0120cat": 3290)");
    vocabulary = replaced(vocabulary, R"("\u0120dog": 3290)", R"("\u0120dog": 3797)");
    Folder const folder(read(model / "merges.txt"), vocabulary);
    CHECK(Tokenizer(folder.path).encode("The cat") == Ids{464, 3290});
}

TEST_CASE("a token more in vocab.json has its id") {
    Folder const folder(read(model / "merges.txt"),
                        replaced(read(model / "vocab.json"), ": 50256}", ": 50256, \"<pad>\": 50257}"));
    Tokenizer const tokenizer(folder.path);
    CHECK(tokenizer.size() == 50258);
    CHECK(tokenizer.bytes(50257) == "<pad>");
}

TEST_CASE("line ends of another system, no version line and no last line end change nothing") {
    CHECK(error_of_merges("#version: 0.2\r\nt h\r\nth e\r\n") == "no error");
    Folder const folder("t h\r\nth e", small_vocabulary());
    CHECK(Tokenizer(folder.path).encode("theth") == Ids{0, 1});
}

TEST_CASE("a bad merges.txt is named with the line and what is wrong") {
    CHECK_THAT(error_of_merges(""), Contains("merges.txt") && Contains("empty"));
    CHECK_THAT(error_of_merges("#version: 0.2\n"), Contains("merges.txt") && Contains("none"));
    CHECK_THAT(error_of_merges("t h\nth\n"), Contains("merges.txt, line 2") && Contains("'th'"));
    CHECK_THAT(error_of_merges("t h\n\nth e\n"), Contains("line 2"));
    CHECK_THAT(error_of_merges("#version: 0.2\nt h e\n"), Contains("line 2") && Contains("'t h e'"));
    CHECK_THAT(error_of_merges("t h\n e\n"), Contains("line 2"));
    CHECK_THAT(error_of_merges("t \xE4\xB8\xAD\n"), Contains("line 1") && Contains("alphabet"));
    CHECK_THAT(error_of_merges("t \xFF\n"), Contains("line 1") && Contains("\\xFF"));
    CHECK_THAT(error_of_merges("t\tx h\n"), Contains("line 1") && Contains("\\t"));
    CHECK_THAT(error_of_merges("th e\nt h\n"), Contains("line 1") && Contains("earlier"));
    CHECK_THAT(error_of_merges("t h\nth e\nt h\n"), Contains("line 3") && Contains("once"));
    CHECK_THAT(error_of_merges("version https://git-lfs.example/spec/v1\noid sha256:0\n"),
               Contains("Git LFS pointer"));
    CHECK_THAT(error_of_merges("<!DOCTYPE html>\n"), Contains("web page"));
}

TEST_CASE("a bad vocab.json is named with what is wrong") {
    CHECK_THAT(error_of_vocabulary(""), Contains("vocab.json") && Contains("empty"));
    CHECK_THAT(error_of_vocabulary("<html>"), Contains("vocab.json") && Contains("web page"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 0"), Contains("JSON") && Contains("byte"));
    CHECK_THAT(error_of_vocabulary("[0, 1]"), Contains("object"));
    CHECK_THAT(error_of_vocabulary("7"), Contains("object"));
    CHECK_THAT(error_of_vocabulary("{\"a\": {\"b\": 0}}"), Contains("object inside"));
    CHECK_THAT(error_of_vocabulary(std::string(100'000, '[')), Contains("array"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 0, \"a\": 1}"), Contains("'a' twice"));
    CHECK_THAT(error_of_vocabulary("{\"a\": -1}"), Contains("'a'") && Contains("-1"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 1.5}"), Contains("1.5"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 18446744073709551615}"), Contains("18446744073709551615"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 0, \"b\": 0}"), Contains("each once"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 1}"), Contains("gap"));
    CHECK_THAT(error_of_vocabulary("{\"a\": 0}"), Contains("none for"));
    CHECK_THAT(error_of_vocabulary("{\"\\ud800\": 0}"), Contains("JSON"));
}

TEST_CASE("errors are one line and say what to do") {
    for (std::string const& message : {error_of_merges("t\x07x\n"), error_of_vocabulary(R"({"a\nb": -1})")}) {
        CHECK(std::count(message.begin(), message.end(), '\n') == 0);
        CHECK_THAT(message, Contains("get the file again"));
    }
}

TEST_CASE("a folder without the files is refused by name") {
    Folder const folder(small_merges, small_vocabulary());
    fs::remove(folder.path / "vocab.json");
    CHECK_THROWS_WITH(Tokenizer(folder.path), Contains("vocab.json") && Contains("No such file"));
    fs::remove(folder.path / "merges.txt");
    CHECK_THROWS_WITH(Tokenizer(folder.path), Contains("merges.txt") && Contains("No such file"));
    fs::create_directory(folder.path / "merges.txt");
    CHECK_THROWS_AS(Tokenizer(folder.path), onehead::Error);
}
