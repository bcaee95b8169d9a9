// What a page says, and nothing about how it looks. Whoever has something to tell builds a Document;
// text.hpp, markdown.hpp and html.hpp each show it in their way. So a story is told once.
//
//     Document page{"How row 4 reads"};
//     page.heading(say("How row {} reads", token(trace, 4)));
//     page.paragraph(say("It gives {} to {}.", weight(0.399), token(trace, 1)));
//     Table table;
//     table.columns = {{"head"}, {"weight", Align::right}};
//     table.rows.push_back({{"0.0"}, {weight(0.399)}});
//     page.add(table);
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onehead/pages/picture.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// ---------------------------------------------------------------------------------------------------------
// Inside a line: plain text, and the few things that look different. Text is never markup: a renderer escapes
// whatever it is given, and bytes that are no UTF-8 are shown as escapes.

struct Label {
    std::string position;  // "4", or nothing
    std::string quoted;    // "' the'": spaces count, and no line breaks inside it
};

struct Code {
    std::string text;
    std::string place{};  // what a script calls it
};

struct Strong {
    std::string text;
};

struct Link {
    std::string text;
    std::string address;  // a file beside the page, or "#place" on it
};

using Piece = std::variant<std::string, Label, Code, Strong, Link>;

class Inline {
public:
    Inline() = default;
    Inline(char const* text) : Inline(std::string{text}) {}
    Inline(std::string_view text) : Inline(std::string{text}) {}
    Inline(std::string text) { add(std::move(text)); }
    Inline(Label piece) { add(std::move(piece)); }
    Inline(Code piece) { add(std::move(piece)); }
    Inline(Strong piece) { add(std::move(piece)); }
    Inline(Link piece) { add(std::move(piece)); }
    Inline(std::size_t number) : Inline(std::to_string(number)) {}
    Inline(int number) : Inline(std::to_string(number)) {}
    Inline(double) = delete;  // how is it rounded? see "Numbers" below

    void add(Piece piece);
    Inline& operator+=(Inline const& more);

    bool empty() const { return pieces_.empty(); }
    std::vector<Piece> const& pieces() const { return pieces_; }

private:
    std::vector<Piece> pieces_;
};

Inline operator+(Inline a, Inline const& b);

// Without any markings, for titles and for cells of CSV files.
std::string plain(Inline const& line);
std::string plain(Piece const& piece);

// A sentence with its blanks filled in: say("Row {} reads {}.", token(trace, 4), token(trace, 1)). "{0}"
// names an argument, "{}" takes the next one; "{{" is a brace.
Inline fill_in(std::string_view pattern, std::initializer_list<Inline> arguments);

template <typename... Arguments>
Inline say(std::string_view pattern, Arguments const&... arguments) {
    return fill_in(pattern, {Inline{arguments}...});
}

Label token(Trace const& trace, std::size_t pos);    // 4 ' the'
Label token(Tokens const& tokens, std::size_t pos);  // the same, without a trace
Label token_label(std::string_view bytes);           // ' the'
Inline list(std::vector<Inline> const& items);       // "a, b and c"
Inline joined(std::vector<Inline> const& items, std::string_view between = ", ");

// ---------------------------------------------------------------------------------------------------------
// Numbers, rounded for people: one format for each quantity.

std::string fixed(double value, int decimals);          // and no minus before a number that is rounded to 0
std::string weight(double value);                       // .399; 0 and 1 only if they are exactly that
std::string score(double value);                        // 14.78, -inf, 3.12e+08; norms too
std::string component(double value);                    // of a vector: -0.049
std::string change(double value);                       // 3.2e-02, 0
std::string effective_rows(double value);               // 3.9
std::string number_of(Term const& term, double value);  // a cell of that step

// ---------------------------------------------------------------------------------------------------------
// Blocks

struct Heading {
    int level = 1;  // 1: the page; 2: a chapter; 3: a step
    Inline text;
    std::string place;  // what a link calls it
};

struct Paragraph {
    Inline text;
    bool quiet = false;  // an aside: a caption, where a file is
};

// Name and fact, line by line.
struct FactList {
    std::vector<std::pair<Inline, Inline>> facts;
};

enum class Align { left, right };

struct Column {
    Column(Inline text, Align alignment = Align::left) : heading(std::move(text)), align(alignment) {}
    Column(char const* text, Align alignment = Align::left) : heading(text), align(alignment) {}
    Inline heading;  // a Label with a position stands in two lines
    Align align = Align::left;
};

