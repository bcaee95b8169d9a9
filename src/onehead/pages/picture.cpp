#include "onehead/pages/picture.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "onehead/io/text.hpp"
#include "onehead/pages/document.hpp"
#include "onehead/pages/html.hpp"

namespace onehead {

namespace {

constexpr double shades = 9;

}  // namespace

Scale Scale::weights() {
    return {Kind::weights, 1, false};
}

Scale Scale::changes() {
    return {Kind::changes, 1, true};
}

Scale Scale::around_zero(std::span<float const> values) {
    std::vector<float> sizes(values.begin(), values.end());
    std::erase_if(sizes, [](float value) { return !std::isfinite(value); });
    for (float& value : sizes) value = std::fabs(value);
    if (sizes.empty()) return {Kind::around_zero, 1, false};
    auto const nearly_largest = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) * 99 / 100);
    std::nth_element(sizes.begin(), nearly_largest, sizes.end());
    double const limit = *nearly_largest == 0 ? 1 : *nearly_largest;
    return {Kind::around_zero, limit, std::ranges::max(sizes) > limit};
}

Scale Scale::of(Trace const& trace, Term const& term) {
    if (term == terms::softmax) return weights();
    Step const* const raw = pairs_positions(term) ? trace.find(terms::scores) : nullptr;
    Matrix const& values = raw != nullptr ? raw->values : trace[term];
    return around_zero({values.data(), values.size()});
}

int Scale::shade(double value) const {
    if (kind_ == Kind::changes)
        return value == 0 ? 0
                          : static_cast<int>(std::clamp(std::floor(std::log10(value)) + 8, 1.0, shades - 1));
    double const place =
        is_signed() ? (value / limit_ + 1) / 2 * shades : std::sqrt(std::max(value, 0.0)) * shades;
    return first() + static_cast<int>(std::clamp(std::floor(place), 0.0, shades - 1));
}

std::string Scale::name_of(int shade) const {
    if (!is_signed()) return fmt::format("p{}", shade);
    return shade == 0 ? "z" : fmt::format("{}{}", shade < 0 ? 'n' : 'u', std::abs(shade));
}

double Scale::from(int shade) const {
    if (kind_ == Kind::changes) return shade == 0 ? 0 : std::pow(10, shade - 8);
    double const part = (shade - first()) / shades;
    return is_signed() ? limit_ * (2 * part - 1) : part * part;
}

Window window_around(std::size_t row, std::size_t n, std::size_t most) {
    std::size_t const size = std::min(n, most);
    std::size_t const after = std::min(n - 1 - row, size / 4);
    std::size_t const end = std::max(size, row + after + 1);
    return {end - size, end};
}

// ---------------------------------------------------------------------------------------------------------
// Pictures of steps

namespace {

constexpr std::size_t most_in_a_score_picture = 100;  // positions
constexpr std::size_t most_in_a_vector_picture = 20;
constexpr std::size_t most_with_numbers = 24;

std::vector<std::string> labels_of(Trace const& trace, Window const& shown) {
    std::vector<std::string> labels;
    for (std::size_t pos = shown.first; pos < shown.end; ++pos) labels.push_back(token_at(trace, pos));
    return labels;
}

std::string cut_note(Trace const& trace, Window const& shown) {
    if (shown.size() == trace.tokens.size()) return "";
    return fmt::format(" Shown are rows {} to {} of {}.", shown.first, shown.end - 1, trace.tokens.size());
}

void frame_row(Picture& picture, Window const& shown, std::size_t row) {
    if (shown.holds(row)) picture.framed_row = row - shown.first;
}

// What a picture of a step answers.
std::string question_of(Term const& term) {
    if (term == terms::scores) return "how strongly does each row want each row?";
    if (term == terms::scaled_scores) return "how far apart are the scores after the scaling?";
    if (term == terms::masked_scores) return "which scores does the mask leave?";
    if (term == terms::softmax) return "where does each row look?";
    return "which components are large, and in which rows?";
}

std::string title_of(Trace const& trace, Term const& term) {
    return fmt::format("{} of {}: {}", file_stem(term), head_name(trace.facts), question_of(term));
}

}  // namespace

