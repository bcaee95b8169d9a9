// The grammar of HTML and SVG, as far as pages need it: text that cannot be mistaken for markup, elements,
// and a page around them that loads nothing and runs nothing.
#pragma once

#include <string>
#include <string_view>

namespace onehead {

// Text for the inside of an element or of an attribute in double quotes.
std::string escaped(std::string_view text);

// A token's label, kept from turning the text around it when it is written from right to left.
std::string label_markup(std::string_view bytes);

std::string element(std::string_view name, std::string_view inside, std::string_view attributes = "");

// A table or picture that scrolls by itself where it is wider than the page, and has a name for those who do
// not see it.
std::string figure(std::string_view inside, std::string_view name);

// A whole document. Its style sheet is inside it; a policy forbids everything else.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace onehead
