// A document as a page for a browser: one file that loads nothing, and runs nothing but a script of ours that
// its policy names by its hash.
#pragma once

#include <string>
#include <string_view>

#include "onehead/pages/document.hpp"

namespace onehead {

std::string html(Document const& document);

// style.css, explore.js with panels.js, and attention/head.cpp, which the build puts into the program; and
// the part of the first that a picture needs.

std::string_view style_css();
std::string_view page_script();
std::string_view head_cpp();
std::string_view shades_style();

// Text for the inside of an element of HTML or SVG, or of an attribute in double quotes.
std::string escaped(std::string_view text);

}  // namespace onehead
