// From a model and token ids to the rows that arrive at a layer.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "head/gpt2.hpp"
#include "load/model.hpp"
#include "trace/token.hpp"

namespace onehead {

// The rows that arrive at layer 0, token embedding plus position embedding: [pos, d_model].
Matrix first_rows(Embedding const& embedding);
Matrix first_rows(Model const& model, std::vector<int> const& ids);

// The rows that arrive at any layer: [pos, d_model]. `progress` is told each layer that is worked through
// below it.
Matrix arriving_rows(Model const& model, std::vector<int> const& ids, std::size_t layer,
                     std::function<void(std::size_t)> const& progress = {});

// The blocks of a model, each read when it is asked for.
Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress = {});

Tokens describe_tokens(Model const& model, std::vector<int> const& ids);

}  // namespace onehead
