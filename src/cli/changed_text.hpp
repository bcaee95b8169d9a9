// A text with a word changed or words appended, as a person means it: the word keeps the space before it.
#pragma once

#include <string>

#include "trace/token.hpp"

namespace onehead {

// change is "POS=WORD": the token at POS becomes WORD, with a space in front if the token has one. Throws a
// UsageError for anything else.
std::string with_changed_word(Tokens const& tokens, std::string const& change);

// The words follow after a space, unless they bring one or begin with punctuation.
std::string with_appended_words(Tokens const& tokens, std::string const& words);

}  // namespace onehead