bool is_masked(Term const& term, std::size_t query, std::size_t key, double value) {
    return std::isinf(value) || (term == terms::softmax && key > query && value == 0);
}

Picture score_picture(Trace const& trace, Step const& step) {
    Window const shown = window_around(trace.facts.row, trace.tokens.size(), most_in_a_score_picture);
    Picture picture;
    picture.title = title_of(trace, step.term);
    picture.below = "Rows = query (reads), columns = key (is read)." + cut_note(trace, shown);
    picture.values = make_matrix(shown.size(), shown.size());
    picture.row_labels = picture.column_labels = labels_of(trace, shown);
    picture.scale = Scale::of(trace, step.term);
    picture.masked.resize(picture.values.size());
    frame_row(picture, shown, trace.facts.row);
    picture.number = step.term == terms::softmax ? weight : score;
    for (std::size_t i = 0; i < shown.size(); ++i)
        for (std::size_t j = 0; j < shown.size(); ++j) {
            float const value = step.values(shown.first + i, shown.first + j);
            picture.values(i, j) = value;
            picture.masked[i * shown.size() + j] =
                is_masked(step.term, shown.first + i, shown.first + j, value);
        }
    return picture;
}

Picture vector_picture(Trace const& trace, Step const& step) {
    bool const is_one = step.term.rows == "1";
    Window const shown =
        is_one ? Window{0, 1} : window_around(trace.facts.row, trace.tokens.size(), most_in_a_vector_picture);
    Picture picture;
    picture.title = title_of(trace, step.term);
    picture.below = is_one ? "One vector for every row: each column is one component."
                           : "Each row is a position, each column one component." + cut_note(trace, shown);
    picture.values = make_matrix(shown.size(), column_count(step.values));
    picture.row_labels = is_one ? std::vector<std::string>{"every row"} : labels_of(trace, shown);
    picture.column_label_every = std::max<std::size_t>(1, column_count(step.values) / 8);
    for (std::size_t d = 0; d < column_count(step.values); ++d)
        picture.column_labels.push_back(fmt::format("d{}", d));
    picture.scale = Scale::of(trace, step.term);
    picture.is_square = false;
    if (!is_one) frame_row(picture, shown, trace.facts.row);
    for (std::size_t i = 0; i < shown.size(); ++i)
        std::copy_n(row(step.values, shown.first + i).begin(), column_count(step.values),
                    &picture.values(i, 0));
    return picture;
}

Picture pattern_picture(Trace const& trace) {
    Picture picture = score_picture(trace, trace.step(terms::softmax));
    picture.title = "The attention pattern: " + question_of(terms::softmax);
    return picture;
}

// ---------------------------------------------------------------------------------------------------------
// SVG. Cells are short strokes in the units of the grid, labels stand at its sides, and the scale below it.

namespace {

constexpr double letter = 7.3;  // the width of a letter in a label
constexpr double digit = 6.7;   // and of one in a cell
constexpr double legend_height = 44;
constexpr double swatch = 34;

bool prints_numbers(Picture const& p) {
    return p.number != nullptr && p.is_square && p.row_labels.size() <= most_with_numbers;
}

double widest(std::vector<std::string> const& labels) {
    std::size_t most = 0;
    for (std::string const& label : labels) most = std::max(most, display_width(label));
    return static_cast<double>(most) * letter;
}

// Where the grid is, in pixels.
struct Box {
    double left = 0, top = 0, cell_width = 0, cell_height = 0, width = 0, height = 0;
    bool turned = false;  // labels over narrow columns are turned on their side
};

// Both axes are positions: then the cells are squares, wide enough for the longest number.
void set_cell_size(Box& box, Picture const& p) {
    if (!p.is_square) {
        box.cell_width = std::min(9.0, 880.0 / static_cast<double>(p.column_labels.size()));
        box.cell_height = 16;
        return;
    }
    std::size_t longest = 0;
    if (prints_numbers(p))
        for (float const value : p.values) longest = std::max(longest, p.number(value).size());
    box.cell_width = box.cell_height = longest == 0 ? 13 : static_cast<double>(longest) * digit + 10;
}

Box box_of(Picture const& p) {
    Box box{.left = widest(p.row_labels) + 12, .top = 24};
    set_cell_size(box, p);
    box.width = static_cast<double>(p.column_labels.size()) * box.cell_width;
    box.height = static_cast<double>(p.row_labels.size()) * box.cell_height;
    if (p.column_label_every != 1) return box;
    double const columns = widest(p.column_labels);
    box.turned = columns + 6 > box.cell_width;
    if (box.turned) box.top = columns + 12;
    return box;
}

std::string row_labels(Picture const& p, Box const& box) {
    std::string labels;
    for (std::size_t i = 0; i < p.row_labels.size(); ++i)
        labels += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                              p.framed_row == i ? "asks" : "row", box.left - 8,
                              box.top + (static_cast<double>(i) + 0.5) * box.cell_height + 4,
                              escaped(p.row_labels[i]));
    return labels;
}

