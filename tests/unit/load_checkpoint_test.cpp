#include <catch2/catch.hpp>
#include <functional>

#include "onehead/error.hpp"
#include "onehead/model/model.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_model.hpp"
#include "support/values_of.hpp"

using namespace onehead;
using namespace onehead::test;

TEST_CASE("checkpoint: finds each weight, with and without `transformer.` before the names", "[load]") {
    TempFolder const folder;
    TinyCheckpoint(GENERATE("", "transformer.")).write(folder.path());
    Checkpoint const model(folder.path());
    CHECK(model.name() == folder.path().filename());
    CHECK(model.config().d_head() == 2);
    CHECK(model.layers() == std::vector<std::size_t>{0, 1});
    CHECK(model.own_tokens().empty());

    auto const attention = model.attention(1);
    CHECK(attention.n_head == 2);
    CHECK(values_of(attention.ln_1.gain) == Values{100, 101, 102, 103});
    CHECK(attention.ln_1.bias(0) == 200);
    CHECK(attention.ln_1.epsilon == 0.25);
    CHECK(attention.c_attn(1, 0) == 312);  // row-major, [in, out]
    CHECK(attention.c_attn_bias(11) == 411);
    CHECK(attention.c_proj(3, 3) == 515);
    CHECK(attention.c_proj_bias(3) == 603);

    auto const mlp = model.mlp(0);
    CHECK(mlp.ln_2.gain(0) == 110);
    CHECK(mlp.ln_2.bias(0) == 210);
    CHECK(mlp.c_fc(1, 0) == 716);
    CHECK(mlp.c_fc_bias(15) == 815);
    CHECK(mlp.c_proj(1, 0) == 904);
    CHECK(mlp.c_proj_bias(3) == 1003);
}

TEST_CASE("checkpoint: the embedding is a row of wte for each token and the first rows of wpe", "[load]") {
    TempFolder const folder;
    TinyCheckpoint().write(folder.path());
    auto const embedding = Checkpoint(folder.path()).embed({9, 0, 9});
    CHECK(grid_of(embedding.token) == Grid{{36, 37, 38, 39}, {0, 1, 2, 3}, {36, 37, 38, 39}});
    CHECK(grid_of(embedding.position) == Grid{{50, 51, 52, 53}, {54, 55, 56, 57}, {58, 59, 60, 61}});
}

TEST_CASE("checkpoint: refuses tokens and layers that it lacks as wrong use", "[load]") {
    TempFolder const folder;
    TinyCheckpoint().write(folder.path());
    Checkpoint const model(folder.path());
    CHECK_THROWS_AS(model.embed({}), UsageError);
    CHECK_THROWS_AS(model.embed(std::vector<int>(9, 1)), UsageError);
    CHECK_THROWS_AS(model.embed({10}), UsageError);
    CHECK_THROWS_AS(model.embed({-1}), UsageError);
    CHECK_THROWS_AS(model.attention(2), UsageError);
    CHECK_THROWS_AS(model.mlp(2), UsageError);
    CHECK_THROWS_AS(model.hidden_states(1), UsageError);
    check_message(message_of([&] { model.embed(std::vector<int>(9, 1)); }), {"9 tokens", "at most 8"});
    check_message(message_of([&] { model.embed({10}); }), {"token_ids", "from 0 to 9", "found 10"});
    check_message(message_of([&] { model.attention(2); }), {"layer", "0, 1", "found 2"});
}

TEST_CASE("checkpoint: ignores what is no weight of GPT-2's blocks", "[load]") {
    TinyCheckpoint tiny;
    tiny.weights.tensors["h.0.attn.bias"] = {"U8", {1, 1, 8, 8}, std::string(64, '\1')};
    tiny.weights.tensors["h.0.attn.masked_bias"] = f32({}, {-10000});
    tiny.weights.tensors["lm_head.weight"] = counting({10, 4}, 0);
    tiny.weights.tensors["something.else"] = {"F8_E5M2", {1}, "x"};
    TempFolder const folder;
    tiny.write(folder.path());
    CHECK_NOTHROW(Checkpoint(folder.path()).attention(0));
}

