#include <catch2/catch.hpp>

#include "onehead/error.hpp"
#include "onehead/model/excerpt.hpp"
#include "onehead/model/run.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_model.hpp"
#include "support/values_of.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

struct OpenExcerpt {
    TempFolder folder;
    Excerpt model;

    explicit OpenExcerpt(TestFile const& content)
        : model(folder.write("tiny.safetensors", content.bytes())) {}
};

std::string open_message(TestFile const& content) {
    return message_of([&] { OpenExcerpt const opened(content); });
}

}  // namespace

TEST_CASE("excerpt: some rows of the embedding, found by token", "[load]") {
    OpenExcerpt const opened(tiny_excerpt());
    auto const& model = opened.model;
    CHECK(model.name() == "tiny (tiny.safetensors)");
    CHECK(model.own_text() == "seven 3 seven");
    CHECK(model.own_tokens() == std::vector<int>{7, 3, 7});
    CHECK(model.layers() == std::vector<std::size_t>{0});
    CHECK(model.rows() == Rows::exact);
    CHECK(model.config().d_model == 4);
    CHECK(model.config().n_head == 2);
    CHECK(model.config().n_layer == 1);
    CHECK(model.config().n_ctx == 5);
    CHECK_FALSE(model.has_hidden_states(0));
    CHECK(grid_of(model.embed({3, 7}).token) == Grid{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(grid_of(model.embed(model.own_tokens()).token) == Grid{{4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(grid_of(model.embed({3, 7}).position) == Grid{{50, 51, 52, 53}, {54, 55, 56, 57}});
    CHECK(model.attention(0).c_attn(1, 0) == 312);
    CHECK(model.attention(0).ln_1.epsilon == 0.25);
}

TEST_CASE("excerpt: all of the embedding", "[load]") {
    auto content = tiny_excerpt();
    content.tensors.erase("wte.rows");
    content.tensors.erase("wte.row_ids");
    content.tensors["wte.weight"] = counting({8, 4}, 0);
    OpenExcerpt const opened(content);
    CHECK(opened.model.config().vocab_size == 8);
    CHECK(grid_of(opened.model.embed({6}).token) == Grid{{24, 25, 26, 27}});
    CHECK_THROWS_AS(opened.model.embed({8}), UsageError);
}

TEST_CASE("excerpt: the input of a deeper block, for its own text", "[load]") {
    auto content = tiny_excerpt(true);
    content.metadata["residual"] = "rescaled";
    content.metadata["n_layer"] = "12";
    OpenExcerpt const opened(content);
    auto const& model = opened.model;
    CHECK(model.layers() == std::vector<std::size_t>{1});
    CHECK(model.config().n_layer == 12);
    CHECK(model.rows() == Rows::rescaled);
    CHECK(model.has_hidden_states(1));
    CHECK(grid_of(model.hidden_states(1)) == Grid{{70, 71, 72, 73}, {74, 75, 76, 77}, {78, 79, 80, 81}});
    CHECK_NOTHROW(model.check_tokens({7, 3, 7}));
    content.metadata["n_layer"] = std::string("1");
    check_message(open_message(content), {"tiny.safetensors", "n_layer 1", "found 1"});
}

TEST_CASE("excerpt: says what it holds when it is asked for more", "[load]") {
    OpenExcerpt const rows(tiny_excerpt());
    OpenExcerpt const hidden(tiny_excerpt(true));
    CHECK_THROWS_AS(rows.model.embed({4}), UsageError);
    CHECK_THROWS_AS(rows.model.attention(1), UsageError);
    CHECK_THROWS_AS(rows.model.mlp(0), UsageError);
    CHECK_THROWS_AS(rows.model.embed(std::vector<int>(6, 7)), UsageError);
    CHECK_THROWS_AS(rows.model.hidden_states(0), UsageError);
    CHECK_THROWS_AS(hidden.model.check_tokens({7, 3}), UsageError);
    CHECK_THROWS_AS(hidden.model.embed({7, 3, 7}), UsageError);
    check_message(message_of([&] { rows.model.embed({4}); }),
                  {"tiny.safetensors", "token 4", "seven 3 seven", "7, 3, 7"});
    check_message(message_of([&] { rows.model.attention(1); }),
                  {"tiny.safetensors", "layer", "holds: 0, found 1"});
    check_message(message_of([&] { rows.model.mlp(0); }), {"tiny.safetensors", "MLP", "layer 0"});
    check_message(message_of([&] { rows.model.hidden_states(0); }), {"tiny.safetensors", "layer 0"});
    check_message(message_of([&] {
                      hidden.model.check_tokens({7, 3});
                  }),
                  {"tiny.safetensors", "seven 3 seven"});
    check_message(message_of([&] { hidden.model.attention(0); }), {"layer", "holds: 1, found 0"});
}

TEST_CASE("excerpt: metadata that is missing or wrong is an Error", "[load]") {
    struct Case {
        std::string key, value;
        std::vector<std::string> words;
    };
    auto const [key, value, words] = GENERATE(values<Case>({
        {"n_head", "3", {"n_head 3"}},
        {"n_head", "0", {"from 1", "found 0"}},
        {"n_head", "2.0", {"2.0"}},
        {"n_head", "-2", {"-2"}},
        {"n_layer", "many", {"n_layer", "JSON", "many"}},
        {"n_layer", "0", {"from 1", "found 0"}},
        {"layer_norm_epsilon", "small", {"small"}},
        {"layer_norm_epsilon", "nan", {"nan"}},
        {"layer_norm_epsilon", "-1", {"-1"}},
        {"residual", "roughly", {"exact, shifted or rescaled", "roughly"}},
        {"model", "a\nb", {"one line"}},
        {"token_ids", "7", {"list"}},
        {"token_ids", "[]", {"list"}},
        {"token_ids", "[1.5]", {"list"}},
        {"token_ids", "[-1]", {"list"}},
        {"token_ids", "[4294967303]", {"list"}},
        {"token_ids", "[7, 3", {"JSON"}},
        {"token_ids", "[7, 50257]", {"50257"}},
        {"token_ids", "[7, 4]", {"token 4"}},
        {"token_ids", "[7, 7, 7, 7, 7, 7]", {"6 tokens", "at most 5"}},
    }));
    auto content = tiny_excerpt();
    content.metadata[key] = value;
    INFO(key << " = " << value);
    auto const message = open_message(content);
    check_message(message, {"tiny.safetensors"});
    check_message(message, words);
    CHECK_THROWS_AS(OpenExcerpt(content), Error);

    if (key == "n_layer") return;  // the one that may be left out
    content.metadata.erase(key);
    check_message(open_message(content), {"tiny.safetensors", key, "metadata"});
}

TEST_CASE("excerpt: carries what its tokens stand for, and needs no other file then", "[load]") {
    auto content = tiny_excerpt();
    content.metadata["token_bytes"] = R"(["736576656E", "203320", "736576656f"])";
    check_message(open_message(content), {"token_bytes", "seven 3 seven"});
    content.metadata["token_ids"] = "[7, 3, 7]";
    content.metadata["text"] = "abcab";
    content.metadata["token_bytes"] = R"(["6162", "63", "6162"])";
    OpenExcerpt const opened(content);
    auto const before = File::bytes_read();
    Tokens const tokens = opened.model.tokens({3, 7});
    CHECK(label(tokens[0]) == "'c'");
    CHECK(label(tokens[1]) == "'ab'");
    CHECK(File::bytes_read() == before);
    CHECK(opened.model.encode("abcab") == std::vector<int>{7, 3, 7});
    CHECK_THROWS_AS(opened.model.encode("abc"), UsageError);
    check_message(message_of([&] { opened.model.encode("abc"); }), {"abcab", "token ids"});
    CHECK(label(opened.model.tokens({5})[0]) == R"('\#5')");
}

TEST_CASE("excerpt: ids with the same bytes keep different labels, and no bytes are fine", "[load]") {
    auto content = tiny_excerpt();
    content.metadata["text"] = "aaa";
    content.metadata["token_bytes"] = R"(["61", "61", "61"])";
    OpenExcerpt const twins(content);
    CHECK(label(twins.model.tokens({7})[0]) == R"('a\#7')");
    CHECK(label(twins.model.tokens({3})[0]) == R"('a\#3')");
    content.metadata["text"] = "";
    content.metadata["token_bytes"] = R"(["", "", ""])";
    OpenExcerpt const unknown(content);
    CHECK(label(unknown.model.tokens({7})[0]) == R"('\#7')");
    content.metadata["text"] = "\uFFFD";
    content.metadata["token_bytes"] = R"(["", "FF", ""])";
    OpenExcerpt const half(content);
    CHECK(label(half.model.tokens({3})[0]) == R"('\xFF')");
}

// GPT-2's tokens 3, 7 and 3 are "$", "(" and "$".
TEST_CASE("excerpt: without its tokens' bytes GPT-2's vocabulary has to give its text", "[load]") {
    auto content = tiny_excerpt();
    content.metadata["token_ids"] = "[3, 7, 3]";
    content.metadata["text"] = "$($";
    OpenExcerpt const gpt2(content);
    CHECK(label(gpt2.model.tokens({7})[0]) == "'('");
    CHECK(gpt2.model.encode("$") == std::vector<int>{3});
    CHECK(gpt2.model.encode("($") == std::vector<int>{16763});  // GPT-2 has merged the two
    content.metadata["text"] = "the th";
    OpenExcerpt const foreign(content);
    CHECK_THROWS_AS(foreign.model.tokens({7}), Error);
    check_message(message_of([&] { foreign.model.tokens({7}); }),
                  {"tiny.safetensors", "the th", "token_bytes"});
    CHECK_THROWS_AS(foreign.model.encode("the"), UsageError);
}

TEST_CASE("excerpt: tensors that are missing or misshapen are an Error", "[load]") {
    struct Case {
        std::string name;
        TestTensor tensor;
        std::vector<std::string> words;
    };
    std::vector<Case> const cases{
        {"wte.row_ids",
         {"I64", {2}, bytes_of(std::vector<std::int64_t>{7, 7})},
         {"wte.row_ids", "7", "twice"}},
        {"wte.row_ids",
         {"I64", {3}, bytes_of(std::vector<std::int64_t>{7, 3, 4})},
         {"wte.rows", "[3, 4]", "[2, 4]"}},
        {"wte.row_ids", {"I32", {2}, std::string(8, '\0')}, {"wte.row_ids", "I64", "I32"}},
        {"wte.rows", counting({2, 3}, 0), {"wte.rows", "[2, 4]", "[2, 3]"}},
        {"wpe.weight", counting({20}, 0), {"wpe.weight", "[20]"}},
        {"wpe.weight", f32({}, {0}), {"wpe.weight"}},
        {"h.0.ln_1.weight", counting({5}, 0), {"n_head"}},
        {"h.0.attn.c_attn.weight", counting({4, 11}, 0), {"h.0.attn.c_attn.weight", "[4, 12]", "[4, 11]"}},
    };
    for (auto const& [name, tensor, words] : cases) {
        auto content = tiny_excerpt();
        content.tensors[name] = tensor;
        check_message(message_of([&] { OpenExcerpt(content).model.attention(0); }), words);
        content.tensors.erase(name);
        check_message(message_of([&] { OpenExcerpt(content).model.attention(0); }),
                      {"tiny.safetensors", name.substr(0, 3)});
    }
    auto hidden = tiny_excerpt(true);
    hidden.tensors["hidden_states.1"] = counting({2, 4}, 0);
    check_message(open_message(hidden), {"hidden_states.1", "[3, 4]", "[2, 4]"});
}

TEST_CASE("excerpt: names may have `transformer.` before them", "[load]") {
    TestFile content;
    content.metadata = tiny_excerpt().metadata;
    for (auto const& [name, tensor] : tiny_excerpt().tensors)
        content.tensors[std::string("transformer.").append(name)] = tensor;
    OpenExcerpt const opened(content);
    CHECK(grid_of(opened.model.embed({7}).token) == Grid{{4, 5, 6, 7}});
    CHECK(opened.model.attention(0).c_proj_bias(0) == 600);
}

TEST_CASE("excerpt: a checkpoint's weights given as an excerpt", "[load]") {
    check_message(
        message_of([] { Excerpt const model(ONEHEAD_SOURCE_DIR "/data/gpt2-mini/model.safetensors"); }),
        {"model.safetensors", "excerpt", "folder"});
}

namespace {

// A file of the checkpoint's length with the header and some bytes of it, zeros elsewhere.
std::string only(std::string const& all, std::uint64_t data_begin, std::vector<ByteRange> const& ranges) {
    std::string part(all.size(), '\0');
    all.copy(part.data(), data_begin);
    for (auto const& [begin, end] : ranges) all.copy(&part[begin], end - begin, begin);
    return part;
}

std::uint64_t bytes_in(std::vector<ByteRange> const& ranges) {
    std::uint64_t count = 0;
    for (auto const& [begin, end] : ranges) count += end - begin;
    return count;
}

}  // namespace

// In float32: a row of wte or wpe has 4 numbers, a layer's attention 4 + 4 + 48 + 12 + 16 + 4 = 88, the MLP
// below it 4 + 4 + 64 + 16 + 64 + 4 = 156.
TEST_CASE("excerpt: the bytes that one needs are enough, and no more", "[load]") {
    auto const [layer, numbers] = GENERATE(
        table<std::size_t, std::uint64_t>({{0, 3 * 4 + 2 * 4 + 88}, {1, 3 * 4 + 2 * 4 + 2 * 88 + 156}}));
    std::vector<int> const ids{7, 3, 7};
    TinyCheckpoint tiny(GENERATE("", "transformer."));
    TempFolder const folder;
    tiny.write(folder.path());
    auto const path = folder.path() / "model.safetensors";
    std::string const all = tiny.weights.bytes();
    std::uint64_t const data_begin = Safetensors(path).header().data_begin;
    folder.write("model.safetensors", all.substr(0, data_begin));
    SafetensorsHeader const header = read_header_alone(File(path));
    CHECK(header.data_begin == data_begin);
    CHECK(data_begin + header.data_size() == all.size());
    auto const ranges = excerpt_ranges(header, layer, ids);
    CHECK(bytes_in(ranges) == 4 * numbers);
    for (std::size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i - 1].end < ranges[i].begin);

    auto const rows_of = [&, at = layer](std::string const& bytes) {
        folder.write("model.safetensors", bytes);
        Checkpoint const model(folder.path());
        return grid_of(arriving_rows(model, ids, at));
    };
    CHECK(rows_of(only(all, data_begin, ranges)) == rows_of(all));
}

TEST_CASE("excerpt: ranges of what is not there are refused", "[load]") {
    SafetensorsHeader const header = parse_header("{}", "empty");
    check_message(message_of([&] { excerpt_ranges(header, 0, {1}); }), {"wpe.weight"});
    TempFolder const folder;
    TinyCheckpoint().write(folder.path());
    SafetensorsHeader const tiny = read_header(File(folder.path() / "model.safetensors"));
    check_message(message_of([&] { excerpt_ranges(tiny, 0, {10}); }), {"wte.weight", "10"});
    check_message(message_of([&] { excerpt_ranges(tiny, 2, {1}); }), {"h.2.ln_1.weight"});
}
