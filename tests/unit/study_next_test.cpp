// The next token, as it is and with one head changed, against an independent computation in float64: numpy,
// three texts, every head silenced and three other changes, at two rows each.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/math/parallel.hpp"
#include "onehead/model/excerpt.hpp"
#include "onehead/model/run.hpp"
#include "onehead/study/next.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/temp_folder.hpp"

namespace onehead::test {
namespace {

using Catch::Matchers::Contains;

std::string const source{ONEHEAD_SOURCE_DIR};

nlohmann::json reference() {
    std::ifstream file{source + "/tests/reference/mini-next-f64.json"};
    return nlohmann::json::parse(file);
}

Checkpoint const& mini() {
    static Checkpoint const model{gpt2_mini};
    return model;
}

// The same function, which reads once what it is asked for again; from any thread.
template <typename Weights, typename... Which>
std::function<Weights(Which...)> remembering(std::function<Weights(Which...)> const& read) {
    struct Kept {
        std::mutex mutex;
        std::map<std::tuple<Which...>, Weights> weights;
    };
    return [read, kept = std::make_shared<Kept>()](Which... which) {
        std::scoped_lock const lock(kept->mutex);
        auto found = kept->weights.find({which...});
        if (found == kept->weights.end())
            found = kept->weights.emplace(std::tuple{which...}, read(which...)).first;
        return found->second;
    };
}

Blocks const& mini_blocks() {
    static Blocks const kept = [] {
        Blocks blocks = blocks_of(mini());
        blocks.attention = remembering(blocks.attention);
        blocks.mlp = remembering(blocks.mlp);
        blocks.unembedding = remembering(blocks.unembedding);
        return blocks;
    }();
    return kept;
}

Next next_of(std::vector<int> const& ids, std::size_t layer, std::size_t head, std::string const& experiment,
             std::size_t row, std::size_t top = 5) {
    Run const run = prepare(mini(), {.token_ids = ids, .layer = layer, .head = head});
    Case const changed = changed_case(run, experiment);
    return next_tokens(run.head, experiment.empty() ? nullptr : &changed, layer, row, top, mini_blocks());
}

std::vector<std::uint32_t> bits_of(Next const& next) {
    Matrix values = make_matrix(next.likely.size(), 2);
    for (std::size_t i = 0; i < next.likely.size(); ++i) {
        values(i, 0) = next.likely[i].probability;
        values(i, 1) = next.likely[i].changed;
    }
    return bits(values);
}

}  // namespace

TEST_CASE("the next token is what float64 says, with each head silenced and with other changes", "[golden]") {
    double worst = 0;
    double worst_nats = 0;
    for (auto const& entry : reference()) {
        bool const is_changed = !entry["change"].is_null();
        std::string const change = is_changed ? entry["change"] : "";
        auto const next = next_of(entry["token_ids"], is_changed ? entry["layer"].get<std::size_t>() : 0,
                                  is_changed ? entry["head"].get<std::size_t>() : 0, change, entry["row"]);
        std::map<int, double> found;
        for (NextToken const& token : next.likely)
            found[token.id] = static_cast<double>(is_changed ? token.changed : token.probability);
        CAPTURE(entry["text"].get<int>(), change, entry["layer"].dump(), entry["head"].dump(),
                entry["row"].get<int>());
        for (auto const& expected : entry["next"]) {
            REQUIRE(found.contains(expected["token_id"]));
            double const off = std::fabs(found[expected["token_id"]] - expected["probability"].get<double>());
            CHECK(off <= 2e-5);
            worst = std::max(worst, off);
        }
        double const nats_off = std::fabs(next.worth - entry["worth_nats"].get<double>());
        CHECK(nats_off <= 1e-4);
        worst_nats = std::max(worst_nats, nats_off);
    }
    std::printf("next token: probabilities off by at most %.2g, worth by at most %.2g nats\n", worst,
                worst_nats);
}

TEST_CASE("what every head is worth is what float64 says", "[golden]") {
    std::map<std::vector<int>, std::map<std::pair<std::size_t, std::size_t>, double>> expected;
    for (auto const& entry : reference())
        if (entry["change"] == "silent") {
            std::vector<int> ids = entry["token_ids"];
            ids.resize(entry["row"].get<std::size_t>() + 1);
            expected[ids][{entry["layer"], entry["head"]}] = entry["worth_nats"];
        }
    REQUIRE(expected.size() == 6);
    for (auto const& [ids, heads] : expected) {
        Worth const found = worth_of_heads(first_rows(mini(), ids), {}, mini_blocks());
        REQUIRE(found.heads.size() == heads.size());
        for (HeadWorth const& head : found.heads) {
            CAPTURE(ids, head.layer, head.head);
            CHECK(std::fabs(head.worth - heads.at({head.layer, head.head})) <= 1e-4);
            // The same as silencing this head alone.
            Next const alone = next_of(ids, head.layer, head.head, "silent", ids.size() - 1, 1);
            CHECK(alone.worth == head.worth);
            CHECK(alone.likely.front().id == found.top);
            CHECK(alone.likely.front().probability == found.probability);
            CHECK(alone.likely.front().changed == head.top_without);
        }
    }
}

TEST_CASE("one layer's heads are worth what they are among all") {
    std::vector<int> const ids{464, 3797, 3332, 319, 262, 2603};
    Worth const all = worth_of_heads(first_rows(mini(), ids), {}, mini_blocks());
    std::size_t told = 0;
    Worth const one =
        worth_of_heads(first_rows(mini(), ids), 2, mini_blocks(), [&](std::size_t done, std::size_t layers) {
            CHECK(done == ++told);
            CHECK(done <= layers);
        });
    CHECK(told > 0);
    REQUIRE(one.heads.size() == 3);
    for (std::size_t head = 0; head < 3; ++head) {
        CHECK(one.heads[head].layer == 2);
        CHECK(one.heads[head].worth == all.heads[6 + head].worth);
        CHECK(one.heads[head].top_without == all.heads[6 + head].top_without);
    }
    CHECK_THROWS_AS(worth_of_heads(first_rows(mini(), ids), 99, mini_blocks()), std::invalid_argument);
}

TEST_CASE("the model's last rows are PyTorch's", "[golden]") {
    for (int text = 0; text < 3; ++text) {
        Reference const pytorch{source + "/tests/reference/mini-" + std::to_string(text) +
                                "-f64.safetensors"};
        std::size_t const n_layer = mini().config().n_layer;
        Matrix const last =
            normalize(residual_before(n_layer, first_rows(mini(), pytorch.token_ids()), mini_blocks()),
                      mini().final_norm());
        Values const expected = pytorch.read("last_hidden_state");
        REQUIRE(last.size() == expected.size());
        for (std::size_t at = 0; at < last.size(); ++at)
            REQUIRE(std::fabs(static_cast<double>(last.data()[at]) - expected[at]) <=
                    5e-5 + 2e-5 * std::fabs(expected[at]));
    }
}

TEST_CASE("the next token has the same bits from one thread and two, and whatever comes behind the row") {
    std::vector<int> const ids{464, 3797, 3332, 319, 262, 2603};
    std::vector<int> longer = ids;
    longer.insert(longer.end(), {13, 383, 3797, 3332});
    std::size_t const before = thread_count();
    set_thread_count(1);
    auto const one = next_of(ids, 1, 1, "unscaled", 5);
    set_thread_count(2);
    auto const two = next_of(ids, 1, 1, "unscaled", 5);
    auto const with_more = next_of(longer, 1, 1, "unscaled", 5);
    Worth const worth_two = worth_of_heads(first_rows(mini(), ids), {}, mini_blocks());
    set_thread_count(1);
    Worth const worth_one = worth_of_heads(first_rows(mini(), ids), {}, mini_blocks());
    set_thread_count(before);
    CHECK((bits_of(one) == bits_of(two)));
    CHECK((bits_of(one) == bits_of(with_more)));
    CHECK(one.worth == two.worth);
    for (std::size_t i = 0; i < worth_one.heads.size(); ++i)
        CHECK(worth_one.heads[i].worth == worth_two.heads[i].worth);
}

TEST_CASE("both top lists are shown, the likeliest first, and no change changes nothing") {
    std::vector<int> const ids{464, 3797, 3332, 319, 262, 2603};
    Next const same = next_of(ids, 0, 0, "", 5);
    CHECK(same.likely.size() == 5);
    CHECK_FALSE(same.is_changed);
    CHECK(same.worth == 0);
    for (std::size_t i = 1; i < 5; ++i) CHECK(same.likely[i - 1].probability >= same.likely[i].probability);
    Next const changed = next_of(ids, 3, 2, "silent", 5);
    CHECK(changed.likely.size() >= 5);
    CHECK(changed.is_changed);
    CHECK_THROWS_AS(next_of(ids, 0, 0, "", 6), std::invalid_argument);
}

TEST_CASE("how far one distribution is from another") {
    std::vector<float> const p{0, 0};
    std::vector<float> const q{std::log(3.0F), 0};
    // .5 ln(.5 / .75) + .5 ln(.5 / .25)
    CHECK(nats_apart(p, q) == Approx(.5 * std::log(2.0 / 3) + .5 * std::log(2.0)).epsilon(1e-7));
    CHECK(nats_apart(p, p) == 0);
    CHECK(nats_apart(std::vector<float>{0, -300}, std::vector<float>{-300, 0}) == Approx(300));
}

}  // namespace onehead::test
