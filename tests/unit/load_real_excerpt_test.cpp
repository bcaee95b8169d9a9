// Excerpts of GPT-2 small with OpenAI's weights, where they are at hand.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "onehead/model/excerpt.hpp"

using namespace onehead;

namespace {

// Excerpts of OpenAI's weights, which are not part of this project; "" where they are not.
std::filesystem::path real_excerpt(std::string const& name) {
    char const* const folder = std::getenv("ONEHEAD_SHARED_DIR");
    auto path = std::filesystem::path(folder != nullptr ? folder : ONEHEAD_SOURCE_DIR "/../shared") /
                "gpt2-small" / name;
    if (std::filesystem::exists(path)) return path;
    WARN("SKIPPED: no " << path);
    return {};
}

}  // namespace

// Expected numbers: read with Python's json and numpy.frombuffer(..., "<f4").
TEST_CASE("excerpt: block 0 of GPT-2 small", "[load]") {
    auto const path = real_excerpt("block0.safetensors");
    if (path.empty()) return;
    Excerpt const model(path);
    CHECK(model.name() == "openai-community/gpt2 (block0.safetensors)");
    CHECK(model.rows() == Rows::shifted);
    CHECK(model.own_tokens() == std::vector<int>{7554, 4176, 318, 635, 262, 3367, 286, 8559, 4176});
    CHECK(model.config().n_ctx == 64);
    CHECK(model.config().d_head() == 64);
    CHECK(model.config().layer_norm_epsilon == 1e-5);
    auto const embedding = model.embed(model.own_tokens());
    CHECK(embedding.token(0, 0) == 0.0003504432097543031F);
    CHECK(embedding.token(4, 0) == -0.038090918213129044F);
    CHECK(embedding.token(8, 0) == 0.0003341863048262894F);
    CHECK(embedding.position(8, 1) == -0.0017733778804540634F);
}

TEST_CASE("excerpt: block 5 of GPT-2 small", "[load]") {
    auto const path = real_excerpt("block5.safetensors");
    if (path.empty()) return;
    Excerpt const model(path);
    CHECK(model.layers() == std::vector<std::size_t>{5});
    CHECK(model.config().n_layer == 6);
    CHECK(model.rows() == Rows::rescaled);
    CHECK(model.hidden_states(5)(8, 767) == 83.95187377929688F);
    CHECK(model.attention(5).c_attn(10, 20) == -0.026747507974505424F);
}
