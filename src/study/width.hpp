// Why scores are divided: the wider the head, the further apart the dot products of queries and keys that
// know nothing of each other, for no reason but the number of terms.
#pragma once

#include <cstddef>

namespace onehead {

struct WidthSpread {
    double score = 0;  // standard deviation of q . k
    double gap = 0;    // standard deviation of q . k - q . k'
};

// From `samples` random queries and pairs of keys whose d_head entries are independent, centred on 0 and of
// variance 1 (uniform between -sqrt(3) and sqrt(3)). The generator is seeded: the same numbers everywhere.
WidthSpread measure_width(std::size_t d_head, std::size_t samples);

}  // namespace onehead
