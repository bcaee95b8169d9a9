// Which tokens a request means: notes on texts that are not cut as their reader believes, and ids that stay
// as given around a changed word.
#include <catch2/catch.hpp>

#include "onehead/error.hpp"
#include "onehead/model/run.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

using Ids = std::vector<int>;

Model const& mini() {
    static auto const model = open_model(onehead::test::gpt2_mini);
    return *model;
}

std::vector<TextNote> notes(std::string const& text) {
    return notes_on(mini(), {.text = text});
}

}  // namespace

TEST_CASE("run: one line end at the end of a file is the file's") {
    auto const [file, text] = GENERATE(table<std::string, std::string>({{"a", "a"},
                                                                        {"a\n", "a"},
                                                                        {"a\r\n", "a"},
                                                                        {"a\n\n", "a\n"},
                                                                        {"a\r", "a\r"},
                                                                        {"a\n\r\n", "a\n"},
                                                                        {"\n", ""},
                                                                        {"", ""}}));
    CHECK(text_of_file(file) == text);
}

TEST_CASE("run: a usual text needs no note") {
    CHECK(notes("The cat sat on the mat").empty());
    CHECK(notes("a\uFEFFb").empty());
    CHECK(notes_on(mini(), {}).empty());
    CHECK(notes_on(mini(), {.token_ids = Ids{50256, 464}}).empty());
}

TEST_CASE("run: a note says what the other way would give") {
    auto const bom = notes("\uFEFFThe cat");
    REQUIRE(bom.size() == 1);
    CHECK(bom[0].ids == Ids{464, 3797});
    auto const end = notes("The cat<|endoftext|><|endoftext|> sat");
    REQUIRE(end.size() == 1);
    CHECK(end[0].ids == Ids{464, 3797, 50256, 50256, 3332});
    CHECK(notes("\uFEFF<|endoftext|>").size() == 2);
    CHECK(notes("\xFF<|endoftext|>").empty());  // the run itself refuses it
}

TEST_CASE("run: the ids around a changed word stay") {
    Ids const given{50256, 464, 3797, 3332, 319};
    CHECK(with_changed_word(mini(), given, 2, "dog") == Ids{50256, 464, 3290, 3332, 319});
    CHECK(with_changed_word(mini(), given, 2, " dog") == Ids{50256, 464, 3290, 3332, 319});
    CHECK(with_changed_word(mini(), given, 1, "My") ==
          Ids{50256, 3666, 3797, 3332, 319});  // no space before it
    CHECK(with_changed_word(mini(), given, 2, "unhappiness") == Ids{50256, 464, 14274, 42661, 3332, 319});
    CHECK(with_changed_word(mini(), {34, 265}, 1, "at") == Ids{34, 265});  // "Cat" as a text is one token
    CHECK(with_changed_word(mini(), {47249, 222}, 1, "!") == Ids{47249, 0});
    CHECK_THROWS_AS(with_changed_word(mini(), given, 5, "dog"), UsageError);
    CHECK_THROWS_AS(with_changed_word(mini(), given, 2, ""), UsageError);
}

TEST_CASE("run: words are appended after a space, signs without one") {
    CHECK(with_appended_words(mini(), {50256, 464}, "cat sat") == Ids{50256, 464, 3797, 3332});
    CHECK(with_appended_words(mini(), {464}, " cat") == Ids{464, 3797});
    CHECK(with_appended_words(mini(), {464}, "!") == Ids{464, 0});
    CHECK_THROWS_AS(with_appended_words(mini(), {464}, ""), UsageError);
}

TEST_CASE("run: a library error names a field, never an option") {
    Request const good{.text = "The cat"};
    for (auto const& [change, field] : std::vector<std::pair<std::function<void(Request&)>, std::string>>{
             {[](Request& r) { r.head = 3; }, "head"},
             {[](Request& r) { r.row = 2; }, "row"},
             {[](Request& r) { r.layer = 4; }, "layer"},
             {[](Request& r) { r.text = ""; }, "text"},
             {[](Request& r) { r.text = "\xFF"; }, "text"},
             {[](Request& r) { r.token_ids = Ids{}; }, "token_ids"},
             {[](Request& r) { r.token_ids = Ids{50257}; }, "token_ids"},
         }) {
        Request request = good;
        change(request);
        try {
            prepare(mini(), request);
            FAIL(field);
        } catch (UsageError const& error) {
            CHECK(error.field() == field);
            CHECK(std::string{error.what()}.starts_with(field + ": "));
            CHECK(std::string{error.what()}.find("--") == std::string::npos);
        }
    }
}
