// What one row of an attention pattern amounts to: where most of it goes, and how spread out it is.
#pragma once

#include <cstddef>
#include <span>

#include "math/tensor.hpp"

namespace onehead {

struct PatternRow {
    std::size_t favourite = 0;  // the key with the largest weight; the first of equals
    double largest = 0;         // its weight
    double entropy = 0;         // in nats: minus the sum of p ln p
    double effective_rows =
        0;  // e to the entropy: 1 if a single row gets everything, n if n rows get the same
};

PatternRow describe_pattern_row(std::span<float const> weights);

// What must hold of a whole pattern [query_pos, key_pos] under a causal mask.
struct PatternSums {
    double worst_sum = 0;         // how far a row's shares are from adding up to 1, at worst
    std::size_t later = 0;        // cells in which a row would read a later one
    std::size_t exact_zeros = 0;  // of these, those that are exactly 0
};

PatternSums sum_pattern(Matrix const& pattern);

}  // namespace onehead
