// Numbers as shades: the scales, which are the same on every page and terminal, and a matrix as a grid of
// shaded cells in SVG.
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

// A printed scale in nine steps. A page that shows a quantity twice shows it on one scale.
class Scale {
public:
    // Weights run from 0 to 1, always. The steps widen with the weight (the k-th begins at (k / 9)^2), so
    // that .02 can be told from .05 as .6 from .9.
    static Scale weights();

    // Other numbers run from -limit to limit, in steps -4 to 4. The limit is the value that 99 of 100 of them
    // stay within, so that a few large ones do not wash out the rest.
    static Scale around_zero(std::span<float const> values);

    // How much numbers changed: a step for each factor of ten, from less than 1e-6 to 1 and more; none for 0.
    static Scale changes();

    // The one of a step. Scores before and after the division and the mask share that of the raw scores, so
    // that the division shows.
    static Scale of(Trace const& trace, Term const& term);

    // The step of a value; values beyond the ends go to the last.
    int shade(double value) const;

    // Its name in the style sheet: p0 to p8 for weights and changes; n4 to n1, z, u1 to u4 for others.
    std::string name(double value) const { return name_of(shade(value)); }
    std::string name_of(int shade) const;

    int first() const { return is_signed() ? -4 : 0; }
    int last() const { return is_signed() ? 4 : 8; }
    double from(int shade) const;  // where a step begins

    bool is_signed() const { return kind_ == Kind::around_zero; }
    bool cuts() const { return cuts_; }  // whether values lie beyond the ends

private:
    enum class Kind { weights, around_zero, changes };

    Scale(Kind kind, double limit, bool cuts) : kind_(kind), limit_(limit), cuts_(cuts) {}

    Kind kind_;
    double limit_;
    bool cuts_;
};

// ---------------------------------------------------------------------------------------------------------
// The part of a long text that a page shows: positions first, first + 1, ..., end - 1.

struct Window {
    std::size_t first = 0, end = 0;

    std::size_t size() const { return end - first; }
    bool holds(std::size_t pos) const { return first <= pos && pos < end; }
};

// At most `most` positions of a text of n tokens, around a row, more of them before it than after.
Window window_around(std::size_t row, std::size_t n, std::size_t most);

// ---------------------------------------------------------------------------------------------------------
// A matrix, or the part of it that is shown, as a grid of shaded cells.

struct Picture {
    std::string title;  // what it answers; also read to those who do not see it
    std::string below;  // how to read it
    Matrix values;
    std::vector<std::string> row_labels, column_labels;
    std::size_t column_label_every = 1;
    Scale scale = Scale::weights();
    std::vector<bool> masked;                 // [row * columns + column]: hatched; empty if no cell is
    std::optional<std::size_t> framed_row;    // the row that the page follows
    bool is_square = true;                    // both axes are positions; else columns are numbers of a vector
    std::string (*number)(double) = nullptr;  // printed into cells where there is room
};

// A step [query_pos, key_pos]: rows = query (reads), columns = key (is read).
Picture score_picture(Trace const& trace, Step const& step);

// A step [pos, d]: rows = positions, columns = the numbers of each vector.
Picture vector_picture(Trace const& trace, Step const& step);

// The attention pattern.
Picture pattern_picture(Trace const& trace);

// Whether a cell is one that the row may not look at, and does not.
bool is_masked(Term const& term, std::size_t query, std::size_t key, double value);

// The grid in SVG, with its scale below it. Each cell of it tells its exact value when a pointer rests on it.
std::string svg(Picture const& picture);

// The same as a file, which brings its own colours along.
std::string svg_file(Picture const& picture);

// A scale as SVG, for a table of shaded cells.
std::string svg(Scale const& scale);

}  // namespace onehead
