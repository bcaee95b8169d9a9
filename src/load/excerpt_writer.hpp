// The counterpart of `excerpt`: what one block needs on one sequence, as the bytes of a .safetensors file. A
// trace from it has the same numbers as one from the whole model, to the bit.
#pragma once

#include <string>
#include <vector>

#include "load/model.hpp"

namespace onehead {

// Layer 0 comes with the embeddings of the tokens (so that any text made of them can be traced), a deeper one
// with the rows that arrive at it. Throws a UsageError if the model lacks the layer, or holds rows that are
// not exact.
std::string make_excerpt(Model const& model, std::size_t layer, std::vector<int> const& ids);

}  // namespace onehead