std::string column_labels(Picture const& p, Box const& box) {
    std::string labels;
    for (std::size_t j = 0; j < p.column_labels.size(); j += p.column_label_every) {
        double const middle = box.left + (static_cast<double>(j) + 0.5) * box.cell_width;
        std::string const place =
            box.turned
                ? fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", middle + 4, box.top - 6)
                : fmt::format(R"(x="{:.1f}" y="{:.1f}" text-anchor="middle")", middle, box.top - 8);
        labels += fmt::format("<text {}>{}</text>\n", place, escaped(p.column_labels[j]));
    }
    return labels;
}

bool is_hatched(Picture const& p, std::size_t i, std::size_t j) {
    return !p.masked.empty() && p.masked[i * p.column_labels.size() + j];
}

std::string class_of(Picture const& p, std::size_t i, std::size_t j) {
    return is_hatched(p, i, j) ? "m" : p.scale.name(p.values(i, j));
}

// One cell that tells its value when a pointer rests on it.
std::string cell(Picture const& p, std::size_t i, std::size_t j) {
    std::string const title =
        p.is_square ? fmt::format("{} reads {}: {}", p.row_labels[i], p.column_labels[j], p.values(i, j))
                    : fmt::format("{}: {}", p.column_labels[j], p.values(i, j));
    return fmt::format(R"(<path class="{}" d="M{} {}.5h1"><title>{}</title></path>)", class_of(p, i, j), j, i,
                       escaped(title));
}

// A whole row of a vector's numbers, with one title for all of them. Short: neighbours become one stroke.
std::string row_of_cells(Picture const& p, std::size_t i) {
    auto const values = row(p.values, i);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    std::map<std::string, std::string> strokes;
    for (std::size_t first = 0, end = 0; first < values.size(); first = end) {
        std::string const shade = class_of(p, i, first);
        end = first + 1;
        while (end < values.size() && class_of(p, i, end) == shade) ++end;
        strokes[shade] += fmt::format("M{} {}.5h{}", first, i, end - first);
    }
    std::string out = fmt::format("<g><title>{}</title>",
                                  escaped(fmt::format("{}: from {} to {}", p.row_labels[i], *least, *most)));
    for (auto const& [shade, path] : strokes) out += fmt::format(R"(<path class="{}" d="{}"/>)", shade, path);
    return out + "</g>\n";
}

// The followed row of vectors, and every cell of a square, tell each of their values.
std::string cells(Picture const& p) {
    std::string out;
    for (std::size_t i = 0; i < p.row_labels.size(); ++i) {
        if (!p.is_square && p.row_labels.size() > 1 && p.framed_row != i) {
            out += row_of_cells(p, i);
            continue;
        }
        for (std::size_t j = 0; j < p.column_labels.size(); ++j) out += cell(p, i, j);
        out += "\n";
    }
    return out;
}

