#include "write/compare_tables.hpp"

#include <fmt/format.h>

#include "write/numbers.hpp"

namespace onehead {
namespace {

std::string place(Difference const& difference) {
    return difference.same() ? "" : fmt::format("row {}, column {}", difference.row, difference.column);
}

std::string divergence(RowDifference const& row) {
    return row.comparable() ? fmt::format("{:.3g}", *row.divergence) : "-";
}

}  // namespace

Table step_table(Comparison const& comparison) {
    Table table{{Align::left, Align::right, Align::left, Align::right, Align::left}};
    table.add({"step", "largest difference", "where", "bit-identical", ""});
    for (auto const& [term, difference] : comparison.steps)
        table.add({file_stem(term), fmt::format("{:.3g}", difference.largest), place(difference),
                   std::to_string(difference.identical), fmt::format("of {}", difference.cells)});
    for (Term const& term : comparison.only_in_a) table.add({file_stem(term), "only in A"});
    for (Term const& term : comparison.only_in_b) table.add({file_stem(term), "only in B"});
    return table;
}

Table pattern_table(Comparison const& comparison, Tokens const& tokens) {
    Table table{{Align::right, Align::left, Align::left, Align::right, Align::right, Align::right,
                 Align::left, Align::right}};
    table.add({"row", "", "A: most to", "weight", "rows read", "entropy", "B: most to", "weight", "rows read",
               "entropy", "divergence"});
    auto const token = [&](std::size_t pos) { return fmt::format("{} {}", pos, label(tokens[pos].bytes)); };
    for (std::size_t i = 0; i < comparison.pattern.size(); ++i) {
        auto const& [a, b, nats] = comparison.pattern[i];
        table.add({std::to_string(i), label(tokens[i].bytes), token(a.favourite), short_weight(a.largest),
                   fmt::format("{:.2f}", a.effective_rows), fmt::format("{:.3f}", a.entropy),
                   token(b.favourite), short_weight(b.largest), fmt::format("{:.2f}", b.effective_rows),
                   fmt::format("{:.3f}", b.entropy), divergence(comparison.pattern[i])});
    }
    return table;
}

}  // namespace onehead
