// One block's weights out of a file, by the names and in the shapes of Hugging Face's GPT-2. Linear layers
// lie as [in, out] there, and `attn.bias` and `attn.masked_bias` are the causal mask, not weights: they are
// not read.
#pragma once

#include <string>

#include "head/weights.hpp"
#include "load/config.hpp"
#include "load/safetensors.hpp"

namespace onehead {

// A file, what shapes to expect in it, and who says so: "config.json".
struct WeightFile {
    Safetensors file;
    Config config;
    std::string shapes_from;

    // The name of a tensor in this file: some have "transformer." before all names.
    std::string full_name(std::string const& name) const;

    // Throws an Error unless the tensor is there in this shape.
    void expect(std::string const& name, std::vector<std::uint64_t> const& shape) const;
};

// Both throw an Error that names file and tensor if one is missing (a bias too), misshapen or damaged.
AttentionWeights read_attention(WeightFile const& source, std::size_t layer);
MlpWeights read_mlp(WeightFile const& source, std::size_t layer);

}  // namespace onehead
