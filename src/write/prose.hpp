// Sentences on a page of plain text: wrapped to a width, under underlined headings.
#pragma once

#include <string>
#include <string_view>

namespace onehead {

std::string heading(std::string_view title, char underline = '-');  // an empty line before it and after it
std::string paragraph(std::string_view text, std::string_view indent = "");  // lines of at most 100 columns

}  // namespace onehead
