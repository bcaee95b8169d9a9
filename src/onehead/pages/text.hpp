// trace.txt: one run of one head as a page to read, from one row's point of view.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/trace/trace.hpp"

namespace onehead {

// files: the names of all that is written beside the page; none for a page on a terminal.
std::string trace_text(Trace const& trace, std::vector<std::string> const& files);

// The run and its row of scores: what one wants to see at once.
std::string trace_summary(Trace const& trace);

// The run in five lines, which lessons show too: text, model, head, row, run.
std::string run_table(Trace const& trace);

// Sentences on a page of plain text: wrapped to a width, under underlined headings.

std::string heading(std::string_view title, char underline = '-');  // an empty line before it and after it
std::string paragraph(std::string_view text, std::string_view indent = "");  // lines of at most 100 columns

// A table in plain text: cells padded to the widest of their column, as a terminal shows them.

enum class Align { left, right };

// Spaces around a cell, up to a width of so many columns of a terminal; none if it is wider.
std::string padded(std::string const& cell, std::size_t width, Align align);

class Table {
public:
    // The alignment of each column; further columns are aligned as the last.
    explicit Table(std::vector<Align> alignment);

    void add(std::vector<std::string> cells);                  // rows may differ in length
    std::string text(std::string const& indent = "  ") const;  // a line a row, columns two spaces apart

    std::vector<std::vector<std::string>> const& rows() const { return rows_; }
    Align alignment(std::size_t column) const;

private:
    std::vector<Align> alignment_;
    std::vector<std::vector<std::string>> rows_;
};

// Numbers as people read them on a page: rounded, aligned, and never mistaken for exact ones.

// With that many decimals, and no minus before a number that is rounded to 0.
std::string fixed(double value, int decimals);

std::string short_score(double value);   // 14.78, -inf, 3.1e+05
std::string short_weight(double value);  // .399; 0 and 1 only if they are exactly that
std::string short_list(std::span<float const> values, std::size_t most);  // 0.12 -0.40 ... 58 more

// One row's view of a trace, as tables in plain text: what it is made of, how it scores every key, what it
// takes home. trace.txt and the lessons are built from them.

// Every token with its position and id; the row that the trace follows is marked.
std::string token_table(Trace const& trace);

// A line a step: its first numbers in this row, and the file that holds all of them. Steps that the trace
// lacks are passed over.
std::string vector_table(Trace const& trace, std::vector<Term> const& steps);

// Steps whose columns are keys, stacked over each other, a column a key: row `row` of each.
// A long text is cut to the keys that the row reads most.
std::string score_table(Trace const& trace, std::size_t row, std::vector<Term> const& steps);

// A number of such a step, rounded: a weight or a score.
std::string short_number(Term const& term, double value);

// The keys that score_table shows.
std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row);

// The blend as a weighted sum: a line a row that is read, weight times value, and the sum.
std::string blend_table(Trace const& trace);

// What is added to the residual row, line by line, and what comes out.
std::string addition_table(Trace const& trace);

// The attention pattern as a shaded grid for a terminal: the darker a cell, the larger the share. It fits the
// width of the terminal, with every share printed if there is room; of a long text the part around the row is
// shown.

enum class Shading { colour, blocks };  // blocks: a terminal without colour, or a reader who wants none

std::string shaded_grid(Trace const& trace, std::size_t width, Shading shading);

}  // namespace onehead
