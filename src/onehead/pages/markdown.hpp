// A document as Markdown, for docs/ and for readers who paste it elsewhere.
#pragma once

#include <string>

#include "onehead/pages/document.hpp"

namespace onehead {

std::string markdown(Document const& document);

}  // namespace onehead
