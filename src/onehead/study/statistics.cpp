#include "onehead/study/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "onehead/attention/head.hpp"

namespace onehead {

namespace {

double dot(std::span<float const> a, std::span<float const> b) {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return total;
}

}  // namespace

double sum(std::span<float const> values) {
    double total = 0;
    for (double const value : values) total += value;
    return total;
}

double mean(std::span<float const> values) {
    return moments(values).mean;
}

double standard_deviation(std::span<float const> values) {
    return std::sqrt(moments(values).variance);
}

double norm(std::span<float const> values) {
    return std::sqrt(dot(values, values));
}

double cosine_similarity(std::span<float const> a, std::span<float const> b) {
    double const norms = norm(a) * norm(b);
    return norms == 0 ? 0 : dot(a, b) / norms;
}

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

namespace {

// The standard fixes what mt19937_64 gives, but not what its distributions make of it: so the scaling is
// ours.
class Entries {
public:
    double next() {
        double const unit = static_cast<double>(generator_() >> 11) * 0x1p-53;  // [0, 1)
        return (2 * unit - 1) * std::sqrt(3.0);
    }

private:
    std::mt19937_64 generator_{20170612};  // NOLINT(cert-msc51-cpp): to repeat is the point
};

}  // namespace

WidthDeviations measure_width(std::size_t d_head, std::size_t samples) {
    Entries entries;
    double scores = 0;
    double gaps = 0;
    double off_centre = 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        double score = 0;
        double other = 0;
        double moved = 0;
        for (std::size_t d = 0; d < d_head; ++d) {
            double const q = entries.next();
            double const k = entries.next();
            score += q * k;
            other += q * entries.next();
            moved += (q + 1) * (k + 1);
        }
        scores += score * score;
        gaps += (score - other) * (score - other);
        off_centre += moved * moved;
    }
    auto const count = static_cast<double>(samples);
    return {std::sqrt(scores / count), std::sqrt(gaps / count), std::sqrt(off_centre / count)};
}

}  // namespace onehead
