#include "write/shaded_grid.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>

#include "write/numbers.hpp"
#include "write/shade.hpp"
#include "write/table.hpp"
#include "write/window.hpp"

namespace onehead {
namespace {

constexpr std::size_t with_number = 6;  // columns a cell takes
constexpr std::size_t narrow = 2;

// Of the 256 colours that terminals share: paper to ink, each with a colour for text on it.
constexpr std::array<int, 9> papers{231, 195, 153, 117, 75, 33, 26, 19, 17};
constexpr std::array<std::string_view, 9> blocks{" ", "░", "░", "▒", "▒", "▓", "▓", "█", "█"};

struct Layout {
    Window shown;
    std::size_t label_width = 0, cell_width = 0;
};

std::string to_the_right(std::string const& text, std::size_t width) {
    return padded(text, width, Align::right);
}

Layout lay_out(Trace const& trace, std::size_t width) {
    std::size_t const n = trace.tokens.size();
    Layout layout;
    for (std::size_t pos = 0; pos < n; ++pos)
        layout.label_width = std::max(layout.label_width, display_width(token_at(trace, pos)) + 2);
    std::size_t const room = std::max(width, layout.label_width + 2 * narrow) - layout.label_width;
    layout.cell_width = n * with_number <= room ? with_number : narrow;
    layout.shown = window_around(trace.facts.row, n, std::min<std::size_t>(room / layout.cell_width, 48));
    return layout;
}

std::string in_colour(std::string const& text, int shade) {
    return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", papers.at(static_cast<std::size_t>(shade)),
                       shade < 5 ? 16 : 231, text);
}

std::string in_blocks(std::string const& number, int shade, std::size_t width) {
    std::string block;
    for (std::size_t i = 0; i < narrow; ++i) block += blocks.at(static_cast<std::size_t>(shade));
    return width == narrow ? block : to_the_right(number, width - narrow) + block;
}

std::string cell(float share, bool is_later, Scale const& scale, Layout const& layout, Shading shading) {
    if (is_later && share == 0) return to_the_right(".", layout.cell_width);
    std::string const number = layout.cell_width == narrow ? "" : short_weight(share);
    int const shade = scale.shade(share);
    return shading == Shading::colour ? in_colour(to_the_right(number, layout.cell_width), shade)
                                      : in_blocks(number, shade, layout.cell_width);
}

// Positions; over narrow cells every fifth, where it begins.
std::string heads(Layout const& layout) {
    std::string line(layout.label_width, ' ');
    for (std::size_t key = layout.shown.first; key < layout.shown.end; ++key) {
        if (layout.cell_width == narrow && key % 5 != 0) continue;
        std::size_t const place = layout.label_width + (key - layout.shown.first) * layout.cell_width;
        line.resize(std::max(line.size(), place), ' ');
        std::string const number = std::to_string(key);
        line += layout.cell_width == narrow ? number : to_the_right(number, layout.cell_width);
    }
    return line + "\n";
}

}  // namespace

std::string shaded_grid(Trace const& trace, std::size_t width, Shading shading) {
    Layout const layout = lay_out(trace, width);
    Matrix const& pattern = trace[terms::softmax];
    Scale const scale = Scale::shares(pattern);
    std::string grid =
        "The pattern: rows read, columns are read; the darker, the larger the share.\n\n" + heads(layout);
    for (std::size_t i = layout.shown.first; i < layout.shown.end; ++i) {
        std::string const mark = i == trace.facts.row ? ">" : " ";
        grid += mark + to_the_right(token_at(trace, i), layout.label_width - 2) + " ";
        for (std::size_t j = layout.shown.first; j < layout.shown.end; ++j)
            grid += cell(pattern(i, j), j > i, scale, layout, shading);
        grid += "\n";
    }
    if (layout.shown.size() < trace.tokens.size())
        grid += fmt::format("... rows and keys {} to {}, of {}\n", layout.shown.first, layout.shown.end - 1,
                            trace.tokens.size());
    return grid;
}

}  // namespace onehead
