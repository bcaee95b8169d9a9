// The vocabulary as a page: what each step is called here, what it is, and its names elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace onehead {

// For a terminal: a paragraph a step. `layer` is what stands for the layer in names from elsewhere: "L", "3".
std::string glossary_text(std::string_view layer);

// A table in Markdown: a line a step.
std::string glossary_markdown(std::string_view layer);

}  // namespace onehead