struct TableCell {
    TableCell() = default;
    TableCell(Inline content) : text(std::move(content)) {}
    TableCell(char const* content) : text(content) {}
    TableCell(std::string content) : text(std::move(content)) {}
    TableCell(Label content) : text(std::move(content)) {}
    TableCell(Code content) : text(std::move(content)) {}
    TableCell(Inline content, std::string_view shade_name, std::string exact_value = "")
        : text(std::move(content)), shade(shade_name), exact(std::move(exact_value)) {}
    Inline text;
    std::string shade;  // a class of the style sheet
    std::string exact;  // what a pointer that rests on it is told
};

// The first column names the rows. A table that is too wide for a page of text is cut into several, each with
// that column.
struct Table {
    Inline caption;
    std::vector<Column> columns;
    std::vector<std::vector<TableCell>> rows;  // may end early
    std::optional<std::size_t> marked;         // the row that the page follows
    Inline after;                              // what was left out: "... 12 more keys"
    bool is_grid = false;                      // its cells are squares, shaded
    std::optional<Scale> scale;                // the scale of the shades, printed below
};

// A formula, as mathematicians write it ("s_ij = Σ_d q_id k_jd": the letters after a _ are an index) and in
// words; either may be missing.
struct Formula {
    std::string symbols;
    std::string words;
};

struct CodeBlock {
    std::string text;
    std::string language;  // "cpp", "console"
};

// A line for a shell, and what is to be seen in what it prints.
struct Command {
    std::string line;
    Inline shows = {};
    std::string name = "Check";  // what stands before it
};

// The text itself, each word shaded by the weight that the row gives it.
struct Sentence {
    struct Word {
        std::string text;  // with the space before it
        double weight = 0;
        std::size_t first = 0, end = 0;  // its tokens: positions first to end - 1
        bool asks = false;               // the row that the page follows
        bool is_later = false;           // it comes too late for that row
        std::string exact;               // "1 ' cat': 0.39942256"
    };
    std::vector<Word> words;
    bool cut_before = false, cut_after = false;
    Inline below;  // how to read it
};

struct Block;
using Contents = std::vector<Block>;

struct Question {
    int number = 0;
    Inline text;
    Contents answer;
    std::size_t room = 0;  // lines left free for an answer, in a handout
    bool is_open = false;  // a browser shows the answer at once
};

struct Note {
    Inline text;
};

// Items of a list; an empty item is passed over.
struct Bullets {
    std::vector<Inline> items;
};

// A part of a page that a link can name.
struct Section {
    std::string place;
    Contents blocks;
};

// A part of the story of one row, by a name: a page's script puts the same part of another row's story in its
// place.
struct RowPart {
    std::string name;
    Contents blocks;
};

// For a script only: all parts of the story of a row that the page does not show.
struct OtherRow {
    std::size_t row = 0;
    Contents parts;
};

// Folded away on a page for a browser, under its title; elsewhere what it holds just follows.
struct Fold {
    Inline title;
    Contents blocks;
};

// Two things side by side, where there is room.
struct Pair {
    Contents left, right;
};

// For a browser only: a place that the page's script fills with something to play with, by its name; and the
// step that the page is about, if it is about one.
struct Panel {
    std::string_view name;
    std::string_view about = {};
};

// For a browser only: a script (without network, allowed by its hash alone), and the data that it reads as
// JSON in an element of that name, if it reads any.
struct Program {
    std::string_view script;
    std::string place = {};
    std::string json = {};
};

// A picture that is made where it is shown, in a browser only. What it is of has to be there until then.
struct Drawing {
    std::function<Picture()> picture;
};

struct Block {
    std::variant<Heading, Paragraph, FactList, Table, Formula, CodeBlock, Command, Sentence, Picture, Drawing,
                 Question, Note, Bullets, Section, RowPart, OtherRow, Fold, Pair, Panel, Program>
        content;
};

struct Document {
    explicit Document(std::string title_of_page = "") : title(std::move(title_of_page)) {}

    std::string title;
    Contents blocks;
    bool has_contents = false;  // a browser's page lists its places on top

    template <typename B>
    void add(B block) {
        blocks.push_back({std::move(block)});
    }
    void add_all(Contents more);
    void heading(Inline text, std::string place = "") { add(Heading{1, std::move(text), std::move(place)}); }
    void chapter(Inline text, std::string place = "") { add(Heading{2, std::move(text), std::move(place)}); }
    void part(Inline text, std::string place = "") { add(Heading{3, std::move(text), std::move(place)}); }
    void paragraph(Inline text) { add(Paragraph{std::move(text), false}); }
    void aside(Inline text) { add(Paragraph{std::move(text), true}); }
};

}  // namespace onehead
