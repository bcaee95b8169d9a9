#include "write/shade.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace onehead {
namespace {

constexpr int shades = 9;

}  // namespace

Scale Scale::shares(Matrix const& pattern) {
    std::vector<float> largest;
    for (std::size_t i = 0; i < row_count(pattern); ++i)
        largest.push_back(*std::max_element(row(pattern, i).begin(), row(pattern, i).end()));
    std::sort(largest.begin(), largest.end());
    constexpr std::array limits{.05, .1, .2, .5, 1.0};
    double const limit =
        *std::lower_bound(limits.begin(), limits.end() - 1, static_cast<double>(largest[largest.size() / 2]));
    return {0, limit, largest.back()};
}

Scale Scale::around_zero(std::span<float const> values) {
    std::vector<float> sizes;
    for (float const value : values)
        if (std::isfinite(value)) sizes.push_back(std::fabs(value));
    if (sizes.empty()) return {-1, 1, 0};
    std::sort(sizes.begin(), sizes.end());
    double const limit = sizes[(sizes.size() - 1) * 99 / 100];
    return limit == 0 ? Scale{-1, 1, sizes.back()} : Scale{-limit, limit, sizes.back()};
}

Scale Scale::of(Term const& term, Matrix const& values) {
    return term == terms::softmax ? shares(values) : around_zero({values.data(), values.size()});
}

int Scale::shade(double value) const {
    double const place = (value - low_) / (high_ - low_) * shades;
    return first() + static_cast<int>(std::clamp(std::floor(place), 0.0, shades - 1.0));
}

std::string Scale::name_of(int shade) const {
    if (!is_signed()) return fmt::format("p{}", shade);
    return shade == 0 ? "z" : fmt::format("{}{}", shade < 0 ? 'n' : 'u', std::abs(shade));
}

double Scale::from(int shade) const {
    return low_ + (high_ - low_) * (shade - first()) / shades;
}

}  // namespace onehead
