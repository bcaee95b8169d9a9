// What config.json (or an excerpt's metadata) says about the architecture.
#pragma once

#include <cstddef>
#include <filesystem>

namespace onehead {

struct Config {
    std::size_t d_model = 0;
    std::size_t n_head = 0;
    std::size_t n_layer = 0;
    std::size_t n_ctx = 0;  // the longest sequence
    std::size_t vocab_size = 0;
    double layer_norm_epsilon = 1e-5;
    std::size_t d_mlp = 0;  // 0 in an excerpt, which has no MLP

    std::size_t d_head() const { return d_model / n_head; }
};

// Reads a config.json of Hugging Face's GPT-2. n_embd, n_head and n_layer must be there, the rest has GPT-2's
// values where it is not. Throws an Error for a value that cannot be, and for an option that would need other
// arithmetic than GPT-2's: wrong numbers would be the result of overlooking it.
Config read_config(std::filesystem::path const& path);

// Throws an Error, `source` first, unless the heads divide the width evenly and all numbers are in sane
// limits.
void check_config(Config const& config, std::string const& source);

}  // namespace onehead
