// The tokenizer against ids that others computed (tests/reference/tokenizer) and against GPT-2's vocabulary.
#include "onehead/model/tokenizer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <nlohmann/json.hpp>

#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "support/temp_folder.hpp"

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using onehead::Tokenizer;
using namespace onehead::test;

namespace {

using Ids = std::vector<int>;

Tokenizer const& gpt2() {
    static Tokenizer const tokenizer(gpt2_mini);
    return tokenizer;
}

}  // namespace

TEST_CASE("texts of the field notes have their known ids") {
    CHECK(gpt2().encode("The cat sat on the mat") == Ids{464, 3797, 3332, 319, 262, 2603});
    CHECK(gpt2().encode("The dog sat on the rug") == Ids{464, 3290, 3332, 319, 262, 14477});
    CHECK(gpt2().encode("Banana") == Ids{30457, 2271});
    CHECK(gpt2().encode(" Banana") == Ids{40058});
    CHECK(gpt2().encode("Hello world") == Ids{15496, 995});
    CHECK(gpt2().encode(" Hello") == Ids{18435});
    CHECK(gpt2().encode("Hello ") == Ids{15496, 220});
    CHECK(gpt2().encode("The unhappiness sat") == Ids{464, 14274, 42661, 3332});
    CHECK(gpt2().encode("\U0001F600") == Ids{47249, 222});
    CHECK(gpt2().encode("He said \"a,b\"\nNA") == Ids{1544, 531, 366, 64, 11, 65, 1, 198, 4535});
    CHECK(gpt2().encode("<|endoftext|>") == Ids{27, 91, 437, 1659, 5239, 91, 29});
    CHECK(gpt2().encode("").empty());
}

TEST_CASE("hard texts have the ids that other tokenizers give them, and come back") {
    auto const fixtures =
        nlohmann::json::parse(contents_of(ONEHEAD_SOURCE_DIR "/tests/reference/tokenizer/fixtures.json"));
    std::size_t compared = 0;
    for (auto const& group : fixtures) {
        for (auto const& fixture : group) {
            auto const text = fixture.at("text").get<std::string>();
            CAPTURE(text);
            CHECK(gpt2().encode(text) == fixture.at("ids").get<Ids>());
            CHECK(gpt2().decode(gpt2().encode(text)) == text);
            ++compared;
        }
    }
    CHECK(compared == 505);
}

TEST_CASE("the ids that follow from the merges are those of vocab.json, all 50257") {
    auto const vocabulary = nlohmann::json::parse(contents_of(gpt2_mini / "vocab.json"));
    REQUIRE(gpt2().size() == 50257);
    REQUIRE(vocabulary.size() == 50257);
    int equal = 0;
    for (auto const& [characters, id] : vocabulary.items()) {
        equal += gpt2().bytes(id.get<int>()) == onehead::bytes_of(characters) ? 1 : 0;
    }
    CHECK(equal == 50257);
    CHECK(gpt2().bytes(50256) == "<|endoftext|>");
}

// The same pairs in another order, as Hugging Face's slow tokenizer sorts them, do not confirm the rule line
// by line; characters may be written as they are or as \u0120, pairs with or without spaces.
TEST_CASE("vocab.json in another order, or written otherwise, gives the same ids") {
    auto const vocabulary = nlohmann::json::parse(contents_of(gpt2_mini / "vocab.json"));  // sorted by token
    nlohmann::ordered_json by_id;
    std::vector<std::string> tokens(vocabulary.size());
    for (auto const& [characters, id] : vocabulary.items()) tokens[id.get<std::size_t>()] = characters;
    for (std::size_t id = 0; id < tokens.size(); ++id) by_id[tokens[id]] = id;
    onehead::test::TempFolder const folder;
    folder.write("merges.txt", contents_of(gpt2_mini / "merges.txt"));
    for (std::string const& text :
         {vocabulary.dump(), by_id.dump(), by_id.dump(2), by_id.dump(-1, ' ', true)}) {
        folder.write("vocab.json", text);
        Tokenizer const other(folder.path());
        REQUIRE(other.size() == 50257);
        int equal = 0;
        for (int id = 0; id < 50257; ++id) equal += other.bytes(id) == gpt2().bytes(id) ? 1 : 0;
        CHECK(equal == 50257);
        for (std::string const sentence :
             {"The cat sat on the mat", "na\u00efve \"quoted\" \\ 1234\n\n", "\U0001F600"})
            CHECK(other.encode(sentence) == gpt2().encode(sentence));
    }
}

