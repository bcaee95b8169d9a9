#include "math/layer_norm.hpp"

#include <cmath>

#include "math/parallel.hpp"

namespace onehead {

Moments moments(std::span<float const> values) {
    auto const count = static_cast<double>(values.size());
    double sum = 0;
    for (double const value : values) sum += value;
    double const mean = sum / count;
    double squares = 0;
    for (double const value : values) squares += (value - mean) * (value - mean);
    return {mean, squares / count};
}

Matrix layer_norm(Matrix const& rows, Vector const& gain, Vector const& bias, double epsilon) {
    Matrix normalized = make_matrix(row_count(rows), column_count(rows));
    for_rows(row_count(rows), column_count(rows), [&](std::size_t i) {
        auto const [mean, variance] = moments(row(rows, i));
        double const root = std::sqrt(variance + epsilon);
        for (std::size_t d = 0; d < column_count(rows); ++d)
            normalized(i, d) = static_cast<float>((rows(i, d) - mean) / root * gain(d) + bias(d));
    });
    return normalized;
}

}  // namespace onehead
