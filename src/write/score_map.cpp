#include "write/score_map.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "write/markup.hpp"
#include "write/numbers.hpp"
#include "write/picture.hpp"

namespace onehead {
namespace {

constexpr std::size_t most_with_numbers = 24;

// The widest text that a cell of the window holds.
std::size_t longest_number(Step const& step, Window const& shown) {
    std::size_t longest = 0;
    for (std::size_t i = shown.first; i < shown.end; ++i)
        for (std::size_t j = shown.first; j < shown.end; ++j)
            longest = std::max(longest, cell_text(step.term, step.values(i, j)).size());
    return longest;
}

Grid score_grid(Trace const& trace, Step const& step, Window const& shown) {
    Grid grid;
    grid.rows = grid.columns = shown.size();
    if (shown.size() <= most_with_numbers) {
        grid.cell_width = static_cast<double>(longest_number(step, shown)) * 6.7 + 10;
        grid.cell_height = 28;
    } else {
        grid.cell_width = grid.cell_height = 13;
    }
    for (std::size_t pos = shown.first; pos < shown.end; ++pos)
        grid.row_labels.push_back(token_at(trace, pos));
    grid.column_labels = grid.row_labels;
    if (shown.holds(trace.facts.row)) grid.framed_row = trace.facts.row - shown.first;
    return grid;
}

std::string score_cells(Step const& step, Window const& shown, Scale const& scale, Grid const& grid) {
    std::string cells;
    for (std::size_t i = 0; i < grid.rows; ++i)
        for (std::size_t j = 0; j < grid.columns; ++j) {
            std::size_t const query = shown.first + i;
            std::size_t const key = shown.first + j;
            cells += titled_cell(cell_class(step, scale, query, key), i, j,
                                 escaped(fmt::format("{} reads {}: {}", grid.row_labels[i],
                                                     grid.column_labels[j], step.values(query, key))));
        }
    return cells;
}

std::string score_numbers(Step const& step, Window const& shown, Scale const& scale, Grid const& grid) {
    if (shown.size() > most_with_numbers) return "";
    std::string numbers;
    for (std::size_t i = shown.first; i < shown.end; ++i)
        for (std::size_t j = shown.first; j < shown.end; ++j)
            numbers += number_in_cell(grid, cell_class(step, scale, i, j), i - shown.first, j - shown.first,
                                      cell_text(step.term, step.values(i, j)));
    return numbers;
}

std::string describe_scores(Trace const& trace, Step const& step) {
    return fmt::format("{} of {}: {} rows (queries, they read) by {} columns (keys, they are read)",
                       file_stem(step.term), head_name(trace.facts), row_count(step.values),
                       column_count(step.values));
}

}  // namespace

std::string cell_class(Step const& step, Scale const& scale, std::size_t query, std::size_t key) {
    float const value = step.values(query, key);
    bool const is_masked = std::isinf(value) || (step.term == terms::softmax && key > query && value == 0);
    return is_masked ? "m" : scale.name(value);
}

std::string cell_text(Term const& term, double value) {
    if (term == terms::softmax) return short_weight(value);
    if (std::isinf(value)) return "-inf";
    return fmt::format("{:.3g}", value);
}

std::string score_map(Trace const& trace, Step const& step, Window const& shown, Scale const& scale) {
    Grid const grid = score_grid(trace, step, shown);
    return picture(grid, score_cells(step, shown, scale, grid), score_numbers(step, shown, scale, grid),
                   scale, describe_scores(trace, step));
}

std::string pattern_svg(Trace const& trace) {
    Window const shown = window_around(trace.facts.row, trace.tokens.size(), most_in_a_score_map);
    Step const& pattern = trace.step(terms::softmax);
    return as_file(score_map(trace, pattern, shown, Scale::shares(pattern.values)));
}

}  // namespace onehead
