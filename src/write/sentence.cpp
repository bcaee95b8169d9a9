#include "write/sentence.hpp"

#include <fmt/format.h>

#include "trace/utf8.hpp"
#include "write/markup.hpp"
#include "write/score_map.hpp"

namespace onehead {
namespace {

// Bytes as they stand in a sentence: their label without the quotes, and without the escapes that only those
// need.
std::string in_a_sentence(std::string_view bytes) {
    std::string const quoted = label(bytes);
    std::string text;
    for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
        bool const is_escape = quoted[at] == '\\' && (quoted[at + 1] == '\'' || quoted[at + 1] == '\\');
        text += quoted[is_escape ? ++at : at];
    }
    return escaped(text);
}

// Tokens that make whole characters together: most are one, an emoji takes several.
struct Word {
    std::size_t first = 0, end = 0;
    std::string bytes;
};

Word word_at(Tokens const& tokens, std::size_t first) {
    constexpr std::size_t most = 4;  // bytes of a character
    Word word{first, first, ""};
    while (word.end < tokens.size() && word.end - first < most) {
        word.bytes += tokens[word.end++].bytes;
        if (find_invalid_utf8(word.bytes) == std::string_view::npos) return word;
    }
    return {first, first + 1, tokens[first].bytes};
}

// The space before a word stays outside of its box, where lines may break.
std::string word_markup(Trace const& trace, Scale const& scale, Word const& word) {
    std::size_t const row = trace.facts.row;
    double share = 0;
    std::string title;
    for (std::size_t pos = word.first; pos < word.end; ++pos) {
        share += static_cast<double>(trace[terms::softmax](row, pos));
        title += fmt::format("{}{}: {}", title.empty() ? "" : ", ", token_at(trace, pos),
                             trace[terms::softmax](row, pos));
    }
    std::string text = in_a_sentence(word.bytes);
    bool const is_spaced = text.size() > 1 && text[0] == ' ';
    if (is_spaced) text.erase(0, 1);
    bool const asks = word.first <= row && row < word.end;
    return fmt::format(R"({}<span class="{}{}" title="{}">{}</span>)", is_spaced ? " " : "",
                       word.first > row && share == 0 ? "later" : scale.name(share), asks ? " asks" : "",
                       escaped(title), text);
}

}  // namespace

std::string sentence_markup(Trace const& trace, Scale const& shares) {
    std::size_t const n = trace.tokens.size();
    Window const shown = window_around(trace.facts.row, n, 2 * most_in_a_score_map);
    std::string text;
    for (std::size_t pos = shown.first; pos < shown.end;) {
        Word const word = word_at(trace.tokens, pos);
        text += word_markup(trace, shares, word);
        pos = word.end;
    }
    return element("p", (shown.first > 0 ? "... " : "") + text + (shown.end < n ? " ..." : ""),
                   "class=\"sentence\"");
}

}  // namespace onehead
