#include "onehead/pages/picture.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include "onehead/pages/html.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/trace.hpp"

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

namespace {

constexpr double letter = 7.3;  // the width of a letter in a label
constexpr double legend_height = 44;
constexpr double swatch = 34;

double widest(std::vector<std::string> const& labels) {
    std::size_t most = 0;
    for (std::string const& label : labels) most = std::max(most, display_width(label));
    return static_cast<double>(most) * letter;
}

// Where the cells are, in pixels.
struct Box {
    double left = 0, top = 0, width = 0, height = 0;
    bool turned = false;  // labels over narrow columns are turned on their side
};

Box box_of(Grid const& grid) {
    Box box{.left = widest(grid.row_labels) + 12,
            .top = 24,
            .width = static_cast<double>(grid.columns) * grid.cell_width,
            .height = static_cast<double>(grid.rows) * grid.cell_height};
    if (grid.column_label_every != 1) return box;
    double const columns = widest(grid.column_labels);
    box.turned = columns + 6 > grid.cell_width;
    if (box.turned) box.top = columns + 12;
    return box;
}

std::string row_labels(Grid const& grid, Box const& box) {
    std::string labels;
    for (std::size_t i = 0; i < grid.rows; ++i)
        labels += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                              grid.framed_row == i ? "asks" : "row", box.left - 8,
                              box.top + (static_cast<double>(i) + 0.5) * grid.cell_height + 4,
                              escaped(grid.row_labels[i]));
    return labels;
}

std::string column_labels(Grid const& grid, Box const& box) {
    std::string labels;
    for (std::size_t j = 0; j < grid.columns; j += grid.column_label_every) {
        double const middle = box.left + (static_cast<double>(j) + 0.5) * grid.cell_width;
        std::string const place =
            box.turned
                ? fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", middle + 4, box.top - 6)
                : fmt::format(R"(x="{:.1f}" y="{:.1f}" text-anchor="middle")", middle, box.top - 8);
        labels += fmt::format("<text {}>{}</text>\n", place, escaped(grid.column_labels[j]));
    }
    return labels;
}

std::string frame(Grid const& grid, Box const& box) {
    if (!grid.framed_row) return "";
    return fmt::format(
        "<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", box.left,
        box.top + static_cast<double>(*grid.framed_row) * grid.cell_height, box.width, grid.cell_height);
}

std::string legend_text(double x, double y, std::string_view anchor, std::string const& text) {
    return fmt::format("<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, text);
}

std::string legend(Box const& box, Scale const& scale) {
    double const x = box.left;
    double const y = box.top + box.height + 12;
    std::string out;
    int count = 0;
    for (int shade = scale.first(); shade <= scale.last(); ++shade)
        out += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{}" height="10"/>)",
                           scale.name_of(shade), x + swatch * count++, y, swatch);
    double const end = x + swatch * count;
    out +=
        "\n" +
        legend_text(x, y + 24, "start",
                    fmt::format("{:.3g}{}", scale.from(scale.first()),
                                scale.cuts() && scale.is_signed() ? " or less" : "")) +
        legend_text((x + end) / 2, y + 24, "middle",
                    fmt::format("{:.3g}", (scale.from(scale.first()) + scale.from(scale.last() + 1)) / 2)) +
        legend_text(end, y + 24, "end",
                    fmt::format("{:.3g}{}", scale.from(scale.last() + 1), scale.cuts() ? " or more" : ""));
    return out;
}

}  // namespace

std::string titled_cell(std::string_view shade, std::size_t row, std::size_t column, std::string_view title) {
    return fmt::format(R"(<path class="{}" d="M{} {}.5h1"><title>{}</title></path>)", shade, column, row,
                       title);
}