TEST_CASE("the tokens of GPT-2 hold what makes labels hard") {
    auto const count = [](auto const& holds) {
        int n = 0;
        for (int id = 0; id < 50256; ++id) n += holds(gpt2().bytes(id)) ? 1 : 0;
        return n;
    };
    auto const holding = [&](char c) {
        return count([c](std::string const& b) { return b.find(c) != std::string::npos; });
    };
    CHECK(count([](std::string const& b) { return onehead::find_invalid_utf8(b) != std::string::npos; }) ==
          344);
    CHECK(count([](std::string const& b) {
              return std::string_view("=+-@").find(b[0]) != std::string::npos;
          }) == 86);
    CHECK(holding(',') == 73);
    CHECK(holding('"') == 131);
    CHECK(holding('\n') == 3);
    CHECK(holding('\r') == 1);
}

TEST_CASE("an id outside the vocabulary is refused with the range") {
    CHECK_THROWS_AS(gpt2().bytes(-1), onehead::UsageError);
    CHECK_THROWS_WITH(gpt2().bytes(50257), Contains("50257") && Contains("0 to 50256"));
    CHECK_THROWS_AS(gpt2().decode({464, 60000}), onehead::UsageError);
}

TEST_CASE("text that is not UTF-8 is refused, with the place") {
    auto const [text, offset] = GENERATE(table<std::string, std::string>({
        {"ab\xFF", "byte 2"},              // never in UTF-8
        {"\x80", "byte 0"},                // a continuation without a beginning
        {"a\xC3", "byte 1"},               // cut short
        {"a\xE2\x82", "byte 1"},           //
        {"a\xF0\x9F\x98", "byte 1"},       //
        {"\xC3\xA9\xC0\xAF", "byte 2"},    // overlong
        {"\xE0\x80\xAF", "byte 0"},        //
        {"\xF0\x80\x80\xAF", "byte 0"},    //
        {"x\xED\xA0\x80", "byte 1"},       // a surrogate
        {"xy\xF4\x90\x80\x80", "byte 2"},  // above U+10FFFF
        {"\xC3(", "byte 0"},               // interrupted
    }));
    CAPTURE(offset);
    CHECK_THROWS_AS(gpt2().encode(text), onehead::UsageError);
    CHECK_THROWS_WITH(gpt2().encode(text), Contains(offset + ":"));
}

// With a merge that looks at all pairs again these would take minutes.
TEST_CASE("long texts without a space are encoded in nearly linear time") {
    auto const runs_of = [](int id, std::size_t n) { return Ids(n, id); };
    CHECK(gpt2().encode(std::string(400'000, 'a')) == runs_of(24794, 100'000));
    CHECK(gpt2().encode(std::string(400'000, '!')) == runs_of(34635, 50'000));
    CHECK(gpt2().encode(std::string(400'000, ' ')) == runs_of(220, 400'000));
    std::string letters(400'000, ' ');
    std::generate(letters.begin(), letters.end(), [state = 1U]() mutable {
        state = state * 1664525U + 1013904223U;
        return static_cast<char>('a' + (state >> 24U) % 26);
    });
    CHECK(gpt2().decode(gpt2().encode(letters)) == letters);
}

// Processor time, as others may be using the machine. A quadratic method would take 16 times as long.
TEST_CASE("four times the text without a space takes about four times as long") {
    auto const seconds = [](std::string const& text) {
        auto const start = std::clock();
        CHECK(!gpt2().encode(text).empty());
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    for (std::string const piece : {"a", "ab", "!", "7", "\xE4\xB8\xAD", "zxqj", "the"}) {
        std::string text;
        while (text.size() < 1'000'000) text += piece;
        double const quarter = seconds(text.substr(0, piece.size() * (250'000 / piece.size())));
        CHECK(seconds(text) < 8 * quarter + 0.05);
    }
}
