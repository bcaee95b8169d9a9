#include "write/causality_grid.hpp"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace onehead {
namespace {

std::string size_of(double change) {
    return fmt::format("{:.0e}", change);
}

std::string cell(RowVerdict const& row) {
    if (row.broken()) return "!" + size_of(row.forbidden.largest);
    if (row.is_new) return "new";
    return row.identical() ? "=" : size_of(row.allowed.largest);
}

}  // namespace

Table causality_grid(Causality const& causality, Tokens const& after) {
    Table table{{Align::left, Align::right}};
    std::vector<std::string> positions{"row"};
    std::vector<std::string> labels{""};
    for (std::size_t pos = 0; pos < after.size(); ++pos) {
        positions.push_back(fmt::format("{}{}", pos, causality.change.at[pos] ? "*" : ""));
        labels.push_back(label(after[pos].bytes));
    }
    table.add(positions);
    table.add(labels);
    for (StepVerdict const& step : causality.steps) {
        std::vector<std::string> cells{file_stem(step.term)};
        for (RowVerdict const& row : step.rows) cells.push_back(cell(row));
        table.add(cells);
    }
    return table;
}

}  // namespace onehead