std::string hatching(Picture const& p) {
    std::string path;
    for (std::size_t i = 0; i < p.row_labels.size(); ++i) {
        bool inside = false;
        for (std::size_t j = 0; j < p.column_labels.size(); ++j) {
            if (is_hatched(p, i, j)) path += inside ? "m0 1l1-1" : fmt::format("M{} {}l1-1", j, i + 1);
            inside = is_hatched(p, i, j);
        }
    }
    if (path.empty()) return "";
    return fmt::format("<path class=\"hatch\" d=\"{}\"/>\n", path);
}

std::string numbers(Picture const& p, Box const& box) {
    if (!prints_numbers(p)) return "";
    std::string out = "<g class=\"value\">\n";
    for (std::size_t i = 0; i < p.row_labels.size(); ++i)
        for (std::size_t j = 0; j < p.column_labels.size(); ++j)
            out +=
                fmt::format(R"(<text class="{}" x="{:.0f}" y="{:.0f}">{}</text>)", class_of(p, i, j),
                            (static_cast<double>(j) + 0.5) * box.cell_width,
                            (static_cast<double>(i) + 0.5) * box.cell_height + 4, p.number(p.values(i, j)));
    return out + "</g>\n";
}

std::string frame(Picture const& p, Box const& box) {
    if (!p.framed_row) return "";
    return fmt::format(
        "<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", box.left,
        box.top + static_cast<double>(*p.framed_row) * box.cell_height, box.width, box.cell_height);
}

std::string legend_text(double x, double y, std::string_view anchor, std::string const& text) {
    return fmt::format("<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, text);
}

// The nine shades, and the numbers at both ends and a third of the way from each.
std::string legend(double x, double y, Scale const& scale) {
    std::string out;
    int count = 0;
    for (int shade = scale.first(); shade <= scale.last(); ++shade)
        out += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{}" height="10"/>)",
                           scale.name_of(shade), x + swatch * count++, y, swatch);
    auto const at = [&](int step) { return fmt::format("{:.2g}", scale.from(scale.first() + step)); };
    double const end = x + swatch * count;
    out += "\n" + legend_text(x, y + 24, "start", (scale.is_signed() && scale.cuts() ? "≤ " : "") + at(0));
    out += scale.is_signed() ? legend_text((x + end) / 2, y + 24, "middle", "0")
                             : legend_text(x + 3 * swatch, y + 24, "middle", at(3)) +
                                   legend_text(x + 6 * swatch, y + 24, "middle", at(6));
    std::string const top = at(scale.is_signed() || !scale.cuts() ? count : count - 1);
    return out + legend_text(end, y + 24, "end", (scale.cuts() ? "≥ " : "") + top);
}

std::string svg_of(double width, double height, std::string_view name, std::string_view inside) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\" viewBox=\"0 0 {:.0f} {:.0f}\">\n{}</svg>\n",
        escaped(name), width, height, width, height, inside);
}

}  // namespace

std::string svg(Picture const& picture) {
    Box const box = box_of(picture);
    return svg_of(
        box.left + std::max(box.width, swatch * shades) + 12, box.top + box.height + legend_height,
        fmt::format("{}: {} rows, {} columns", picture.title, picture.row_labels.size(),
                    picture.column_labels.size()),
        fmt::format(
            "{}{}<g transform=\"translate({:.1f} {:.1f}) scale({:.4f} {:.4f})\" "
            "shape-rendering=\"crispEdges\">\n{}</g>\n<g transform=\"translate({:.1f} {:.1f}) "
            "scale({:.4f} {:.4f})\">\n{}</g>\n<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n{}{}",
            row_labels(picture, box), column_labels(picture, box), box.left, box.top, box.cell_width,
            box.cell_height, cells(picture), box.left, box.top, box.cell_width, box.cell_height,
            hatching(picture), box.left, box.top, numbers(picture, box), frame(picture, box),
            legend(box.left, box.top + box.height + 12, picture.scale)));
}

std::string svg_file(Picture const& picture) {
    std::string file = svg(picture);
    file.insert(file.find('\n') + 1, fmt::format("<style>{}</style>\n", shades_style()));
    return file;
}

std::string svg(Scale const& scale) {
    return svg_of(swatch * shades + 24, 36, "The scale of the shades", legend(12, 2, scale));
}

}  // namespace onehead
