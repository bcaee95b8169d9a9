#include "write/picture.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "trace/token.hpp"
#include "write/markup.hpp"
#include "write/style_sheet.hpp"

namespace onehead {
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

}  // namespace onehead
