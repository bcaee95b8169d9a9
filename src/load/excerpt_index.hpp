// Which parts of a model an excerpt holds, as its tensors' names and token ids say.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "load/block.hpp"

namespace onehead {

// The layers whose attention is there, rising. Throws an Error if there is none.
std::vector<std::size_t> find_layers(Safetensors const& file);

// For each token id in wte.row_ids, the row of wte.rows with its embedding. Empty if there are none; throws
// an Error for an id that is there twice.
std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights);

}  // namespace onehead
