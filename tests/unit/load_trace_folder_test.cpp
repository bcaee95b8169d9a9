#include "onehead/trace/files.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "onehead/error.hpp"
#include "onehead/pages/formats.hpp"
#include "random_case.hpp"
#include "temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;
using Catch::Matchers::Contains;

namespace {

void write_bytes(std::filesystem::path const& path, std::string const& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
}

class Written {
public:
    explicit Written(Trace const& trace, std::string const& formats = "csv") {
        write_trace(folder(), trace, find_formats(formats));
    }
    std::filesystem::path folder() const { return temporary_.path() / "run"; }

    void replace(std::string const& file, std::string const& old_text, std::string const& new_text) const {
        std::string bytes = contents_of(folder() / file);
        auto const at = bytes.find(old_text);
        REQUIRE(at != std::string::npos);
        write_bytes(folder() / file, bytes.replace(at, old_text.size(), new_text));
    }

private:
    TempFolder temporary_;
};

void check_same_numbers(Trace const& a, Trace const& b) {
    REQUIRE(a.steps().size() == b.steps().size());
    for (std::size_t s = 0; s < a.steps().size(); ++s) {
        Step const& x = a.steps()[s];
        Step const& y = b.steps()[s];
        INFO(x.term.name);
        CHECK(x.term == y.term);
        CHECK(x.formula == y.formula);
        REQUIRE(x.values.shape() == y.values.shape());
        for (std::size_t at = 0; at < x.values.size(); ++at)
            CHECK(std::bit_cast<std::uint32_t>(x.values.data()[at]) ==
                  std::bit_cast<std::uint32_t>(y.values.data()[at]));
    }
}

}  // namespace

TEST_CASE("a trace comes back from its CSVs to the bit") {
    Trace trace = trace_of(random_case(1, 6));
    trace.facts.row = 4;
    trace.set_formula(terms::q, "another formula");
    Written const written{trace};
    Trace const back = read_trace(written.folder());
    check_same_numbers(trace, back);
    REQUIRE(back.tokens.size() == 6);
    for (std::size_t pos = 0; pos < 6; ++pos) {
        CHECK(back.tokens[pos].id == trace.tokens[pos].id);
        CHECK(back.tokens[pos].bytes == trace.tokens[pos].bytes);
    }
    CHECK(back.facts.model == "random");
    CHECK(back.facts.text == trace.facts.text);
    CHECK(back.facts.head == 1);
    CHECK(back.facts.d_head == 4);
    CHECK(back.facts.row == 4);
    CHECK(back.facts.divisor == 2);
    CHECK(back.facts.layer_norm_epsilon == 1e-5);
    CHECK(back.facts.experiment.empty());
}

TEST_CASE("a trace comes back from .npy alone, with the labels of its tokens") {
    Trace const trace = trace_of(deeper_case(), 3);
    Written const written{trace, "npy"};
    Trace const back = read_trace(written.folder());
    check_same_numbers(trace, back);
    CHECK(back.facts.layer == 3);
    CHECK(back.tokens.at(1).id == 11);
    REQUIRE(back.tokens.size() == trace.tokens.size());
    for (std::size_t pos = 0; pos < trace.tokens.size(); ++pos)
        CHECK(back.tokens[pos].bytes == trace.tokens[pos].bytes);
}

TEST_CASE("an experiment and what was left out come back") {
    Case c = with_experiment(random_case(), "unscaled");
    c.residual_is_exact = false;
    Trace trace = trace_of_experiment(c, "unscaled");
    trace.facts.experiment_says = "divides by 1";
    trace.facts.left_out = "03 is left out";
    Written const written{trace};
    Trace const back = read_trace(written.folder());
    CHECK(back.facts.experiment == "unscaled");
    CHECK(back.facts.experiment_says == "divides by 1");
    CHECK(back.facts.left_out == "03 is left out");
    CHECK(back.find(terms::residual) == nullptr);
}

TEST_CASE("what is no trace is refused with what to do") {
    TempFolder const empty;
    CHECK_THROWS_WITH(read_trace(empty.path()), Contains("no trace.json"));
    CHECK_THROWS_WITH(read_trace(empty.path() / "none"), Contains("found nothing"));
    write_bytes(empty.path() / "file", "");
    CHECK_THROWS_WITH(read_trace(empty.path() / "file"), Contains("found a file"));
    Written const text_only{trace_of(random_case()), "text"};
    CHECK_THROWS_WITH(read_trace(text_only.folder()), Contains("with the format csv"));
}

