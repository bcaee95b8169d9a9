#include "onehead/pages/text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <vector>

#include "onehead/io/text.hpp"
#include "onehead/pages/picture.hpp"

namespace onehead {

namespace {

constexpr std::size_t page_width = 100;
constexpr char glue = '\x01';  // a space that no line breaks at; never part of a text, where it is an escape

// ---------------------------------------------------------------------------------------------------------
// Lines

std::string glued(std::string piece) {
    std::replace(piece.begin(), piece.end(), ' ', glue);
    return piece;
}

// The space that begins a token's label (' cat') is no place to break, in a sentence from elsewhere too.
std::string with_glued_labels(std::string sentence) {
    for (std::size_t i = 1; i + 1 < sentence.size(); ++i)
        if (sentence[i] == ' ' && sentence[i - 1] == '\'' &&
            (i == 1 || sentence[i - 2] == ' ' || sentence[i - 2] == '`'))
            sentence[i] = glue;
    return sentence;
}

std::string breakable(Inline const& line) {
    std::string out;
    for (Piece const& piece : line.pieces()) {
        auto const* const sentence = std::get_if<std::string>(&piece);
        out += sentence != nullptr ? with_glued_labels(*sentence) : glued(plain(piece));
    }
    return out;
}

std::string unglued(std::string line) {
    std::replace(line.begin(), line.end(), glue, ' ');
    return line;
}

std::string without_trailing_space(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string wrapped(Inline const& line, std::string_view indent) {
    std::string const words = breakable(line);
    std::string page;
    std::string current{indent};
    for (std::size_t at = 0; at <= words.size();) {
        std::size_t const end = std::min(words.find(' ', at), words.size());
        std::string const word = words.substr(at, end - at);
        bool const is_first = current == indent;
        if (!is_first && display_width(unglued(current)) + 1 + display_width(unglued(word)) > page_width) {
            page += current + "\n";
            current = std::string{indent} + word;
        } else {
            current += (is_first ? "" : " ") + word;
        }
        at = end + 1;
    }
    return unglued(page + current) + "\n";
}

// ---------------------------------------------------------------------------------------------------------
// Tables

namespace {

std::string padded(std::string const& cell, std::size_t width, Align align) {
    std::string const space(width - std::min(width, display_width(cell)), ' ');
    return align == Align::left ? cell + space : space + cell;
}

// The cells of a table as text, its headings on top: a token's position and its label in two lines.
struct Lines {
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> widths;
};

Label const* token_in(Column const& column) {
    if (column.heading.pieces().size() != 1) return nullptr;
    auto const* const label = std::get_if<Label>(&column.heading.pieces().front());
    return label != nullptr && !label->position.empty() ? label : nullptr;
}

std::vector<std::vector<std::string>> headings(Table const& table) {
    std::vector<std::string> upper;
    std::vector<std::string> lower;
    bool in_two_lines = false;
    bool is_empty = true;
    for (Column const& column : table.columns) {
        Label const* const label = token_in(column);
        upper.push_back(label != nullptr ? label->position : plain(column.heading));
        lower.push_back(label != nullptr ? label->quoted : "");
        in_two_lines = in_two_lines || label != nullptr;
        is_empty = is_empty && column.heading.empty();
    }
    if (is_empty) return {};
    if (in_two_lines) return {upper, lower};
    return {upper};
}

Lines lines_of(Table const& table) {
    Lines lines{headings(table), {}};
    bool const marks = table.marked.has_value();
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        std::vector<std::string> cells;
        for (TableCell const& cell : table.rows[i]) cells.push_back(plain(cell.text));
        if (marks && !cells.empty()) cells.front() = (i == table.marked ? "> " : "  ") + cells.front();
        lines.cells.push_back(std::move(cells));
    }
    for (auto const& cells : lines.cells) {
        lines.widths.resize(std::max(lines.widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i)
            lines.widths[i] = std::max(lines.widths[i], display_width(cells[i]));
    }
    return lines;
}

Align alignment(Table const& table, std::size_t column) {
    return column < table.columns.size() ? table.columns[column].align : Align::left;
}

// The first column, and the columns first .. end - 1.
std::string part(Table const& table, Lines const& lines, std::size_t first, std::size_t end,
                 std::string const& indent) {
    std::string page;
    for (auto const& cells : lines.cells) {
        std::string line =
            indent + (cells.empty() ? "" : padded(cells[0], lines.widths[0], alignment(table, 0)));
        for (std::size_t i = first; i < std::min(end, cells.size()); ++i)
            line += "  " + padded(cells[i], lines.widths[i], alignment(table, i));
        page += without_trailing_space(line) + "\n";
    }
    return page;
}

}  // namespace

std::string text(Table const& table, std::string const& indent) {
    Lines const lines = lines_of(table);
    std::string page;
    if (!table.caption.empty()) page += wrapped(table.caption, indent) + "\n";
    if (lines.widths.empty()) return page;
    std::size_t first = 1;
    do {
        std::size_t width = indent.size() + lines.widths[0];
        std::size_t end = first;
        while (end < lines.widths.size() && (end == first || width + 2 + lines.widths[end] <= page_width))
            width += 2 + lines.widths[end++];
        page += (first == 1 ? "" : "\n") + part(table, lines, first, end, indent);
        first = end;
    } while (first < lines.widths.size());
    if (!table.after.empty()) page += "\n" + wrapped(table.after, indent);
    return page;
}

// ---------------------------------------------------------------------------------------------------------
// Blocks. Each begins with an empty line, which separates it from what was before.

namespace {

std::string blocks(Contents const& contents, std::string const& indent);

struct Text {
    std::string indent;

    std::string operator()(Heading const& heading) const {
        std::string const title = plain(heading.text);
        if (heading.level > 2) return "\n" + indent + title + "\n";
        return fmt::format("\n{}\n{}\n", title,
                           std::string(display_width(title), heading.level == 1 ? '=' : '-'));
    }
    std::string operator()(Paragraph const& paragraph) const {
        return "\n" + wrapped(paragraph.text, indent);
    }
    std::string operator()(FactList const& list) const {
        Table table;
        table.columns = {{""}, {""}};
        for (auto const& [name, fact] : list.facts) table.rows.push_back({name, fact});
        return "\n" + text(table, indent + "  ");
    }
    std::string operator()(Table const& table) const { return "\n" + text(table, indent + "  "); }
    std::string operator()(Formula const& formula) const {
        return wrapped("= " + (formula.words.empty() ? formula.symbols : formula.words), indent + "    ");
    }
    std::string operator()(CodeBlock const& code) const {
        std::string page = "\n";
        for (std::size_t at = 0; at < code.text.size();) {
            std::size_t const end = std::min(code.text.find('\n', at), code.text.size());
            page += indent + "    " + code.text.substr(at, end - at) + "\n";
            at = end + 1;
        }
        return page;
    }
    std::string operator()(Command const& command) const {
        return fmt::format("\n{}{}: {}\n{}", indent, command.name, command.line,
                           command.shows.empty() ? "" : wrapped(command.shows, indent + "       "));
    }
    std::string operator()(Sentence const& /*sentence*/) const { return ""; }
    std::string operator()(Picture const& /*picture*/) const { return ""; }
    std::string operator()(Drawing const& /*drawing*/) const { return ""; }
    std::string operator()(Panel const& /*panel*/) const { return ""; }
    std::string operator()(Program const& /*program*/) const { return ""; }
    std::string operator()(Question const& question) const {
        std::string page =
            "\n" + wrapped(say("Question {}. {}", question.number, question.text), indent + "  ");
        for (std::size_t line = 0; line < question.room; ++line)
            page += fmt::format("\n{}    {:_<{}}\n", indent, "", page_width - indent.size() - 4);
        return page + blocks(question.answer, indent + "    ");
    }
    std::string operator()(Note const& note) const { return "\n" + wrapped(note.text, indent + "  "); }
    std::string operator()(Bullets const& bullets) const {
        std::string page = "\n";
        for (Inline const& item : bullets.items)
            if (!item.empty()) page += wrapped("- " + item, indent + "  ");
        return page;
    }
    std::string operator()(Section const& section) const { return blocks(section.blocks, indent); }
    std::string operator()(RowPart const& part) const { return blocks(part.blocks, indent); }
    std::string operator()(OtherRow const& /*row*/) const { return ""; }
    std::string operator()(Fold const& fold) const { return blocks(fold.blocks, indent); }
    std::string operator()(Pair const& pair) const {
        return blocks(pair.left, indent) + blocks(pair.right, indent);
    }
};

std::string blocks(Contents const& contents, std::string const& indent) {
    std::string page;
    for (Block const& block : contents) page += std::visit(Text{indent}, block.content);
    return page;
}

}  // namespace

std::string text(Document const& document) {
    std::string const page = blocks(document.blocks, "");
    return page.substr(std::min<std::size_t>(page.find_first_not_of('\n'), page.size()));
}

// ---------------------------------------------------------------------------------------------------------
// The pattern on a terminal

namespace {

constexpr std::size_t with_number = 6;  // columns a cell takes
constexpr std::size_t narrow = 2;

// Of the 256 colours that terminals share, from black by way of blue to nearly white. Every cell is painted,
// so brighter is more on a light ground as on a dark one, and small weights do not glare.
constexpr std::array<int, 9> blues{16, 17, 18, 19, 25, 32, 39, 117, 195};
constexpr int first_bright = 5;  // from here on numbers are black, before it white
constexpr std::array<std::string_view, 9> densities{" ", "░", "░", "▒", "▒", "▓", "▓", "█", "█"};

struct Layout {
    Window shown;
    std::size_t label_width = 0, cell_width = 0;
};

std::string to_the_right(std::string const& cell, std::size_t width) {
    return padded(cell, width, Align::right);
}

Layout lay_out(Trace const& trace, std::size_t width) {
    std::size_t const n = trace.tokens.size();
    Layout layout;
    for (std::size_t pos = 0; pos < n; ++pos)
        layout.label_width = std::max(layout.label_width, display_width(token_at(trace, pos)) + 2);
    std::size_t const room = std::max(width, layout.label_width + 2 * narrow) - layout.label_width;
    layout.cell_width = n * with_number <= room ? with_number : narrow;
    layout.shown = window_around(trace.facts.row, n, std::min<std::size_t>(room / layout.cell_width, 48));
    return layout;
}

std::string in_colour(std::string const& text, int shade) {
    return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", blues.at(static_cast<std::size_t>(shade)),
                       shade < first_bright ? 231 : 16, text);
}

std::string in_blocks(std::string const& number, int shade, std::size_t width) {
    std::string block;
    for (std::size_t i = 0; i < narrow; ++i) block += densities.at(static_cast<std::size_t>(shade));
    return width == narrow ? block : to_the_right(number, width - narrow) + block;
}

std::string cell(double value, bool is_later, Layout const& layout, Shading shading) {
    if (is_later && value == 0) return to_the_right(".", layout.cell_width);
    std::string const number = layout.cell_width == narrow ? "" : weight(value);
    int const shade = Scale::weights().shade(value);
    return shading == Shading::colour ? in_colour(to_the_right(number, layout.cell_width), shade)
                                      : in_blocks(number, shade, layout.cell_width);
}

// Positions; over narrow cells every fifth, where it begins.
std::string heads(Layout const& layout) {
    std::string line(layout.label_width, ' ');
    for (std::size_t key = layout.shown.first; key < layout.shown.end; ++key) {
        if (layout.cell_width == narrow && key % 5 != 0) continue;
        std::size_t const place = layout.label_width + (key - layout.shown.first) * layout.cell_width;
        line.resize(std::max(line.size(), place), ' ');
        std::string const number = std::to_string(key);
        line += layout.cell_width == narrow ? number : to_the_right(number, layout.cell_width);
    }
    return line + "\n";
}

}  // namespace

std::string shaded_grid(Trace const& trace, std::size_t width, Shading shading) {
    Layout const layout = lay_out(trace, width);
    Matrix const& pattern = trace[terms::softmax];
    std::string grid =
        fmt::format(
            "The pattern: rows read, columns are read; the {}, the larger the weight, from 0 to 1.\n\n",
            shading == Shading::colour ? "brighter the cell" : "denser the block") +
        heads(layout);
    for (std::size_t i = layout.shown.first; i < layout.shown.end; ++i) {
        std::string const mark = i == trace.facts.row ? ">" : " ";
        grid += mark + to_the_right(token_at(trace, i), layout.label_width - 2) + " ";
        for (std::size_t j = layout.shown.first; j < layout.shown.end; ++j)
            grid += cell(pattern(i, j), j > i, layout, shading);
        grid += "\n";
    }
    if (layout.shown.size() < trace.tokens.size())
        grid += fmt::format("... rows and keys {} to {}, of {}\n", layout.shown.first, layout.shown.end - 1,
                            trace.tokens.size());
    return grid;
}

}  // namespace onehead
