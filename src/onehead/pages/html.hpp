// trace.html: the story of one row with its pictures, on one page that needs no network and no script.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/pages/picture.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// files: the names of all that is written beside the page, to which it links.
std::string trace_html(Trace const& trace, std::vector<std::string> const& files);

// Pieces of a page about a trace, in HTML, from which whole pages are made.

// Text, model, head, row, run; a list of terms.
std::string facts_markup(Trace const& trace);

// The attention pattern: a table with every share, or a picture if it would be too large.
std::string pattern_markup(Trace const& trace, Scale const& shares);

// Two runs side by side, on one scale, so that a shade means the same share in both.
struct Side {
    std::string head;  // what stands above it, as markup
    Trace const& trace;
};
std::string pair_markup(Side const& a, Side const& b);

// The scores of the row on their way to shares: a line for each of the steps, a column a key.
std::string row_markup(Trace const& trace, std::vector<Term> const& steps);

// The grammar of HTML and SVG, as far as pages need it: text that cannot be mistaken for markup, elements,
// and a page around them that loads nothing and runs nothing.

// Text for the inside of an element or of an attribute in double quotes.
std::string escaped(std::string_view text);

// A token's label, kept from turning the text around it when it is written from right to left.
std::string label_markup(std::string_view bytes);

std::string element(std::string_view name, std::string_view inside, std::string_view attributes = "");

// A table or picture that scrolls by itself where it is wider than the page, and has a name for those who do
// not see it.
std::string figure(std::string_view inside, std::string_view name);

// A whole document. Its style sheet is inside it; a policy forbids everything else.
std::string html_page(std::string_view title, std::string_view body);

// A table of plain text in HTML: the same cells, read out by a screen reader with the heads of their row and
// column.

// The first rows are heads of columns, the first column heads of rows. `shade` gives the class of a cell.
std::string table_markup(Table const& table, std::size_t head_rows, std::string_view caption,
                         std::string_view (*shade)(std::string_view cell) = nullptr);

// The text itself, as one reads it, each word shaded by the share that the row gives it.

std::string sentence_markup(Trace const& trace, Scale const& shares);

// style.css and explore.js, which the build puts into the program; and the part of the first that a picture needs.

std::string_view style_css();
std::string_view explore_js();
std::string_view shades_style();

}  // namespace onehead
