// How little of a large file one head needs.
#include <catch2/catch.hpp>
#include <fstream>

#include "onehead/io/file.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "support/safetensors_writer.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

// The whole of GPT-2 small in shape and in F32, all zeros: 548 MB that take no room on the disk.
void write_gpt2_small_of_zeros(std::filesystem::path const& folder) {
    nlohmann::json header;
    std::uint64_t end = 0;
    auto const add = [&](std::string const& name, std::vector<std::uint64_t> const& shape) {
        std::uint64_t bytes = 4;
        for (auto const n : shape) bytes *= n;
        header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {end, end + bytes}}};
        end += bytes;
    };
    add("wte.weight", {50257, 768});
    add("wpe.weight", {1024, 768});
    for (int layer = 0; layer < 12; ++layer) {
        auto const h = "h." + std::to_string(layer) + ".";
        add(h + "attn.bias", {1, 1, 1024, 1024});
        for (auto const* ln : {"ln_1", "ln_2"})
            for (auto const* part : {".weight", ".bias"}) add(h + ln + part, {768});
        add(h + "attn.c_attn.weight", {768, 2304});
        add(h + "attn.c_attn.bias", {2304});
        add(h + "attn.c_proj.weight", {768, 768});
        add(h + "attn.c_proj.bias", {768});
        add(h + "mlp.c_fc.weight", {768, 3072});
        add(h + "mlp.c_fc.bias", {3072});
        add(h + "mlp.c_proj.weight", {3072, 768});
        add(h + "mlp.c_proj.bias", {768});
    }
    auto const path = folder / "model.safetensors";
    std::ofstream(path, std::ios::binary) << with_header(header.dump());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + end);
    std::ofstream(folder / "config.json")
        << R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12})";
}

}  // namespace

TEST_CASE("checkpoint: a run reads its own part of the file and no more", "[load]") {
    TempFolder const folder;
    write_gpt2_small_of_zeros(folder.path());
    CHECK(std::filesystem::file_size(folder.path() / "model.safetensors") > 548'000'000);
    auto const before = File::bytes_read();
    Checkpoint const model(folder.path());
    auto const opened = File::bytes_read() - before;
    CHECK(opened < 32768);
    model.embed({464, 3797, 3332, 319, 262, 2603});
    model.attention(0);
    std::uint64_t const d_model = 768, tokens = 6;
    auto const values = 2 * d_model + d_model * 3 * d_model + 3 * d_model + d_model * d_model + d_model +
                        2 * tokens * d_model;
    CHECK(File::bytes_read() - before - opened == 4 * values);
}

TEST_CASE("checkpoint: a head of the last layer reads the blocks below it once, and nothing twice",
          "[load]") {
    TempFolder const folder;
    write_gpt2_small_of_zeros(folder.path());
    for (auto const* const name : {"vocab.json", "merges.txt"})
        std::filesystem::create_symlink(std::filesystem::path(ONEHEAD_SOURCE_DIR) / "data/gpt2-mini" / name,
                                        folder.path() / name);
    Checkpoint const model(folder.path());
    model.tokenizer();
    auto const before = File::bytes_read();
    Trace const t = trace(
        model,
        {.token_ids = std::vector<int>{464, 3797, 3332, 319, 262, 2603, 464, 464}, .layer = 11, .head = 3});
    std::uint64_t const d = 768;
    std::uint64_t const attention = 2 * d + d * 3 * d + 3 * d + d * d + d;
    std::uint64_t const mlp = 2 * d + d * 4 * d + 4 * d + 4 * d * d + d;
    CHECK(File::bytes_read() - before == 4 * (12 * attention + 11 * mlp + 2 * 8 * d));
    CHECK(t[terms::softmax](3, 0) == 0.25F);  // zeros all the way: every score is the same
}
