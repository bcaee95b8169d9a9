// A grid of shaded cells as SVG: cells are drawn as short strokes in the units of the grid, labels stand at
// its sides, and the scale of its shades below it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "write/shade.hpp"

namespace onehead {

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

}  // namespace onehead
