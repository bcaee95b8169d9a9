#include "write/table_markup.hpp"

#include <fmt/format.h>

#include "write/markup.hpp"

namespace onehead {
namespace {

using Shade = std::string_view (*)(std::string_view);

// Cells are labels as often as not: as in a label, spaces count, and text does not turn.
std::string inside(std::string const& cell) {
    return element("bdi", escaped(cell), "dir=\"ltr\"");
}

std::string data_cell(Table const& table, std::size_t column, std::string const& cell, Shade shade) {
    std::string classes = table.alignment(column) == Align::left ? "text" : "";
    if (shade != nullptr) classes += fmt::format(" {}", shade(cell));
    return element("td", inside(cell), fmt::format("class=\"{}\"", classes));
}

std::string head_cell(Table const& table, std::size_t column, std::string const& cell, bool of_column) {
    return element("th", inside(cell),
                   fmt::format(R"(scope="{}" class="{}")", of_column ? "col" : "row",
                               table.alignment(column) == Align::left ? "text" : ""));
}

std::string line(Table const& table, std::size_t number, std::size_t head_rows, Shade shade) {
    std::string cells;
    auto const& row = table.rows()[number];
    for (std::size_t column = 0; column < row.size(); ++column) {
        if (number < head_rows || column == 0)
            cells += head_cell(table, column, row[column], number < head_rows);
        else
            cells += data_cell(table, column, row[column], shade);
    }
    return element("tr", cells);
}

}  // namespace

std::string table_markup(Table const& table, std::size_t head_rows, std::string_view caption, Shade shade) {
    std::string lines = element("caption", escaped(caption));
    for (std::size_t number = 0; number < table.rows().size(); ++number)
        lines += line(table, number, head_rows, shade);
    return figure(element("table", lines, shade == nullptr ? "class=\"lines\"" : "class=\"grid\""), caption);
}

}  // namespace onehead
