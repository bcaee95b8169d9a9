#include "write/working.hpp"

#include <fmt/format.h>
#include <optional>
#include <vector>

#include "write/csv.hpp"
#include "write/prose.hpp"
#include "write/table.hpp"

namespace onehead {
namespace {

std::string rounded(std::optional<double> number) {
    return number ? fmt::format("{:.7g}", *number) : "";
}

std::string exact(std::optional<double> number) {
    return number ? fmt::format("{}", *number) : "";
}

void add_line(Table& table, Line const& line) {
    table.add(
        {line.what, rounded(line.left), rounded(line.right), rounded(line.value), rounded(line.running)});
}

}  // namespace

std::string working_text(Worked const& worked, std::size_t most) {
    auto const& lines = worked.lines;
    std::size_t const last_lines = 4;
    bool const cut = lines.size() > most;
    Table table{{Align::left, Align::right}};
    table.add({"", "left", "right", "value", "sum so far"});
    for (std::size_t i = 0; i < (cut ? most - last_lines : lines.size()); ++i) add_line(table, lines[i]);
    if (cut) table.add({fmt::format("... {} more lines", lines.size() - most)});
    for (std::size_t i = cut ? lines.size() - last_lines : lines.size(); i < lines.size(); ++i)
        add_line(table, lines[i]);
    std::string const agreement =
        worked.agrees() ? "the same, to the last bit"
                        : fmt::format("NOT THE SAME: {} against {}", worked.result, worked.in_trace);
    return paragraph(fmt::format("{}, row {}, column {}. {}", file_stem(worked.term), worked.row,
                                 worked.column, worked.says),
                     "  ") +
           "\n" + table.text() + "\n" +
           paragraph(fmt::format("In the trace: {}, {}.", worked.in_trace, agreement), "  ");
}

std::string working_csv(Worked const& worked) {
    std::string csv = "what,left,right,value,running_sum\n";
    for (Line const& line : worked.lines)
        csv += fmt::format("{},{},{},{},{}\n", csv_field(line.what), exact(line.left), exact(line.right),
                           line.value, exact(line.running));
    return csv;
}

}  // namespace onehead
