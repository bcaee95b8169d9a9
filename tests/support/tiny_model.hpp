// A checkpoint and an excerpt of a few hundred bytes: width 4, two heads of width 2 (not 64), two layers, a
// vocabulary of 10, at most 8 positions. Every tensor counts up from a number of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "safetensors_writer.hpp"

namespace onehead::test {

inline void add_attention(TestFile& file, std::string const& block) {
    file.tensors[block + "ln_1.weight"] = counting({4}, 100);
    file.tensors[block + "ln_1.bias"] = counting({4}, 200);
    file.tensors[block + "attn.c_attn.weight"] = counting({4, 12}, 300);
    file.tensors[block + "attn.c_attn.bias"] = counting({12}, 400);
    file.tensors[block + "attn.c_proj.weight"] = counting({4, 4}, 500);
    file.tensors[block + "attn.c_proj.bias"] = counting({4}, 600);
}

inline void add_mlp(TestFile& file, std::string const& block) {
    file.tensors[block + "ln_2.weight"] = counting({4}, 110);
    file.tensors[block + "ln_2.bias"] = counting({4}, 210);
    file.tensors[block + "mlp.c_fc.weight"] = counting({4, 16}, 700);
    file.tensors[block + "mlp.c_fc.bias"] = counting({16}, 800);
    file.tensors[block + "mlp.c_proj.weight"] = counting({16, 4}, 900);
    file.tensors[block + "mlp.c_proj.bias"] = counting({4}, 1000);
}

struct TinyCheckpoint {
    TestFile weights;
    nlohmann::json config = {{"model_type", "gpt2"},
                             {"n_embd", 4},
                             {"n_head", 2},
                             {"n_layer", 2},
                             {"n_positions", 8},
                             {"vocab_size", 10},
                             {"layer_norm_epsilon", 0.25}};

    explicit TinyCheckpoint(std::string const& prefix = "") {
        weights.tensors[prefix + "wte.weight"] = counting({10, 4}, 0);
        weights.tensors[prefix + "wpe.weight"] = counting({8, 4}, 50);
        for (auto const* layer : {"h.0.", "h.1."}) {
            add_attention(weights, prefix + layer);
            add_mlp(weights, prefix + layer);
        }
    }

    void write(std::filesystem::path const& folder) const {
        std::ofstream(folder / "model.safetensors", std::ios::binary) << weights.bytes();
        std::ofstream(folder / "config.json") << config.dump();
    }
};

// Block 0 for the tokens 7 3 7; or, with hidden states, block 1 for three rows.
inline TestFile tiny_excerpt(bool hidden_states = false) {
    TestFile file;
    file.metadata = {{"model", "tiny"},
                     {"n_head", "2"},
                     {"layer_norm_epsilon", "0.25"},
                     {"text", "seven 3 seven"},
                     {"token_ids", "[7, 3, 7]"},
                     {"residual", "exact"}};
    add_attention(file, hidden_states ? "h.1." : "h.0.");
    if (hidden_states) {
        file.tensors["hidden_states.1"] = counting({3, 4}, 70);
    } else {
        file.tensors["wte.rows"] = counting({2, 4}, 0);
        file.tensors["wte.row_ids"] = {"I64", {2}, bytes_of(std::vector<std::int64_t>{3, 7})};
        file.tensors["wpe.weight"] = counting({5, 4}, 50);
    }
    return file;
}

}  // namespace onehead::test
