#include "study/measure.hpp"

#include <cmath>

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
    return sum(values) / static_cast<double>(values.size());
}

double spread(std::span<float const> values) {
    double const middle = mean(values);
    double squares = 0;
    for (double const value : values) squares += (value - middle) * (value - middle);
    return std::sqrt(squares / static_cast<double>(values.size()));
}

double length(std::span<float const> values) {
    return std::sqrt(dot(values, values));
}

double cosine(std::span<float const> a, std::span<float const> b) {
    double const lengths = length(a) * length(b);
    return lengths == 0 ? 0 : dot(a, b) / lengths;
}

}  // namespace onehead
