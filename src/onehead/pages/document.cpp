#include "onehead/pages/document.hpp"

#include <fmt/format.h>
#include <cmath>
#include <iterator>

#include "onehead/io/text.hpp"

namespace onehead {

void Inline::add(Piece piece) {
    auto* const text = std::get_if<std::string>(&piece);
    if (text != nullptr && text->empty()) return;
    if (text != nullptr && find_invalid_utf8(*text) != std::string_view::npos) *text = printable(*text);
    if (text != nullptr && !pieces_.empty())
        if (auto* const last = std::get_if<std::string>(&pieces_.back())) {
            *last += *text;
            return;
        }
    pieces_.push_back(std::move(piece));
}

Inline& Inline::operator+=(Inline const& more) {
    for (Piece const& piece : more.pieces_) add(piece);
    return *this;
}

Inline operator+(Inline a, Inline const& b) {
    a += b;
    return a;
}

namespace {

struct Plain {
    std::string operator()(std::string const& text) const { return text; }
    std::string operator()(Label const& label) const {
        return label.position + (label.position.empty() ? "" : " ") + label.quoted;
    }
    std::string operator()(Code const& code) const { return code.text; }
    std::string operator()(Strong const& strong) const { return strong.text; }
    std::string operator()(Link const& link) const { return link.text; }
};

}  // namespace

std::string plain(Piece const& piece) {
    return std::visit(Plain{}, piece);
}

std::string plain(Inline const& line) {
    std::string text;
    for (Piece const& piece : line.pieces()) text += plain(piece);
    return text;
}

Inline fill_in(std::string_view pattern, std::initializer_list<Inline> arguments) {
    Inline line;
    std::size_t next = 0;
    for (std::size_t at = 0; at < pattern.size();) {
        std::size_t const brace = std::min(pattern.find_first_of("{}", at), pattern.size());
        line += pattern.substr(at, brace - at);
        if (brace == pattern.size()) break;
        if (brace + 1 < pattern.size() && pattern[brace + 1] == pattern[brace]) {  // {{ or }}
            line += pattern.substr(brace, 1);
            at = brace + 2;
            continue;
        }
        std::size_t const end = std::min(pattern.find('}', brace), pattern.size() - 1);
        std::size_t const which =
            end == brace + 1 ? next++ : static_cast<std::size_t>(pattern[brace + 1] - '0');
        if (which < arguments.size())
            line += *std::next(arguments.begin(), static_cast<std::ptrdiff_t>(which));
        at = end + 1;
    }
    return line;
}

Label token(Tokens const& tokens, std::size_t pos) {
    return {std::to_string(pos), label(tokens[pos].bytes)};
}

Label token(Trace const& trace, std::size_t pos) {
    return token(trace.tokens, pos);
}

Label token_label(std::string_view bytes) {
    return {"", label(bytes)};
}

Inline joined(std::vector<Inline> const& items, std::string_view between) {
    Inline line;
    for (Inline const& item : items) {
        if (!line.empty()) line += between;
        line += item;
    }
    return line;
}

Inline list(std::vector<Inline> const& items) {
    if (items.size() < 2) return joined(items);
    return joined({items.begin(), items.end() - 1}) + " and " + items.back();
}

std::string fixed(double value, int decimals) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (!std::isfinite(value)) return text;
    return text.find_first_of("123456789") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string weight(double value) {
    if (value == 0 || value == 1) return fmt::format("{}", value);
    std::string const text = fixed(value, 3);
    return text.starts_with("0.") ? text.substr(1) : text;
}

std::string score(double value) {
    if (std::isinf(value) || std::fabs(value) >= 1e7) return fmt::format("{:.3g}", value);
    return fixed(value, 2);
}

std::string component(double value) {
    return fixed(value, 3);
}

std::string change(double value) {
    return value == 0 ? "0" : fmt::format("{:.1e}", value);
}

std::string effective_rows(double value) {
    return fixed(value, 1);
}

std::string number_of(Term const& term, double value) {
    if (term == terms::softmax) return weight(value);
    return pairs_positions(term) ? score(value) : component(value);
}

void Document::add_all(Contents more) {
    std::move(more.begin(), more.end(), std::back_inserter(blocks));
}

}  // namespace onehead
