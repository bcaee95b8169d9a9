#include "write/table.hpp"

#include <algorithm>
#include <utility>

#include "trace/token.hpp"

namespace onehead {
namespace {

void strip_trailing_space(std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::string padded(std::string const& cell, std::size_t width, Align align) {
    std::string const space(width - std::min(width, display_width(cell)), ' ');
    return align == Align::left ? cell + space : space + cell;
}

Table::Table(std::vector<Align> alignment) : alignment_(std::move(alignment)) {}

void Table::add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
}

Align Table::alignment(std::size_t column) const {
    return alignment_[std::min(column, alignment_.size() - 1)];
}

std::string Table::text(std::string const& indent) const {
    std::vector<std::size_t> widths;
    for (auto const& cells : rows_) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], display_width(cells[i]));
    }
    std::string page;
    for (auto const& cells : rows_) {
        std::string line = indent;
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += (i == 0 ? "" : "  ") + padded(cells[i], widths[i], alignment(i));
        strip_trailing_space(line);
        page += line + "\n";
    }
    return page;
}

}  // namespace onehead
