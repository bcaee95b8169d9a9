#include "study/width.hpp"

#include <cmath>
#include <random>

namespace onehead {
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

WidthSpread measure_width(std::size_t d_head, std::size_t samples) {
    Entries entries;
    double scores = 0;
    double gaps = 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        double score = 0;
        double other = 0;
        for (std::size_t d = 0; d < d_head; ++d) {
            double const q = entries.next();
            score += q * entries.next();
            other += q * entries.next();
        }
        scores += score * score;
        gaps += (score - other) * (score - other);
    }
    auto const count = static_cast<double>(samples);
    return {std::sqrt(scores / count), std::sqrt(gaps / count)};
}

}  // namespace onehead
