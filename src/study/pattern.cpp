#include "study/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "study/measure.hpp"

namespace onehead {

PatternRow describe_pattern_row(std::span<float const> weights) {
    PatternRow result;
    auto const largest = std::max_element(weights.begin(), weights.end());
    result.favourite = static_cast<std::size_t>(largest - weights.begin());
    result.largest = *largest;
    for (double const p : weights)
        if (p > 0) result.entropy -= p * std::log(p);
    result.effective_rows = std::exp(result.entropy);
    return result;
}

PatternSums sum_pattern(Matrix const& pattern) {
    PatternSums sums;
    for (std::size_t i = 0; i < row_count(pattern); ++i) {
        auto const later = row(pattern, i).subspan(i + 1);
        sums.worst_sum = std::max(sums.worst_sum, std::fabs(sum(row(pattern, i)) - 1));
        sums.later += later.size();
        sums.exact_zeros += static_cast<std::size_t>(std::count(later.begin(), later.end(), 0.0F));
    }
    return sums;
}

}  // namespace onehead
