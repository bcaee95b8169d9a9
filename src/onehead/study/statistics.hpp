// Figures of a list of numbers, in double.
#pragma once

#include <cstddef>
#include <span>

#include "onehead/math/tensor.hpp"

namespace onehead {

double sum(std::span<float const> values);
double mean(std::span<float const> values);
double standard_deviation(std::span<float const> values);
double norm(std::span<float const> values);                                    // Euclidean
double cosine_similarity(std::span<float const> a, std::span<float const> b);  // 0 if one of the norms is

// What one row of an attention pattern amounts to: where most of it goes, and over how many rows.

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
    double worst_sum = 0;         // how far a row's weights are from adding up to 1, at worst
    std::size_t later = 0;        // cells in which a row would read a later one
    std::size_t exact_zeros = 0;  // of these, those that are exactly 0
};

PatternSums sum_pattern(Matrix const& pattern);

// Why scores are divided: the wider the head, the further apart the dot products of queries and keys that
// know nothing of each other, for no reason but the number of terms.

struct WidthDeviations {
    double score = 0;  // standard deviation of q . k
    double gap = 0;    // standard deviation of q . k - q . k'

    // The same queries and keys with 1 added to each entry, so that they are not centred: how large q . k is,
    // as the root of its mean square.
    double off_centre = 0;
};

// From `samples` random queries and pairs of keys whose d_head entries are independent, centred on 0 and of
// variance 1 (uniform between -sqrt(3) and sqrt(3)). The generator is seeded: the same numbers everywhere.
WidthDeviations measure_width(std::size_t d_head, std::size_t samples);

}  // namespace onehead
