// Model folders whose vocabulary is not GPT-2's own: other ids are followed, bad files named.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "onehead/error.hpp"
#include "onehead/model/tokenizer.hpp"
#include "support/temp_folder.hpp"

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using onehead::Tokenizer;
using namespace onehead::test;

namespace {

using Ids = std::vector<int>;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
}

struct Folder : onehead::test::TempFolder {
    Folder(std::string_view merges, std::string_view vocabulary) {
        write("merges.txt", std::string{merges});
        write("vocab.json", std::string{vocabulary});
    }
};

std::string one_byte(int byte) {
    return onehead::in_alphabet(std::string(1, static_cast<char>(byte)));
}

// 256 bytes, "th" and "the", with ids from the end to the beginning.
std::string small_vocabulary() {
    nlohmann::json ids;
    for (int byte = 0; byte < 256; ++byte) ids[one_byte(byte)] = 257 - byte;
    ids["th"] = 1;
    ids["the"] = 0;
    return ids.dump();
}

std::string const small_merges = "#version: 0.2\nt h\nth e\n";

std::string error_of(std::string_view merges, std::string_view vocabulary) {
    Folder const folder(merges, vocabulary);
    try {
        Tokenizer const tokenizer(folder.path());
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
    Tokenizer const tokenizer(folder.path());
    CHECK(tokenizer.size() == 258);
    CHECK(tokenizer.encode("theth") == Ids{0, 1});
    CHECK(tokenizer.encode("!") == Ids{257 - '!'});
    CHECK(tokenizer.decode({0, 1, 257 - '!'}) == "theth!");
    CHECK_THROWS_WITH(tokenizer.bytes(258), Contains("0 to 257"));
}

TEST_CASE("two ids that changed places in GPT-2's vocab.json are noticed") {
    std::string vocabulary =
        replaced(contents_of(gpt2_mini / "vocab.json"), R"("\u0120cat": 3797)", R"("\u0120cat": 3290)");
    vocabulary = replaced(vocabulary, R"("\u0120dog": 3290)", R"("\u0120dog": 3797)");
    Folder const folder(contents_of(gpt2_mini / "merges.txt"), vocabulary);
    CHECK(Tokenizer(folder.path()).encode("The cat") == Ids{464, 3290});
    CHECK(Tokenizer(folder.path()).bytes(3797) == " dog");
    Tokenizer const tokenizer(folder.path());
    CHECK(tokenizer.encode("The") == Ids{464});  // which the file confirms
    CHECK(tokenizer.encode("The dog sat") == Ids{464, 3797, 3332});
    CHECK(tokenizer.decode({464, 3290}) == "The cat");
}

TEST_CASE("only the pairs that are asked for are read, each of them without the others") {
    std::string const text = contents_of(gpt2_mini / "vocab.json");
    auto const ids = nlohmann::json::parse(text);
    Folder const folder(contents_of(gpt2_mini / "merges.txt"),
                        replaced(text, R"("\u0120dog": 3290)", R"("\u0120dog": no)"));
    Tokenizer const tokenizer(folder.path());
    for (auto const& [characters, id] : ids.items())
        if (id != 3290 && id != 50256) CHECK(tokenizer.bytes(id) == onehead::bytes_of(characters));
    CHECK(tokenizer.size() == 50257);
    CHECK(tokenizer.encode("The cat sat") == Ids{464, 3797, 3332});
    CHECK_THROWS_WITH(tokenizer.encode("The dog"), Contains("vocab.json") && Contains("JSON"));
}

// What looks like the end of one pair and the beginning of the next can stand inside a token.
TEST_CASE("a token that is written like a pair misleads no one") {
    nlohmann::ordered_json ids;
    std::string merges = "#version: 0.2\n";
    // Byte by byte in the order of the alphabet, as a vocabulary begins.
    std::vector<std::string> symbols;
    for (int const visible : {1, 0})
        for (int byte = 0; byte < 256; ++byte)
            if (((byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD)) == (visible == 1))
                symbols.push_back(one_byte(byte));
    REQUIRE(symbols.size() == 256);
    std::string written;  // grows by a character at a time, and each time it is a symbol
    for (char const next : std::string(R"(":0,"!":1,"t":2,)")) {
        if (!written.empty()) {
            merges += written + " " + next + "\n";
            symbols.push_back(written + next);
        }
        written += next;
    }
    for (std::size_t id = 0; id < symbols.size(); ++id) ids[symbols[id]] = id;
    Folder const folder(merges, ids.dump());
    Tokenizer const tokenizer(folder.path());
    REQUIRE(tokenizer.size() == static_cast<int>(symbols.size()));
    for (int id = 0; id < tokenizer.size(); ++id)
        CHECK(tokenizer.bytes(id) == onehead::bytes_of(symbols[static_cast<std::size_t>(id)]));
    CHECK(tokenizer.encode("\":\":0,1") == Ids{256, 256, 15, 11, 16});
}

TEST_CASE("a token more in vocab.json has its id") {
    Folder const folder(
        contents_of(gpt2_mini / "merges.txt"),
        replaced(contents_of(gpt2_mini / "vocab.json"), ": 50256}", ": 50256, \"<pad>\": 50257}"));
    Tokenizer const tokenizer(folder.path());
    CHECK(tokenizer.size() == 50258);
    CHECK(tokenizer.bytes(50257) == "<pad>");
}

TEST_CASE("line ends of another system, no version line and no last line end change nothing") {
    CHECK(error_of_merges("#version: 0.2\r\nt h\r\nth e\r\n") == "no error");
    Folder const folder("t h\r\nth e", small_vocabulary());
    CHECK(Tokenizer(folder.path()).encode("theth") == Ids{0, 1});
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
    CHECK_THAT(error_of_vocabulary("{\"t\": 0, \"h\": 1}"), Contains("none for 'th'"));
    CHECK_THAT(error_of_vocabulary(small_vocabulary() + '\0'), Contains("vocab.json") && Contains("JSON"));
    CHECK_THAT(error_of_vocabulary(small_vocabulary() + std::string("\0{}", 3)), Contains("JSON"));
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
    fs::remove(folder.path() / "vocab.json");
    CHECK_THROWS_WITH(Tokenizer(folder.path()), Contains("vocab.json") && Contains("No such file"));
    fs::remove(folder.path() / "merges.txt");
    CHECK_THROWS_WITH(Tokenizer(folder.path()),
                      Contains("merges.txt") && Contains("tokenizer.json") && Contains("none of them"));
    fs::create_directory(folder.path() / "merges.txt");
    CHECK_THROWS_AS(Tokenizer(folder.path()), onehead::Error);
}

// What a training on little text leaves: only the bytes that the text had, here of "the hat".
TEST_CASE("a vocabulary without all bytes is read; a text with another byte is refused") {
    Folder const folder(
        "#version: 0.2\nt h\nth e\n",
        R"({"<|endoftext|>": 0, "a": 1, "e": 2, "h": 3, "t": 4, "\u0120": 5, "th": 6, "the": 7})");
    Tokenizer const tokenizer(folder.path());
    CHECK(tokenizer.size() == 8);
    CHECK(tokenizer.encode("the hat") == Ids{7, 5, 3, 1, 4});
    CHECK(tokenizer.decode({7, 5, 3, 1, 4}) == "the hat");
    CHECK_THROWS_AS(tokenizer.encode("the cat"), onehead::UsageError);
    CHECK_THROWS_WITH(tokenizer.encode("the cat"), Contains("'c'") && Contains("tokens for"));
    CHECK(tokenizer.id_of_end() == 0);
}

TEST_CASE("tokens that were added have labels, and an id that nobody knows has its number") {
    using onehead::label;
    Folder const folder(small_merges, small_vocabulary());
    CHECK(label(Tokenizer(folder.path()).token(258)) == R"('\#258')");
    folder.write("added_tokens.json", R"({"<pad>": 258})");
    folder.write("tokenizer_config.json",
                 R"({"added_tokens_decoder": {"260": {"content": "<mask>"}, "0": {"content": "no"}}})");
    Tokenizer const tokenizer(folder.path());
    CHECK(label(tokenizer.token(258)) == "'<pad>'");
    CHECK(label(tokenizer.token(259)) == R"('\#259')");
    CHECK(label(tokenizer.token(260)) == "'<mask>'");
    CHECK(label(tokenizer.token(0)) == "'the'");
    CHECK(tokenizer.size() == 261);
    CHECK_THROWS_AS(tokenizer.bytes(259), onehead::UsageError);
    folder.write("added_tokens.json", "{damaged");  // of no use to this text
    CHECK(Tokenizer(folder.path()).encode("the") == Ids{0});
}

// "\u0120a" and " a" are two tokens, and both stand for the bytes " a".
TEST_CASE("two tokens with the same bytes have different labels") {
    using onehead::label;
    Folder const folder("#version: 0.2\n\u0120 a\n",
                        R"({"a": 0, "\u0120": 1, "\u0120a": 2, " a": 3, "b": 4})");
    Tokenizer const tokenizer(folder.path());
    CHECK(tokenizer.bytes(2) == tokenizer.bytes(3));
    CHECK(label(tokenizer.token(2)) == R"(' a\#2')");
    CHECK(label(tokenizer.token(3)) == R"(' a\#3')");
    CHECK(label(tokenizer.token(0)) == "'a'");
    folder.write("added_tokens.json", R"({"b": 9})");
    CHECK(label(Tokenizer(folder.path()).token(9)) == R"('b\#9')");
    for (int const id : {0, 2, 3, 77}) {
        auto const back = onehead::token_of_label(id, label(tokenizer.token(id)));
        REQUIRE(back.has_value());
        CHECK(back->bytes == tokenizer.token(id).bytes);
        CHECK(label(*back) == label(tokenizer.token(id)));
    }
    CHECK_FALSE(onehead::token_of_label(1, R"(' a\#2')").has_value());
    CHECK_FALSE(onehead::token_of_label(1, "''").has_value());
}

namespace {

// As small_vocabulary and small_merges, in one file; `merges` is JSON.
nlohmann::json whole_tokenizer(nlohmann::json const& merges) {
    return {{"version", "1.0"},
            {"added_tokens", {{{"id", 258}, {"content", "<|endoftext|>"}, {"special", true}}}},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
            {"model",
             {{"type", "BPE"},
              {"dropout", nullptr},
              {"vocab", nlohmann::json::parse(small_vocabulary())},
              {"merges", merges}}}};
}

}  // namespace

TEST_CASE("tokenizer.json serves where the two files are not there") {
    onehead::test::TempFolder const folder;
    nlohmann::json const texts{"t h", "th e"};
    nlohmann::json const pairs = nlohmann::json::parse(R"([["t", "h"], ["th", "e"]])");
    for (auto const& merges : {texts, pairs}) {
        folder.write("tokenizer.json", whole_tokenizer(merges).dump());
        Tokenizer const tokenizer(folder.path());
        CHECK(tokenizer.size() == 259);
        CHECK(tokenizer.encode("theth!") == Ids{0, 1, 257 - '!'});
        CHECK(tokenizer.bytes(258) == "<|endoftext|>");
        CHECK_FALSE(tokenizer.adds_space());
    }
    auto spaced = whole_tokenizer(pairs);
    spaced["pre_tokenizer"]["add_prefix_space"] = true;
    folder.write("tokenizer.json", spaced.dump());
    CHECK(Tokenizer(folder.path()).adds_space());
}

TEST_CASE("a tokenizer.json of another kind, or a damaged one, is named") {
    onehead::test::TempFolder const folder;
    nlohmann::json const pairs = nlohmann::json::parse(R"([["t", "h"], ["th", "e"]])");
    auto const message = [&](std::string const& text) -> std::string {
        folder.write("tokenizer.json", text);
        try {
            Tokenizer const tokenizer(folder.path());
        } catch (onehead::Error const& error) {
            return error.what();
        }
        return "no error";
    };
    auto const with = [&](char const* place, nlohmann::json const& value) {
        auto file = whole_tokenizer(pairs);
        file[nlohmann::json::json_pointer(place)] = value;
        return message(file.dump());
    };
    CHECK_THAT(with("/model/type", "WordPiece"), Contains("tokenizer.json") && Contains("token ids"));
    CHECK_THAT(with("/pre_tokenizer", {{"type", "Whitespace"}}), Contains("byte-level BPE"));
    CHECK_THAT(with("/pre_tokenizer", nullptr), Contains("byte-level BPE"));
    CHECK_THAT(with("/normalizer", {{"type", "NFC"}}), Contains("byte-level BPE"));
    CHECK_THAT(with("/model/end_of_word_suffix", "</w>"), Contains("byte-level BPE"));
    CHECK_THAT(with("/model/merges", {"t h", "the"}), Contains("line 2") && Contains("'the'"));
    CHECK_THAT(with("/model/merges", nlohmann::json::parse("[1, 2]")),
               Contains("tokenizer.json") && Contains("texts"));
    CHECK_THAT(with("/model/merges", nlohmann::json::parse(R"([["t", 1]])")), Contains("tokenizer.json"));
    CHECK_THAT(with("/model/vocab", nlohmann::json::object()),
               Contains("tokenizer.json") && Contains("'th'"));
    CHECK_THAT(with("/model/vocab/th", "1"), Contains("'th'"));
    CHECK_THAT(with("/model", 7), Contains("tokenizer.json"));
    CHECK_THAT(message("{}"), Contains("model"));
    CHECK_THAT(message("[]"), Contains("tokenizer.json"));
    CHECK_THAT(message("<html>"), Contains("web page"));
    CHECK_THAT(message(whole_tokenizer(pairs).dump() + '\0'), Contains("JSON"));
    CHECK_THAT(message(std::string(100'000, '[')), Contains("16 levels"));
    std::string many = "{\"a\": [";
    for (int i = 0; i < 200'000; ++i) many += "[],";
    CHECK_THAT(message(many + "1]}"), Contains("at most 20000"));
}

TEST_CASE("add_prefix_space is seen") {
    Folder const folder(small_merges, small_vocabulary());
    CHECK_FALSE(Tokenizer(folder.path()).adds_space());
    folder.write("tokenizer_config.json", R"({"add_prefix_space": true})");
    CHECK(Tokenizer(folder.path()).adds_space());
    CHECK(Tokenizer(folder.path()).encode("the") == Ids{0});  // the text is taken as it is
}
