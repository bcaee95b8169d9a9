#include "write/vector_map.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "write/markup.hpp"
#include "write/picture.hpp"

namespace onehead {
namespace {

std::string row_name(Trace const& trace, Step const& step, std::size_t pos) {
    return step.term.rows == "1" ? "every row" : token_at(trace, pos);
}

Grid vector_grid(Trace const& trace, Step const& step, Window const& shown) {
    Grid grid;
    grid.rows = shown.size();
    grid.columns = column_count(step.values);
    grid.cell_width = std::min(9.0, 880.0 / static_cast<double>(grid.columns));
    grid.cell_height = 16;
    grid.column_label_every = std::max<std::size_t>(1, grid.columns / 8);
    for (std::size_t pos = shown.first; pos < shown.end; ++pos)
        grid.row_labels.push_back(row_name(trace, step, pos));
    for (std::size_t d = 0; d < grid.columns; ++d) grid.column_labels.push_back(fmt::format("d{}", d));
    if (grid.rows > 1 && shown.holds(trace.facts.row)) grid.framed_row = trace.facts.row - shown.first;
    return grid;
}

// The row that the page follows tells each of its values; other rows tell how far theirs reach.
std::string vector_row(Trace const& trace, Step const& step, std::size_t pos, std::size_t line,
                       Scale const& scale) {
    auto const values = row(step.values, pos);
    std::vector<std::string> classes;
    for (float const value : values) classes.push_back(scale.name(value));
    if (row_count(step.values) == 1 || pos == trace.facts.row) {
        std::string cells;
        for (std::size_t d = 0; d < values.size(); ++d)
            cells += titled_cell(classes[d], line, d, fmt::format("d{}: {}", d, values[d]));
        return cells;
    }
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    return cells_by_class(
        classes, line, escaped(fmt::format("{}: from {} to {}", row_name(trace, step, pos), *least, *most)));
}

std::string describe_vectors(Trace const& trace, Step const& step) {
    return fmt::format("{} of {}, a matrix of {} rows and {} columns", file_stem(step.term),
                       head_name(trace.facts), row_count(step.values), column_count(step.values));
}

}  // namespace

std::string vector_map(Trace const& trace, Step const& step, Window const& shown) {
    bool const is_one = row_count(step.values) == 1;
    Window const window = is_one ? Window{0, 1} : shown;
    Scale const scale = Scale::of(step.term, step.values);
    std::string cells;
    for (std::size_t pos = window.first; pos < window.end; ++pos)
        cells += vector_row(trace, step, pos, pos - window.first, scale);
    return picture(vector_grid(trace, step, window), cells, "", scale, describe_vectors(trace, step));
}

}  // namespace onehead
