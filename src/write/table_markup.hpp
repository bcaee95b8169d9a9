// A table of plain text in HTML: the same cells, read out by a screen reader with the heads of their row and
// column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "write/table.hpp"

namespace onehead {

// The first rows are heads of columns, the first column heads of rows. `shade` gives the class of a cell.
std::string table_markup(Table const& table, std::size_t head_rows, std::string_view caption,
                         std::string_view (*shade)(std::string_view cell) = nullptr);

}  // namespace onehead
