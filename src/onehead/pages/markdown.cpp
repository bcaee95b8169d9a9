#include "onehead/pages/markdown.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include "onehead/pages/text.hpp"

namespace onehead {

namespace {

// Text that Markdown takes for nothing but text.
std::string as_text(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (std::string_view{"\\`*_[]<>|"}.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

// A span of code, in more backticks than it has in a row.
std::string span(std::string_view code) {
    std::string fence = "`";
    while (code.find(fence) != std::string_view::npos) fence += '`';
    bool const is_edgy = code.starts_with('`') || code.ends_with('`');
    return fmt::format("{0}{1}{2}{1}{0}", fence, is_edgy ? " " : "", code);
}

struct Words {
    std::string operator()(std::string const& text) const { return as_text(text); }
    std::string operator()(Label const& label) const {
        return label.position + (label.position.empty() ? "" : " ") + span(label.quoted);
    }
    std::string operator()(Code const& code) const { return span(code.text); }
    std::string operator()(Strong const& strong) const { return fmt::format("**{}**", as_text(strong.text)); }
    std::string operator()(Link const& link) const {
        return fmt::format("[{}]({})", as_text(link.text), link.address);
    }
};

std::string words(Inline const& line) {
    std::string out;
    for (Piece const& piece : line.pieces()) out += std::visit(Words{}, piece);
    return out;
}

// Lines of at most 100 columns, broken between words. A line that would begin as a list or a heading is kept
// from it.
std::string filled(std::string const& paragraph, std::string const& indent = "") {
    std::string page = wrapped(paragraph, indent);
    bool const is_marked =
        !page.empty() && std::string_view{"#+-"}.find(page[indent.size()]) != std::string_view::npos;
    if (is_marked) page.insert(indent.size(), "\\");
    return page;
}

std::string in_a_cell(Inline const& line) {
    std::string const text = words(line);
    std::string out;  // as_text has escaped the bars of plain text; those of code are still bare
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '|' && (i == 0 || text[i - 1] != '\\')) out += '\\';
        out += text[i];
    }
    return out;
}

std::string line_of_cells(std::vector<std::string> const& cells) {
    std::string line = "|";
    for (std::string const& cell : cells) line += cell.empty() ? " |" : fmt::format(" {} |", cell);
    return line + "\n";
}

std::string fenced(std::string_view language, std::string_view code) {
    std::string fence = "```";
    while (code.find(fence) != std::string_view::npos) fence += '`';
    return fmt::format("\n{}{}\n{}{}{}\n", fence, language, code, code.ends_with('\n') ? "" : "\n", fence);
}

std::string blocks(Contents const& contents);

struct Markdown {
    std::string operator()(Heading const& heading) const {
        return fmt::format("\n{} {}\n", std::string(static_cast<std::size_t>(heading.level), '#'),
                           words(heading.text));
    }
    std::string operator()(Paragraph const& paragraph) const { return "\n" + filled(words(paragraph.text)); }
    std::string operator()(FactList const& list) const {
        std::string page = "\n";
        for (auto const& [name, fact] : list.facts)
            page += fmt::format("- {}: {}\n", words(name), words(fact));
        return page;
    }
    std::string operator()(Table const& table) const {
        std::vector<std::string> heads;
        std::vector<std::string> rules;
        for (Column const& column : table.columns) {
            heads.push_back(in_a_cell(column.heading));
            rules.emplace_back(column.align == Align::right ? "---:" : "---");
        }
        std::string page = table.caption.empty() ? "\n" : "\n" + filled(words(table.caption)) + "\n";
        page += line_of_cells(heads) + line_of_cells(rules);
        for (auto const& row : table.rows) {
            std::vector<std::string> cells;
            for (TableCell const& cell : row) cells.push_back(in_a_cell(cell.text));
            cells.resize(std::max(cells.size(), table.columns.size()));
            page += line_of_cells(cells);
        }
        return page + (table.after.empty() ? "" : "\n" + filled(words(table.after)));
    }
    std::string operator()(Formula const& formula) const {
        return "\n    " + (formula.words.empty() ? formula.symbols : formula.words) + "\n";
    }
    std::string operator()(CodeBlock const& code) const { return fenced(code.language, code.text); }
    std::string operator()(Command const& command) const {
        return fmt::format("\n{}:\n", command.name) + fenced("sh", command.line) +
               (command.shows.empty() ? "" : "\n" + filled(words(command.shows)));
    }
    std::string operator()(Sentence const& /*sentence*/) const { return ""; }
    std::string operator()(Picture const& /*picture*/) const { return ""; }
    std::string operator()(Drawing const& /*drawing*/) const { return ""; }
    std::string operator()(Panel const& /*panel*/) const { return ""; }
    std::string operator()(Program const& /*program*/) const { return ""; }
    std::string operator()(Question const& question) const {
        return fmt::format("\n**Question {}.** {}", question.number, filled(words(question.text))) +
               blocks(question.answer);
    }
    std::string operator()(Note const& note) const {
        std::string page = filled(words(note.text), "> ");
        return "\n" + page;
    }
    std::string operator()(Bullets const& bullets) const {
        std::string page = "\n";
        for (Inline const& item : bullets.items)
            if (!item.empty()) page += "- " + words(item) + "\n";
        return page;
    }
    std::string operator()(Section const& section) const { return blocks(section.blocks); }
    std::string operator()(RowPart const& part) const { return blocks(part.blocks); }
    std::string operator()(OtherRow const& /*row*/) const { return ""; }
    std::string operator()(Fold const& fold) const { return blocks(fold.blocks); }
    std::string operator()(Pair const& pair) const { return blocks(pair.left) + blocks(pair.right); }
};

std::string blocks(Contents const& contents) {
    std::string page;
    for (Block const& block : contents) page += std::visit(Markdown{}, block.content);
    return page;
}

}  // namespace

std::string markdown(Document const& document) {
    std::string const page = blocks(document.blocks);
    return page.substr(std::min<std::size_t>(page.find_first_not_of('\n'), page.size()));
}

}  // namespace onehead
