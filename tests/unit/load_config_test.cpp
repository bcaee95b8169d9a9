#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "onehead/error.hpp"
#include "onehead/io/json.hpp"
#include "onehead/model/model.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

nlohmann::json small_config() {
    return {{"n_embd", 12}, {"n_head", 3}, {"n_layer", 5}};
}

Config read(nlohmann::json const& values) {
    TempFolder const folder;
    return read_config(folder.write("config.json", values.dump()));
}

}  // namespace

TEST_CASE("config: what is given is read", "[load]") {
    auto values = small_config();
    values["n_positions"] = 30;
    values["n_ctx"] = 20;
    values["vocab_size"] = 99;
    values["n_inner"] = 7;
    values["layer_norm_epsilon"] = 0.125;
    auto const config = read(values);
    CHECK(config.d_model == 12);
    CHECK(config.n_head == 3);
    CHECK(config.d_head() == 4);
    CHECK(config.n_layer == 5);
    CHECK(config.n_ctx == 30);
    CHECK(config.vocab_size == 99);
    CHECK(config.d_mlp == 7);
    CHECK(config.layer_norm_epsilon == 0.125);
}

TEST_CASE("config: what is left out, or null, is as in GPT-2", "[load]") {
    auto values = small_config();
    if (GENERATE(false, true))
        for (auto const* key : {"n_positions", "n_inner", "layer_norm_epsilon", "model_type"})
            values[key] = nullptr;
    auto const config = read(values);
    CHECK(config.n_ctx == 1024);
    CHECK(config.vocab_size == 50257);
    CHECK(config.d_mlp == 48);
    CHECK(config.layer_norm_epsilon == 1e-5);
}

TEST_CASE("config: gpt2-mini's", "[load]") {
    auto const config = read_config(ONEHEAD_SOURCE_DIR "/data/gpt2-mini/config.json");
    CHECK(config.d_model == 192);
    CHECK(config.d_head() == 64);
    CHECK(config.n_ctx == 512);
}

TEST_CASE("config: what would give wrong numbers, or none, is refused by its name", "[load]") {
    struct Case {
        char const* key;
        nlohmann::json value;
        std::string found;
    };
    auto const [key, value, found] = GENERATE(values<Case>({
        {"model_type", "gpt_neo", "gpt_neo"},
        {"scale_attn_weights", false, "false"},
        {"scale_attn_by_inverse_layer_idx", true, "true"},
        {"add_cross_attention", true, "true"},
        {"add_cross_attention", "no", "no"},
        {"n_head", 5, "5"},
        {"n_head", 0, "0"},
        {"n_head", -3, "-3"},
        {"n_head", "3", "3"},
        {"n_embd", 12.5, "12.5"},
        {"n_embd", 3000000, "3000000"},
        {"n_layer", nullptr, "null"},
        {"n_inner", 9000000, "n_inner"},
        {"vocab_size", 0, "0"},
        {"layer_norm_epsilon", 0, "0"},
        {"layer_norm_epsilon", -1e-5, "-1e-05"},
        {"layer_norm_epsilon", "1e-5", "1e-5"},
    }));
    auto values = small_config();
    values[key] = value;
    check_message(message_of([&] { read(values); }), {"config.json", key, found});
}

TEST_CASE("config: what changes no number, or only the rounding, is accepted", "[load]") {
    auto values = small_config();
    values["activation_function"] = GENERATE("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu", "relu");
    values["reorder_and_upcast_attn"] = true;
    values["scale_attn_weights"] = true;
    CHECK_NOTHROW(read(values));
}

TEST_CASE("config: must be an object", "[load]") {
    check_message(message_of([&] { read(nlohmann::json::array()); }), {"config.json", "object"});
}

TEST_CASE("config: nothing may follow it, and a page in its place is named", "[load]") {
    TempFolder const folder;
    std::string const text = small_config().dump();
    CHECK(read_config(folder.write("config.json", text + " \n")).n_head == 3);
    check_message(message_of([&] { read_config(folder.write("config.json", text + '\0' + "{}")); }),
                  {"config.json", "JSON", fmt::format("byte {}", text.size())});
    check_message(message_of([&] { read_config(folder.write("config.json", "<html>")); }),
                  {"config.json", "web page"});
}