TEST_CASE("checkpoint: a weight that is missing, or disagrees with the config, is an Error", "[load]") {
    struct Case {
        std::function<void(TinyCheckpoint&)> damage;
        std::vector<std::string> words;
    };
    auto const without = [](char const* name) {
        return [=](TinyCheckpoint& t) { t.weights.tensors.erase(name); };
    };
    auto const config = [](char const* key, int n) { return [=](TinyCheckpoint& t) { t.config[key] = n; }; };
    std::vector<Case> const cases{
        {without("h.0.attn.c_attn.bias"), {"model.safetensors", "h.0.attn.c_attn.bias", "missing"}},
        {without("h.0.attn.c_proj.bias"), {"h.0.attn.c_proj.bias", "missing"}},
        {without("h.0.ln_1.bias"), {"h.0.ln_1.bias", "missing"}},
        {without("h.0.mlp.c_fc.bias"), {"h.0.mlp.c_fc.bias", "missing"}},
        {without("wpe.weight"), {"wpe.weight", "missing"}},
        {without("h.1.ln_1.weight"), {"h.1.ln_1.weight", "missing"}},
        {config("n_embd", 6), {"model.safetensors", "config.json", "n_embd 6", "[10, 6]", "[10, 4]"}},
        {config("n_positions", 9), {"wpe.weight", "config.json", "[9, 4]", "[8, 4]"}},
        {config("vocab_size", 11), {"wte.weight", "config.json", "[11, 4]"}},
        {config("n_layer", 1), {"config.json", "below 1", "h.1.ln_1.weight"}},
        {config("n_layer", 3), {"h.2.ln_1.weight", "missing"}},
        {config("n_inner", 8), {"h.0.mlp.c_fc.weight", "config.json", "[4, 8]", "[4, 16]"}},
        {[](TinyCheckpoint& t) {
             t.weights.tensors["h.0.attn.c_attn.weight"] = counting({12, 4}, 0);
         },
         {"h.0.attn.c_attn.weight", "[4, 12]", "[12, 4]"}},
        {[](TinyCheckpoint& t) { t.weights.tensors["h.0.ln_1.weight"].dtype = "I32"; },
         {"h.0.ln_1.weight", "I32"}},
    };
    for (auto const& [damage, words] : cases) {
        TinyCheckpoint tiny;
        damage(tiny);
        TempFolder const folder;
        tiny.write(folder.path());
        check_message(message_of([&] {
                          Checkpoint const model(folder.path());
                          model.attention(0);
                          model.mlp(0);
                      }),
                      words);
    }
}

TEST_CASE("checkpoint: says what a folder lacks", "[load]") {
    TempFolder const folder;
    auto const message = [&] { return message_of([&] { Checkpoint const model(folder.path()); }); };
    check_message(message(), {folder.path().string(), "model.safetensors", "config.json"});
    folder.write("pytorch_model.bin", "PK");
    check_message(message(), {"pytorch_model.bin", "save_pretrained"});
    folder.write("model.safetensors.index.json", "{}");
    check_message(message(), {"model.safetensors.index.json", "several files", "save_pretrained"});
    folder.write("model.safetensors", TinyCheckpoint().weights.bytes());
    check_message(message(), {"config.json", "No such file"});
}

TEST_CASE("checkpoint: what follows the last block, the unembedding in pieces", "[load]") {
    TinyCheckpoint tiny("transformer.");
    tiny.weights.tensors["transformer.ln_f.weight"] = counting({4}, 120);
    tiny.weights.tensors["transformer.ln_f.bias"] = counting({4}, 220);
    TempFolder const folder;
    tiny.write(folder.path());
    Checkpoint const model(folder.path());
    CHECK(values_of(model.final_norm().gain) == Values{120, 121, 122, 123});
    CHECK(model.final_norm().bias(3) == 223);
    CHECK(model.final_norm().epsilon == 0.25);
    CHECK(grid_of(model.unembedding(2, 4)) == Grid{{8, 9, 10, 11}, {12, 13, 14, 15}});
    CHECK(model.unembedding(0, 10).size() == 40);
    CHECK_THROWS_AS(model.unembedding(5, 11), Error);
}

TEST_CASE("checkpoint: an lm_head of its own counts where the config does not tie it", "[load]") {
    TinyCheckpoint tiny;
    tiny.weights.tensors["lm_head.weight"] = counting({10, 4}, 1000);
    tiny.config["tie_word_embeddings"] =
        GENERATE(nlohmann::json(true), nlohmann::json(false), nlohmann::json());
    bool const own = tiny.config["tie_word_embeddings"] == false;
    TempFolder const folder;
    tiny.write(folder.path());
    Checkpoint const model(folder.path());
    CHECK(grid_of(model.unembedding(1, 2)) == (own ? Grid{{1004, 1005, 1006, 1007}} : Grid{{4, 5, 6, 7}}));
    CHECK(grid_of(model.embed({1}).token) == Grid{{4, 5, 6, 7}});
}

// safetensors' save_model keeps the first name of tied weights, and notes the others in the metadata.
TEST_CASE("checkpoint: of tied weights any of the two names will do", "[load]") {
    TinyCheckpoint tiny("transformer.");
    tiny.weights.metadata = {{"transformer.wte.weight", "lm_head.weight"}};
    tiny.weights.tensors["lm_head.weight"] = counting({10, 4}, 1000);
    tiny.weights.tensors.erase("transformer.wte.weight");
    TempFolder const folder;
    tiny.write(folder.path());
    Checkpoint const model(folder.path());
    CHECK(grid_of(model.embed({2}).token) == Grid{{1008, 1009, 1010, 1011}});
    CHECK(grid_of(model.unembedding(2, 3)) == Grid{{1008, 1009, 1010, 1011}});
}
