// Numbers as people read them on a page: rounded, aligned, and never mistaken for exact ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace onehead {

// With that many decimals, and no minus before a number that is rounded to 0.
std::string fixed(double value, int decimals);

std::string short_score(double value);   // 14.78, -inf, 3.1e+05
std::string short_weight(double value);  // .399; 0 and 1 only if they are exactly that
std::string short_list(std::span<float const> values, std::size_t most);  // 0.12 -0.40 ... 58 more

}  // namespace onehead
