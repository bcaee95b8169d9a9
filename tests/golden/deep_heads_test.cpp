// Heads of real models at any depth: what reads them keeps its promises to the bit, and what they do is
// recognised.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "onehead/attention/gpt2.hpp"
#include "onehead/math/parallel.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/study/worked.hpp"
#include "support/matrices.hpp"

namespace onehead::test {
namespace {

namespace fs = std::filesystem;

fs::path const source{ONEHEAD_SOURCE_DIR};
fs::path const shared = source / ".." / "shared";

std::unique_ptr<Model> mini() {
    return open_model(source / "data" / "gpt2-mini");
}

// The given number of tokens, all over the vocabulary.
std::vector<int> some_tokens(std::size_t count) {
    std::mt19937 generator{7};
    std::vector<int> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<int>(generator() % 50257));
    return ids;
}

std::vector<HeadSurvey> survey_excerpt(std::size_t layer) {
    auto const model = open_model(shared / "gpt2-small" / fmt::format("block{}.safetensors", layer));
    return survey_block(model->hidden_states(layer), model->attention(layer), layer, model->own_tokens());
}

}  // namespace

TEST_CASE(
    "the first 20 tokens have the same bits alone, followed by 400 more, and with any number of threads",
    "[golden][threads]") {
    auto const model = mini();
    auto ids = some_tokens(420);
    std::size_t const threads = thread_count();
    set_thread_count(1);
    Trace const followed = trace(*model, {.token_ids = ids, .layer = 3, .head = 2});
    set_thread_count(2);
    ids.resize(20);
    Trace const alone = trace(*model, {.token_ids = ids, .layer = 3, .head = 2});
    set_thread_count(threads);
    for (Step const& step : alone.steps()) {
        INFO(step.term.name);
        Matrix const& longer = followed[step.term];
        for (std::size_t i = 0; i < row_count(step.values); ++i)
            REQUIRE(std::memcmp(row(step.values, i).data(), row(longer, i).data(),
                                column_count(step.values) * sizeof(float)) == 0);
    }
}

TEST_CASE("residual_after of a layer plus its MLP is the residual of the next, in every head's trace",
          "[golden]") {
    auto const model = mini();
    for (std::size_t layer = 0; layer < 3; ++layer) {
        Trace const below = trace(*model, {.layer = layer, .head = 1});
        for (std::size_t head = 0; head < 3; ++head) {
            Trace const above = trace(*model, {.layer = layer + 1, .head = head});
            CHECK(bits(above[terms::residual]) ==
                  bits(after_mlp(below[terms::residual_after], model->mlp(layer))));
            CHECK(bits(trace(*model, {.layer = layer, .head = head})[terms::residual_after]) ==
                  bits(below[terms::residual_after]));
        }
    }
}

TEST_CASE("200 random numbers of gpt2-mini are worked out to the bit, at layers 0 and 3", "[golden]") {
    auto const model = mini();
    std::mt19937 generator{11};
    for (std::size_t const layer : {std::size_t{0}, std::size_t{3}}) {
        Run const run = prepare(*model, {.layer = layer, .head = 2});
        Trace const t = trace(run, "");
        for (int sample = 0; sample < 100; ++sample) {
            Step const& step = t.steps()[generator() % t.steps().size()];
            std::size_t const i = generator() % row_count(step.values);
            std::size_t const j = generator() % column_count(step.values);
            INFO(step.term.name << " " << i << " " << j);
            CHECK(work_out(run.head, t, step.term, i, j).agrees());
        }
    }
}

TEST_CASE("gpt2-mini: a head that reads the token before, and one that finds what came after the last time",
          "[golden]") {
    auto const model = mini();
    auto const ids =
        model->tokenizer().encode("The quick brown fox jumps over the lazy dog. The quick brown fox jumps");
    auto const heads = survey_model(first_rows(*model, ids), 4, blocks_of(*model), ids);
    REQUIRE(heads.size() == 12);
    CHECK(heads[2].previous > 0.98);   // its README: 0.98 on random tokens
    CHECK(heads[11].induction > 0.3);  // 0.66 in the last row alone
    Trace const last = trace(*model, {.token_ids = ids, .layer = 3, .head = 2});
    CHECK(last[terms::softmax](14, 5) == Approx(0.66).margin(0.005));  // README: to " over"
}

TEST_CASE("GPT-2 small: 4.11 reads the token before, 5.5 finds what came after the last time", "[golden]") {
    if (!fs::exists(shared / "gpt2-small")) {
        WARN("SKIPPED: the excerpts of GPT-2 small are not beside this checkout");
        return;
    }
    auto const fourth = survey_excerpt(4);
    for (HeadSurvey const& head : fourth) CHECK(head.previous <= fourth[11].previous);
    CHECK(fourth[11].previous > 0.99);
    auto const fifth = survey_excerpt(5);
    for (HeadSurvey const& head : fifth)
        CHECK(head.induction <= std::max(fifth[5].induction, fifth[1].induction));
    CHECK(fifth[5].induction == Approx(0.74).margin(0.005));  // " Smith" to " is", published figures
}

}  // namespace onehead::test
