#include "cli/changed_text.hpp"

#include <fmt/format.h>
#include <cctype>

#include "cli/run_options.hpp"
#include "error.hpp"

namespace onehead {
namespace {

std::string join(Tokens const& tokens) {
    std::string text;
    for (Token const& token : tokens) text += token.bytes;
    return text;
}

}  // namespace

std::string with_changed_word(Tokens const& tokens, std::string const& change) {
    std::size_t const equals = change.find('=');
    if (equals == std::string::npos || equals + 1 == change.size())
        throw UsageError(fmt::format("--change {}: expected POS=WORD, such as 1=dog", label(change)));
    std::size_t const pos = parse_count("--change", change.substr(0, equals));
    if (pos >= tokens.size())
        throw UsageError(fmt::format("--change {}: there is no such position; choose one from 0 to {}", pos,
                                     tokens.size() - 1));
    std::string word = change.substr(equals + 1);
    if (tokens[pos].bytes.starts_with(' ') && !word.starts_with(' ')) word.insert(0, " ");
    Tokens changed = tokens;
    changed[pos].bytes = word;
    return join(changed);
}

std::string with_appended_words(Tokens const& tokens, std::string const& words) {
    if (words.empty()) throw UsageError("--append: expected words, found none; say what is to follow");
    bool const is_word = std::isalnum(static_cast<unsigned char>(words.front())) != 0 ||
                         static_cast<unsigned char>(words.front()) >= 0x80;
    return join(tokens) + (is_word ? " " : "") + words;
}

}  // namespace onehead
