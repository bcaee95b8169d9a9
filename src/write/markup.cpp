#include "write/markup.hpp"

#include <fmt/format.h>

#include "trace/token.hpp"
#include "write/style_sheet.hpp"

namespace onehead {

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string label_markup(std::string_view bytes) {
    return fmt::format(R"(<bdi class="label" dir="ltr">{}</bdi>)", escaped(label(bytes)));
}

std::string element(std::string_view name, std::string_view inside, std::string_view attributes) {
    return fmt::format("<{0}{1}{2}>{3}</{0}>\n", name, attributes.empty() ? "" : " ", attributes, inside);
}

std::string figure(std::string_view inside, std::string_view name) {
    return element("figure", inside,
                   fmt::format(R"(tabindex="0" role="region" aria-label="{}")", escaped(name)));
}

std::string html_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"onehead " ONEHEAD_VERSION
        "\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        escaped(title), shades_style(), page_style(), body);
}

}  // namespace onehead