std::string cells_by_class(std::vector<std::string> const& classes, std::size_t row, std::string_view title) {
    std::map<std::string, std::string> strokes;
    for (std::size_t first = 0, end = 0; first < classes.size(); first = end) {
        end = first + 1;
        while (end < classes.size() && classes[end] == classes[first]) ++end;
        strokes[classes[first]] += fmt::format("M{} {}.5h{}", first, row, end - first);
    }
    std::string out = fmt::format("<g><title>{}</title>", title);
    for (auto const& [shade, path] : strokes) out += fmt::format(R"(<path class="{}" d="{}"/>)", shade, path);
    return out + "</g>\n";
}

std::string number_in_cell(Grid const& grid, std::string_view shade, std::size_t row, std::size_t column,
                           std::string_view number) {
    return fmt::format(R"(<text class="value {}" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                       shade, (static_cast<double>(column) + 0.5) * grid.cell_width,
                       (static_cast<double>(row) + 0.5) * grid.cell_height + 4, number);
}

std::string picture(Grid const& grid, std::string_view cells, std::string_view numbers, Scale const& scale,
                    std::string_view describes) {
    Box const box = box_of(grid);
    double const width = box.left + std::max(box.width, swatch * 9) + 12;
    double const height = box.top + box.height + legend_height;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\" viewBox=\"0 0 {:.0f} {:.0f}\">\n{}{}<g transform=\"translate({:.1f} {:.1f}) "
        "scale({:.4f} {:.4f})\" shape-rendering=\"crispEdges\">\n{}</g>\n<g transform=\"translate({:.1f} "
        "{:.1f})\">\n{}</g>\n{}{}</svg>\n",
        escaped(describes), width, height, width, height, row_labels(grid, box), column_labels(grid, box),
        box.left, box.top, grid.cell_width, grid.cell_height, cells, box.left, box.top, numbers,
        frame(grid, box), legend(box, scale));
}

std::string as_file(std::string svg) {
    svg.insert(svg.find('\n') + 1, element("style", shades_style()));
    return svg;
}

namespace {

constexpr int shades = 9;

}  // namespace

Scale Scale::shares(Matrix const& pattern) {
    std::vector<float> largest;
    for (std::size_t i = 0; i < row_count(pattern); ++i)
        largest.push_back(*std::max_element(row(pattern, i).begin(), row(pattern, i).end()));
    std::sort(largest.begin(), largest.end());
    constexpr std::array limits{.05, .1, .2, .5, 1.0};
    double const limit =
        *std::lower_bound(limits.begin(), limits.end() - 1, static_cast<double>(largest[largest.size() / 2]));
    return {0, limit, largest.back()};
}

Scale Scale::around_zero(std::span<float const> values) {
    std::vector<float> sizes;
    for (float const value : values)
        if (std::isfinite(value)) sizes.push_back(std::fabs(value));
    if (sizes.empty()) return {-1, 1, 0};
    std::sort(sizes.begin(), sizes.end());
    double const limit = sizes[(sizes.size() - 1) * 99 / 100];
    return limit == 0 ? Scale{-1, 1, sizes.back()} : Scale{-limit, limit, sizes.back()};
}

Scale Scale::of(Term const& term, Matrix const& values) {
    return term == terms::softmax ? shares(values) : around_zero({values.data(), values.size()});
}

int Scale::shade(double value) const {
    double const place = (value - low_) / (high_ - low_) * shades;
    return first() + static_cast<int>(std::clamp(std::floor(place), 0.0, shades - 1.0));
}

std::string Scale::name_of(int shade) const {
    if (!is_signed()) return fmt::format("p{}", shade);
    return shade == 0 ? "z" : fmt::format("{}{}", shade < 0 ? 'n' : 'u', std::abs(shade));
}

double Scale::from(int shade) const {
    return low_ + (high_ - low_) * (shade - first()) / shades;
}

Window window_around(std::size_t row, std::size_t n, std::size_t most) {
    std::size_t const size = std::min(n, most);
    std::size_t const after = std::min(n - 1 - row, size / 4);
    std::size_t const end = std::max(size, row + after + 1);
    return {end - size, end};
}

}  // namespace onehead
