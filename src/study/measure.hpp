// Figures of a list of numbers, in double.
#pragma once

#include <span>

namespace onehead {

double sum(std::span<float const> values);
double mean(std::span<float const> values);
double spread(std::span<float const> values);                       // standard deviation
double length(std::span<float const> values);                       // Euclidean
double cosine(std::span<float const> a, std::span<float const> b);  // -1 to 1; 0 if one of them has no length

}  // namespace onehead
