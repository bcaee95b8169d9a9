#include "write/prose.hpp"

#include <fmt/format.h>
#include <vector>

#include "trace/token.hpp"

namespace onehead {
namespace {

// The text in pieces that may not be broken, each but the first with the space before it. The space that
// begins a token's label (' cat') is no place to break.
std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> pieces{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const opens_label =
            text[i] == ' ' && i > 0 && text[i - 1] == '\'' && (i == 1 || text[i - 2] == ' ');
        if (text[i] == ' ' && !opens_label) pieces.emplace_back();
        pieces.back() += text[i];
    }
    return pieces;
}

}  // namespace

std::string heading(std::string_view title, char underline) {
    return fmt::format("\n{}\n{}\n\n", title, std::string(display_width(title), underline));
}

std::string paragraph(std::string_view text, std::string_view indent) {
    constexpr std::size_t width = 100;
    std::string page;
    std::string line{indent};
    for (std::string const& word : words(text)) {
        if (display_width(line) + display_width(word) > width && line != indent) {
            page += line + "\n";
            line = std::string{indent} + word.substr(1);
        } else {
            line += word;
        }
    }
    return page + line + "\n";
}

}  // namespace onehead
