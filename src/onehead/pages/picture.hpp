// A number as a shade: which of a few steps between the ends of a printed scale it falls into. Pages colour
// cells by it, in HTML and on a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/math/tensor.hpp"
#include "onehead/trace/terms.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

class Scale {
public:
    // Shares [query_pos, key_pos] run from 0 in steps 0 to 8, up to about what a typical row gives to its
    // favourite: .05, .1, .2, .5 or 1.
    static Scale shares(Matrix const& pattern);

    // The one that reaches farther, for two pictures that stand side by side.
    static Scale wider(Scale const& a, Scale const& b) { return a.high_ < b.high_ ? b : a; }

    // Other numbers run from -limit to limit, in steps -4 to 4. The limit is the value that 99 of 100 of them
    // stay within, so that a few large ones do not wash out the rest.
    static Scale around_zero(std::span<float const> values);

    // What suits a step's values.
    static Scale of(Term const& term, Matrix const& values);

    // The step of a value; values beyond the ends go to the last.
    int shade(double value) const;

    // Its name in the style sheet: p0 to p8 for shares; n4 to n1, z, u1 to u4 for others.
    std::string name(double value) const { return name_of(shade(value)); }
    std::string name_of(int shade) const;

    int first() const { return is_signed() ? -4 : 0; }
    int last() const { return is_signed() ? 4 : 8; }
    double from(int shade) const;  // where a step begins

    bool is_signed() const { return low_ < 0; }
    bool cuts() const { return cuts_; }  // whether values lie beyond the ends

private:
    Scale(double low, double high, double largest) : low_(low), high_(high), cuts_(largest > high) {}

    double low_, high_;
    bool cuts_;
};

// The part of a long text that a page shows.

// Positions first, first + 1, ..., end - 1.
struct Window {
    std::size_t first = 0, end = 0;

    std::size_t size() const { return end - first; }
    bool holds(std::size_t pos) const { return first <= pos && pos < end; }
};

// At most `most` positions of a text of n tokens, around a row, more of them before it than after.
Window window_around(std::size_t row, std::size_t n, std::size_t most);

// A grid of shaded cells as SVG: cells are drawn as short strokes in the units of the grid, labels stand at
// its sides, and the scale of its shades below it.

struct Grid {
    std::size_t rows = 0, columns = 0;
    double cell_width = 0, cell_height = 0;  // in pixels
    std::vector<std::string> row_labels, column_labels;
    std::size_t column_label_every = 1;
    std::optional<std::size_t> framed_row;  // the row that is followed
};

// One cell that tells its title when a pointer rests on it.
std::string titled_cell(std::string_view shade, std::size_t row, std::size_t column, std::string_view title);

// A row of cells, by their classes, with one title for all of them. Short: neighbours become one stroke.
std::string cells_by_class(std::vector<std::string> const& classes, std::size_t row, std::string_view title);

std::string number_in_cell(Grid const& grid, std::string_view shade, std::size_t row, std::size_t column,
                           std::string_view number);

// cells: strokes in the units of the grid; numbers: texts in pixels from its corner.
std::string picture(Grid const& grid, std::string_view cells, std::string_view numbers, Scale const& scale,
                    std::string_view describes);

// A picture that brings its own colours along.
std::string as_file(std::string svg);

// A matrix [query_pos, key_pos] as a picture (SVG): rows = query (reads), columns = key (is read), shaded
// cells, with numbers where there is room, and the printed scale below. Each cell tells its exact value when
// a pointer rests on it.

inline constexpr std::size_t most_in_a_score_map = 100;  // positions

std::string score_map(Trace const& trace, Step const& step, Window const& shown, Scale const& scale);

// The picture of the pattern as a file of its own.
std::string pattern_svg(Trace const& trace);

// The class of the style sheet that colours a cell: m where a row may not look, else its shade.
std::string cell_class(Step const& step, Scale const& scale, std::size_t query, std::size_t key);

// A number in few characters, as it stands in a cell.
std::string cell_text(Term const& term, double value);

// A matrix [pos, d] as a picture (SVG): rows = positions, columns = the numbers of each vector. The row that
// the trace follows tells each of its values when a pointer rests on it; other rows tell how far theirs
// reach.

inline constexpr std::size_t most_in_a_vector_map = 20;  // positions

std::string vector_map(Trace const& trace, Step const& step, Window const& shown);

}  // namespace onehead
