// How pages and pictures look: colours that tell more from less in light and dark, in print, and for readers
// who do not see red or green; and the layout of a page, from a telephone to a projector.
#pragma once

#include <string_view>

namespace onehead {

// The shades: classes p0 to p8 for shares, n4 to n1, z, u1 to u4 for numbers on both sides of 0, m for
// masked. They colour the strokes and rectangles of pictures and the cells of tables; the text on them stays
// legible.
std::string_view shades_style();

std::string_view page_style();

}  // namespace onehead