TEST_CASE("a changed trace.json is refused with the key") {
    Trace const trace = trace_of(random_case());
    auto const message = [&](std::string const& from, std::string const& to) -> std::string {
        Written const written{trace};
        written.replace("trace.json", from, to);
        try {
            read_trace(written.folder());
        } catch (Error const& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK_THAT(message("onehead-trace", "other-trace"), Contains("schema: expected \"onehead-trace\""));
    CHECK_THAT(message("\"schema_version\": 1", "\"schema_version\": 2"), Contains("schema_version"));
    CHECK_THAT(message("\"schema_version\": 1", "\"schema_version\": \"1\""), Contains("schema_version"));
    CHECK_THAT(message("\"layer\": 0", "\"layer\": 7"),
               Contains("layer: expected a whole number from 0 to 0, found 7"));
    CHECK_THAT(message("\"row\": 0", "\"row\": 5"), Contains("row: expected a whole number from 0 to 4"));
    CHECK_THAT(message("\"head\": 1", "\"head\": -1"), Contains("head: expected"));
    CHECK_THAT(message("\"head\": 1", "\"heads\": 1"), Contains("expected a key \"head\""));
    CHECK_THAT(message("\"divisor\": 2.0", "\"divisor\": \"2\""), Contains("divisor: expected a number"));
    CHECK_THAT(message("01_token_embedding.csv", "../secret.csv"), Contains("01_token_embedding.csv"));
    CHECK_THAT(message("\"softmax\"", "\"softmix\""), Contains("steps[10]: name"));
    CHECK_THAT(message("\"name\": \"k\"", "\"name\": \"q\""), Contains("steps[5]"));
    CHECK_THAT(message("464", "-464"), Contains("token_ids"));
    CHECK_THAT(message("464", "465"), Contains("tokens.csv: line 2, column 2: expected \"465\""));
    CHECK_THAT(message("\"d_head\": 4", "\"d_head\": 5"), Contains("shape: expected [5, 5]"));
    CHECK_THAT(message("{", "[{"), Contains("trace.json"));
}

TEST_CASE("a changed table is refused with its place") {
    Trace const trace = trace_of(random_case());
    auto const message = [&](std::string const& file, std::string const& from,
                             std::string const& to) -> std::string {
        Written const written{trace};
        written.replace(file, from, to);
        try {
            read_trace(written.folder());
        } catch (Error const& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK_THAT(message("05_q.csv", "d1", "d2"), Contains("05_q.csv: line 1, column 5: expected \"d1\""));
    CHECK_THAT(message("05_q.csv", ",d3", ""), Contains("expected 7 fields, found 6"));
    CHECK_THAT(message("08_scores.csv", "key0 'The'", "key0 'the'"), Contains("line 1, column 4"));
    CHECK_THAT(message("08_scores.csv", "\n1,11,", "\n1,12,"), Contains("line 3, column 2"));
    CHECK_THAT(message("10_masked_scores.csv", "-inf", "inf"), Contains("line 2, column 5"));
    CHECK_THAT(message("15_projection_bias.csv", "\n,,", "\n0,464,"), Contains("line 2, column 1"));
    CHECK_THAT(message("tokens.csv", R"(\x54\x68\x65)", R"(\x54\x68\x6)"), Contains("line 2, column 4"));
    CHECK_THAT(message("tokens.csv", R"(\x54\x68\x65)", R"(\x54\x68\x66)"), Contains("line 2, column 4"));
}

TEST_CASE("a table that was cut short is refused wherever it was cut") {
    Trace const trace = trace_of(random_case(1, 2));
    Written const written{trace};
    std::string const whole = contents_of(written.folder() / "08_scores.csv");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write_bytes(written.folder() / "08_scores.csv", whole.substr(0, size));
        CHECK_THROWS_AS(read_trace(written.folder()), Error);
    }
    write_bytes(written.folder() / "08_scores.csv", whole + "2,1,x,1,1\n");
    CHECK_THROWS_WITH(read_trace(written.folder()), Contains("expected the end of the file"));
    std::filesystem::remove(written.folder() / "08_scores.csv");
    CHECK_THROWS_WITH(read_trace(written.folder()), Contains("08_scores.csv"));
}

TEST_CASE("an .npy of another shape or type is refused") {
    Trace const trace = trace_of(random_case());
    Written const written{trace, "npy"};
    std::filesystem::copy_file(written.folder() / "05_q.npy", written.folder() / "08_scores.npy",
                               std::filesystem::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(read_trace(written.folder()), Contains("08_scores.npy: expected shape [5, 5]"));
}

TEST_CASE("trace.json says which lesson it is of, if of one") {
    Trace const trace = trace_head(random_case(1, 3), awkward_tokens(3));
    LessonFacts const lesson{
        "2_scores", "2: score", "How \"strongly\"?", {{"trace.html", "the whole"}, {"b", ""}}};
    auto const back = lesson_in_trace_json(trace_json(trace, {"05_q.csv"}, lesson));
    REQUIRE(back);
    CHECK(back->name == lesson.name);
    CHECK(back->title == lesson.title);
    CHECK(back->question == lesson.question);
    CHECK(back->pages == lesson.pages);
    CHECK_FALSE(lesson_in_trace_json(trace_json(trace, {"05_q.csv"})));
    for (char const* const damaged : {"", "{", "[]", "7", R"({"lesson": 7})", R"({"lesson": {"title": 7}})",
                                      R"({"lesson": {"pages": 7}})", R"({"lesson": {"pages": [7]}})",
                                      R"({"lesson": {"pages": [{"file": null}]}})"})
        CHECK_FALSE(lesson_in_trace_json(damaged));
}
