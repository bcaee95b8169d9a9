// What an excerpt says about itself, in the string-to-string metadata of its header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "load/model.hpp"
#include "load/safetensors.hpp"

namespace onehead {

struct ExcerptMetadata {
    std::string model;  // whose part this is: "openai-community/gpt2"
    std::string text;
    std::vector<int> token_ids;  // the text's
    Rows rows = Rows::exact;     // the key is `residual`
    std::size_t n_head = 0;
    double layer_norm_epsilon = 0;
    std::optional<std::size_t> n_layer;  // of the whole model
};

// Throws an Error that names the file and the key.
ExcerptMetadata read_excerpt_metadata(Safetensors const& file);

}  // namespace onehead
