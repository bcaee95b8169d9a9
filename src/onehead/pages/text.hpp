// A document as plain text: lines of at most 100 columns, tables aligned as a terminal shows them. Pictures
// and scripts are left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "onehead/pages/document.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

std::string text(Document const& document);
std::string text(Table const& table, std::string const& indent = "  ");

// A paragraph alone: no line is broken inside a token's label.
std::string wrapped(Inline const& line, std::string_view indent = "");

// The attention pattern as a shaded grid for a terminal. It fits the width of the terminal, with every weight
// printed if there is room; of a long text the part around the row is shown.

enum class Shading { colour, blocks };  // blocks: a terminal without colour, or a reader who wants none

std::string shaded_grid(Trace const& trace, std::size_t width, Shading shading);

}  // namespace onehead
