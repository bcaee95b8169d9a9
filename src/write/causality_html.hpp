// What a changed word moved, on a page: the two texts, the grid, and both patterns.
#pragma once

#include <string>
#include <string_view>

#include "study/causality.hpp"

namespace onehead {

std::string causality_html(Trace const& before, Trace const& after, Causality const& causality,
                           std::string_view verdict);

}  // namespace onehead
