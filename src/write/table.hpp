// A table in plain text: cells padded to the widest of their column, as a terminal shows them.
#pragma once

#include <string>
#include <vector>

namespace onehead {

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

}  // namespace onehead
