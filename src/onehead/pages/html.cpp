#include "onehead/pages/html.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/picture.hpp"

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

std::string_view explore_js();
std::string_view panels_js();

std::string_view page_script() {
    static std::string const script = std::string{explore_js()} + std::string{panels_js()};
    return script;
}

std::string_view shades_style() {
    return style_css().substr(0, style_css().find("/* Pages */"));
}

namespace {

// What is markup already. Only this file makes any, and a string is never taken for it.
struct Markup {
    std::string code;

    Markup& operator+=(Markup const& more) {
        code += more.code;
        return *this;
    }
};

Markup operator+(Markup a, Markup const& b) {
    return a += b;
}

Markup as_markup(std::string_view text) {
    return {escaped(text)};
}

struct Attribute {
    std::string_view name;
    std::string value;  // none of an empty value is written
};

Markup opened(std::string_view name, std::vector<Attribute> const& attributes) {
    std::string tag = fmt::format("<{}", name);
    for (auto const& [attribute, value] : attributes)
        if (!value.empty()) tag += fmt::format(" {}=\"{}\"", attribute, escaped(value));
    return {tag + ">"};
}

Markup inline_element(std::string_view name, Markup const& inside,
                      std::vector<Attribute> const& attributes = {}) {
    return {opened(name, attributes).code + inside.code + fmt::format("</{}>", name)};
}

Markup element(std::string_view name, Markup const& inside, std::vector<Attribute> const& attributes = {}) {
    return {inline_element(name, inside, attributes).code + "\n"};
}

// ---------------------------------------------------------------------------------------------------------
// Lines

// Quotes and spaces are part of a label, which does not turn the text around it if it is written from right
// to left. A token's is not broken over lines; a text's may be.
Markup label_markup(std::string const& quoted) {
    constexpr std::size_t longest_in_one_line = 24;
    std::string const classes = display_width(quoted) > longest_in_one_line ? "label long" : "label";
    return inline_element("bdi", as_markup(quoted), {{"class", classes}, {"dir", "ltr"}});
}

// Text, in which a line does not break between "-" and "inf".
Markup text_markup(std::string_view text) {
    constexpr std::string_view infinity = "-inf";
    Markup out;
    for (std::size_t at = 0; (at = text.find(infinity)) != std::string_view::npos;) {
        out +=
            as_markup(text.substr(0, at)) + inline_element("span", as_markup(infinity), {{"class", "token"}});
        text.remove_prefix(at + infinity.size());
    }
    return out + as_markup(text);
}

struct Words {
    Markup operator()(std::string const& text) const { return text_markup(text); }
    Markup operator()(Label const& label) const {
        if (label.position.empty()) return label_markup(label.quoted);
        return inline_element("span", as_markup(label.position + " ") + label_markup(label.quoted),
                              {{"class", "token"}});
    }
    Markup operator()(Code const& code) const {
        return inline_element("code", as_markup(code.text), {{"id", code.place}});
    }
    Markup operator()(Strong const& strong) const { return inline_element("strong", as_markup(strong.text)); }
    Markup operator()(Link const& link) const {
        return inline_element("a", as_markup(link.text), {{"href", link.address}});
    }
};

Markup words(Inline const& line) {
    Markup out;
    for (Piece const& piece : line.pieces()) out += std::visit(Words{}, piece);
    return out;
}

// "s_ij" with its index lowered, as formulas are written.
Markup symbols(std::string_view formula) {
    Markup out;
    while (!formula.empty()) {
        std::size_t const mark = std::min(formula.find('_'), formula.size());
        out += as_markup(formula.substr(0, mark));
        if (mark == formula.size()) break;
        std::size_t end = mark + 1;
        while (end < formula.size() && std::isalnum(static_cast<unsigned char>(formula[end])) != 0) ++end;
        out += inline_element("sub", as_markup(formula.substr(mark + 1, end - mark - 1)));
        formula.remove_prefix(end);
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------------
// Tables

// Cells are text as often as not: then it does not turn, and is not squeezed.
Markup data_cell(TableCell const& cell, Align align, bool is_grid) {
    std::string const shade = cell.shade;
    std::string const classes = align == Align::left && !is_grid ? "text " + shade : shade;
    return inline_element("td", words(cell.text), {{"class", classes}, {"title", cell.exact}});
}

// A token heads a column in two lines, its position over its label.
Markup column_head(Column const& column) {
    Markup inside = words(column.heading);
    if (column.heading.pieces().size() == 1)
        if (auto const* const label = std::get_if<Label>(&column.heading.pieces().front());
            label != nullptr && !label->position.empty())
            inside = as_markup(label->position) + Markup{"<br>"} + label_markup(label->quoted);
    return inline_element("th", inside,
                          {{"scope", "col"}, {"class", column.align == Align::left ? "text" : ""}});
}

Markup table_row(Table const& table, std::size_t number) {
    auto const& row = table.rows[number];
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
        Align const align = i < table.columns.size() ? table.columns[i].align : Align::left;
        cells += i == 0 ? inline_element("th", words(row[i].text),
                                         {{"scope", "row"}, {"class", align == Align::left ? "text" : ""}})
                        : data_cell(row[i], align, table.is_grid);
    }
    return element("tr", cells, {{"class", table.marked == number ? "asks" : ""}});
}

// Tables and pictures scroll by themselves where they are wider than the page, and have a name for those who
// do not see them.
Markup figure(Markup const& inside, std::string const& name) {
    return element("figure", inside, {{"tabindex", "0"}, {"role", "region"}, {"aria-label", name}});
}

Markup table_markup(Table const& table) {
    Markup lines;
    if (!table.caption.empty()) lines += element("caption", words(table.caption));
    Markup heads;
    for (Column const& column : table.columns) heads += column_head(column);
    bool const has_heads = std::any_of(table.columns.begin(), table.columns.end(),
                                       [](Column const& column) { return !column.heading.empty(); });
    if (has_heads) lines += element("tr", heads);
    for (std::size_t number = 0; number < table.rows.size(); ++number) lines += table_row(table, number);
    Markup inside = element("table", lines, {{"class", table.is_grid ? "grid" : "lines"}});
    if (table.scale) inside += {svg(*table.scale)};
    if (!table.after.empty()) inside += element("p", words(table.after), {{"class", "quiet"}});
    return figure(inside, table.caption.empty() ? "A table" : plain(table.caption));
}

// ---------------------------------------------------------------------------------------------------------
// Blocks

Markup blocks(Contents const& contents);

// The space before a word stays outside of its box, where lines may break.
Markup sentence_word(Sentence::Word const& word) {
    bool const is_spaced = word.text.size() > 1 && word.text[0] == ' ';
    std::string classes = word.is_later ? "later" : Scale::weights().name(word.weight);
    if (word.asks) classes += " asks";
    return Markup{is_spaced ? " " : ""} + inline_element("span",
                                                         as_markup(word.text.substr(is_spaced ? 1 : 0)),
                                                         {{"class", classes},
                                                          {"title", word.exact},
                                                          {"data-first", std::to_string(word.first)},
                                                          {"data-end", std::to_string(word.end)}});
}

// JSON inside an element of a page: what would end the element is written as an escape of JSON.
Markup data_markup(std::string const& json) {
    std::string out;
    for (char const c : json) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return {out};
}

struct Html {
    Markup operator()(Heading const& heading) const {
        return element(fmt::format("h{}", heading.level), words(heading.text), {{"id", heading.place}});
    }
    Markup operator()(Paragraph const& paragraph) const {
        return element("p", words(paragraph.text), {{"class", paragraph.quiet ? "quiet" : ""}});
    }
    Markup operator()(FactList const& list) const {
        Markup lines;
        for (auto const& [name, fact] : list.facts)
            lines += inline_element("dt", words(name)) + element("dd", words(fact));
        return element("dl", lines, {{"class", "facts"}});
    }
    Markup operator()(Table const& table) const { return table_markup(table); }
    Markup operator()(Formula const& formula) const {
        Markup inside = symbols(formula.symbols);
        if (!formula.symbols.empty() && !formula.words.empty()) inside += {"<br>"};
        return element("p", inside + as_markup(formula.words), {{"class", "formula"}});
    }
    Markup operator()(CodeBlock const& code) const {
        return element("pre", inline_element("code", as_markup(code.text)),
                       {{"class", code.language.empty() ? "drawing" : ""}});
    }
    Markup operator()(Command const& command) const {
        return element("div",
                       element("p", as_markup(command.name + ":"), {{"class", "quiet"}}) +
                           element("pre", inline_element("code", as_markup(command.line))) +
                           (command.shows.empty() ? Markup{} : element("p", words(command.shows))),
                       {{"class", "command"}});
    }
    Markup operator()(Sentence const& sentence) const {
        Markup inside = as_markup(sentence.cut_before ? "... " : "");
        for (Sentence::Word const& word : sentence.words) inside += sentence_word(word);
        return element("p", inside + as_markup(sentence.cut_after ? " ..." : ""), {{"class", "sentence"}}) +
               element("p", words(sentence.below), {{"class", "quiet"}});
    }
    Markup operator()(Picture const& picture) const {
        return figure(element("figcaption", as_markup(picture.title)) + Markup{svg(picture)}, picture.title) +
               (picture.below.empty() ? Markup{}
                                      : element("p", as_markup(picture.below), {{"class", "quiet"}}));
    }
    Markup operator()(Question const& question) const {
        Markup inside =
            element("p", inline_element("strong", as_markup(fmt::format("Question {}. ", question.number))) +
                             words(question.text));
        for (std::size_t line = 0; line < question.room; ++line)
            inside += element("div", {}, {{"class", "room"}});
        if (!question.answer.empty())
            inside += element("details", element("summary", as_markup("Answer")) + blocks(question.answer),
                              {{"class", "answer"}, {"open", question.is_open ? "open" : ""}});
        return element("section", inside, {{"class", "question"}});
    }
    Markup operator()(Note const& note) const { return element("p", words(note.text), {{"class", "note"}}); }
    Markup operator()(Bullets const& bullets) const {
        Markup items;
        for (Inline const& item : bullets.items)
            if (!item.empty()) items += element("li", words(item));
        return element("ul", items);
    }
    Markup operator()(Drawing const& drawing) const { return (*this)(drawing.picture()); }
    Markup operator()(Section const& section) const {
        return element("section", blocks(section.blocks), {{"id", section.place}});
    }
    Markup operator()(RowPart const& part) const {
        return element("div", blocks(part.blocks), {{"data-part", part.name}});
    }
    Markup operator()(OtherRow const& other) const {
        return element("template", blocks(other.parts), {{"data-row", std::to_string(other.row)}});
    }
    Markup operator()(Fold const& fold) const {
        return element("details", element("summary", words(fold.title)) + blocks(fold.blocks));
    }
    Markup operator()(Pair const& pair) const {
        return element("div", element("section", blocks(pair.left)) + element("section", blocks(pair.right)),
                       {{"class", "pair"}});
    }
    Markup operator()(Panel const& panel) const {
        return element("div", {},
                       {{"data-panel", std::string{panel.name}}, {"data-about", std::string{panel.about}}});
    }
    Markup operator()(Program const& program) const {
        Markup const data = program.json.empty()
                                ? Markup{}
                                : element("script", data_markup(program.json),
                                          {{"type", "application/json"}, {"id", program.place}});
        return data + Markup{fmt::format("<script>{}</script>\n", program.script)};
    }
};

Markup blocks(Contents const& contents) {
    Markup page;
    for (Block const& block : contents) page += std::visit(Html{}, block.content);
    return page;
}

// ---------------------------------------------------------------------------------------------------------
// The page around them

void collect_places(Contents const& contents, std::vector<std::string>& places) {
    for (Block const& block : contents)
        if (auto const* const section = std::get_if<Section>(&block.content)) {
            if (!section->place.empty()) places.push_back(section->place);
            collect_places(section->blocks, places);
        }
}

// A list of links to the sections; it belongs below the heading and what introduces the page.
Markup table_of_contents(Document const& document) {
    std::vector<std::string> places;
    collect_places(document.blocks, places);
    Markup items;
    for (std::string const& place : places)
        items += element("li", inline_element("a", as_markup(place), {{"href", "#" + place}}));
    return element("nav", element("ul", items), {{"aria-label", "Steps"}});
}

// The sha256 of a script as a policy writes it: in base64.
std::string hash_of(std::string_view script) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Sha256 sha256;
    sha256.add(std::as_bytes(std::span{script}));
    std::string const hex = sha256.hex();
    std::string out;
    for (std::size_t at = 0; at < hex.size(); at += 6) {  // six hexadecimal digits are four of base64
        std::string group = hex.substr(at, 6);
        std::size_t const missing = 6 - group.size();
        group.append(missing, '0');
        unsigned long const bits = std::stoul(group, nullptr, 16);
        for (unsigned digit = 0; digit < 4; ++digit)
            out += digit < 4 - missing / 2 ? digits[(bits >> (18 - 6 * digit)) & 63U] : '=';
    }
    return out;
}

std::string script_policy(Contents const& contents) {
    for (Block const& block : contents)
        if (auto const* const program = std::get_if<Program>(&block.content))
            return fmt::format("; script-src 'sha256-{}'", hash_of(program->script));
    return "";
}

}  // namespace

std::string html(Document const& document) {
    Markup body;
    bool has_nav = !document.has_contents;
    for (Block const& block : document.blocks) {
        auto const* const heading = std::get_if<Heading>(&block.content);
        if (!has_nav && heading != nullptr && heading->level == 2) {  // below what introduces the page
            body += table_of_contents(document);
            has_nav = true;
        }
        body += std::visit(Html{}, block.content);
    }
    body += element("footer",
                    element("p", as_markup("Made by onehead " ONEHEAD_VERSION "."), {{"class", "quiet"}}));
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"onehead " ONEHEAD_VERSION
        "\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; img-src data:{}\">\n<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        script_policy(document.blocks), escaped(document.title), style_css(), body.code);
}

}  // namespace onehead
