#include "onehead/pages/text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

namespace {

std::vector<Term> const score_steps{terms::scores, terms::scaled_scores, terms::masked_scores,
                                    terms::softmax};

bool has_tables(std::vector<std::string> const& files) {
    return std::any_of(files.begin(), files.end(), [](auto const& name) { return name.ends_with(".csv"); });
}

std::string introduction(Trace const& trace, std::vector<std::string> const& files) {
    std::size_t const row = trace.facts.row;
    std::string const where = fmt::format(
        "Numbers are rounded on this page, and exact in the files {}: what stands here in the line \"08 "
        "scores\" is, "
        "number for number, row {} of 08_scores.csv.",
        has_tables(files) ? "beside it" : "that --out writes", row);
    return heading(story_title(trace), '=').substr(1) + run_table(trace) + "\n" + token_table(trace) + "\n" +
           paragraph(fmt::format(
               "The text is cut into tokens, and the model keeps a row of {} numbers for each. An attention "
               "head lets every row read the rows before it. This page follows one of them: row {} asks, "
               "sees how well each row answers, and takes home a blend of what they hold. All rows do the "
               "same at the same time, each for itself.",
               trace.facts.d_model, token_at(trace, row))) +
           "\n" + paragraph(where);
}

// Where a step is, its shape, and its formula.
std::string definitions(Trace const& trace, std::vector<Term> const& steps) {
    std::string page;
    for (Term const& term : steps) {
        Step const& step = trace.step(term);
        page += fmt::format("  {}.csv  [{}, {}] = [{}, {}]{}\n      = {}\n", file_stem(term), term.rows,
                            term.columns, row_count(step.values), column_count(step.values),
                            pairs_positions(term) ? ", rows = query (reads), columns = key (is read)" : "",
                            step.formula);
    }
    return page;
}

std::string numbers_of(Trace const& trace, Chapter const& chapter) {
    if (chapter.steps.front() == terms::scores) return score_table(trace, trace.facts.row, chapter.steps);
    if (chapter.steps.front() == terms::blend) return blend_table(trace);
    if (chapter.steps.front() == terms::output_projection) return addition_table(trace);
    return vector_table(trace, chapter.steps);
}

std::string paragraphs(std::vector<std::string> const& all) {
    std::string page;
    for (std::string const& text : all) page += paragraph(text) + "\n";
    return page;
}

std::string tell(Trace const& trace, Chapter const& chapter, std::size_t number) {
    return heading(fmt::format("{}. {}", number, chapter.title)) + paragraphs(chapter.before) +
           numbers_of(trace, chapter) + "\n" + paragraphs(chapter.after) + definitions(trace, chapter.steps);
}

std::string symbol_table(Trace const& trace) {
    Table table{{Align::left}};
    for (auto const& [name, meaning] : explain_symbols(trace)) table.add({std::string{name}, meaning});
    return table.text();
}

// At most this much of a text, cut between two characters.
std::string shown_text(std::string const& text) {
    constexpr std::size_t most = 300;
    if (text.size() <= most) return label(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return fmt::format("{} ... {} bytes more", label(text.substr(0, end)), text.size() - end);
}

}  // namespace

std::string run_table(Trace const& trace) {
    Facts const& facts = trace.facts;
    Table table{{Align::left}};
    table.add({"text", fmt::format("{} ({} token{})", shown_text(facts.text), trace.tokens.size(),
                                   trace.tokens.size() == 1 ? "" : "s")});
    table.add({"model", fmt::format("{} ({} heads a block, d_model {}, d_head {})", facts.model, facts.n_head,
                                    facts.d_model, facts.d_head)});
    table.add({"head", head_name(facts)});
    table.add({"row", token_at(trace, facts.row)});
    table.add({"run", facts.experiment.empty()
                          ? "as GPT-2 computes it"
                          : fmt::format("experiment \"{}\": {}", facts.experiment, facts.experiment_says)});
    return table.text() + (facts.left_out.empty() ? "" : "\n" + paragraph(facts.left_out + ".", "  "));
}

std::string trace_text(Trace const& trace, std::vector<std::string> const& files) {
    std::string page = introduction(trace, files);
    std::size_t number = 0;
    for (Chapter const& chapter : tell_story(trace)) page += tell(trace, chapter, ++number);
    return page + heading("The symbols") + symbol_table(trace);
}

std::string trace_summary(Trace const& trace) {
    return run_table(trace) + "\n" + score_table(trace, trace.facts.row, score_steps) + "\n" +
           paragraph(pattern_sentence(trace, trace.facts.row)) +
           fmt::format("\nFingerprint of all numbers: {}\n", trace.fingerprint());
}

namespace {

constexpr std::size_t shown_numbers = 6;  // of a vector
constexpr std::size_t keys_a_line = 8;
constexpr std::size_t most_keys = 16;  // of a row of scores
constexpr std::size_t most_tokens = 24;

// Of a long text the tokens around a row are shown.
std::size_t first_shown_token(std::size_t n, std::size_t row) {
    std::size_t const before = std::min(row, most_tokens / 2);
    return std::min(row - before, n - std::min(n, most_tokens));
}

std::string name(Term const& term) {
    return fmt::format("{:02} {}", term.number, term.name);
}

// Row `row` of a step; the single row of one that has no positions.
std::span<float const> row_of(Step const& step, std::size_t row) {
    return onehead::row(step.values, row_count(step.values) == 1 ? 0 : row);
}

std::vector<std::string> score_line(Trace const& trace, std::size_t row, Term const& term,
                                    std::span<std::size_t const> keys) {
    std::vector<std::string> cells{name(term)};
    auto const values = onehead::row(trace[term], row);
    for (std::size_t const key : keys) cells.push_back(short_number(term, values[key]));
    return cells;
}

std::string score_lines(Trace const& trace, std::size_t row, std::vector<Term> const& steps,
                        std::span<std::size_t const> keys) {
    Table table{{Align::left, Align::right}};
    std::vector<std::string> positions{"key"};
    std::vector<std::string> labels{""};
    for (std::size_t const key : keys) {
        positions.push_back(std::to_string(key));
        labels.push_back(label(trace.tokens[key].bytes));
    }
    table.add(positions);
    table.add(labels);
    for (Term const& term : steps) table.add(score_line(trace, row, term, keys));
    return table.text();
}

}  // namespace

std::string token_table(Trace const& trace) {
    std::size_t const n = trace.tokens.size();
    std::size_t const first = first_shown_token(n, trace.facts.row);
    std::size_t const end = std::min(n, first + most_tokens);
    Table table{{Align::left, Align::right, Align::right, Align::left}};
    table.add({"", "pos", "token_id", "token"});
    for (std::size_t pos = first; pos < end; ++pos)
        table.add({pos == trace.facts.row ? ">" : "", std::to_string(pos),
                   std::to_string(trace.tokens[pos].id), label(trace.tokens[pos].bytes)});
    if (end - first == n) return table.text();
    return table.text() +
           fmt::format("\n  ... the {} tokens around the row, of {}; tokens.csv has all\n", end - first, n);
}

std::string vector_table(Trace const& trace, std::vector<Term> const& steps) {
    Table table{{Align::left}};
    for (Term const& term : steps)
        if (auto const* step = trace.find(term))
            table.add({name(term), short_list(row_of(*step, trace.facts.row), shown_numbers),
                       file_stem(term) + ".csv"});
    return table.text();
}

std::string short_number(Term const& term, double value) {
    return term == terms::softmax ? short_weight(value) : short_score(value);
}

std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row) {
    std::vector<std::size_t> keys(trace.tokens.size());
    std::iota(keys.begin(), keys.end(), 0);
    if (keys.size() <= most_keys) return keys;
    auto const weights = onehead::row(trace[terms::softmax], row);
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    keys.resize(most_keys);
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::string score_table(Trace const& trace, std::size_t row, std::vector<Term> const& steps) {
    auto const keys = shown_keys(trace, row);
    std::string page;
    for (std::size_t first = 0; first < keys.size(); first += keys_a_line) {
        auto const line = std::span{keys}.subspan(first, std::min(keys_a_line, keys.size() - first));
        page += (first == 0 ? "" : "\n") + score_lines(trace, row, steps, line);
    }
    if (keys.size() < trace.tokens.size())
        page += fmt::format("\n  ... {} more keys: the table shows the {} that this row reads most\n",
                            trace.tokens.size() - keys.size(), keys.size());
    return page;
}

std::string blend_table(Trace const& trace) {
    Table table{{Align::right, Align::left}};
    auto const weights = row(trace[terms::softmax], trace.facts.row);
    auto const reads = [&](std::size_t key) { return weights[key] != 0; };
    auto keys = shown_keys(trace, trace.facts.row);
    std::erase_if(keys, [&](std::size_t key) { return !reads(key); });
    for (std::size_t const key : keys)
        table.add({short_weight(weights[key]), fmt::format("x  v of {}", token_at(trace, key)),
                   short_list(row(trace[terms::v], key), shown_numbers)});
    auto const all = std::count_if(weights.begin(), weights.end(), [](float weight) { return weight != 0; });
    if (auto const left_out = static_cast<std::size_t>(all) - keys.size(); left_out > 0)
        table.add({"...", fmt::format("{} more rows", left_out)});
    table.add({"sum", "=  12 blend", short_list(row(trace[terms::blend], trace.facts.row), shown_numbers)});
    return table.text();
}

std::string addition_table(Trace const& trace) {
    Table table{{Align::right, Align::left}};
    auto const add = [&](std::string const& sign, Term const& term) {
        if (auto const* step = trace.find(term))
            table.add({sign, name(term), short_list(row_of(*step, trace.facts.row), shown_numbers),
                       file_stem(term) + ".csv"});
    };
    add("", terms::residual);
    add("+", terms::output_projection);
    add("+", terms::other_heads);
    add("+", terms::projection_bias);
    add("=", terms::residual_after);
    return table.text();
}

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

namespace {

// The text in pieces that may not be broken, each but the first with the space before it. The space that
// begins a token's label (' cat') is no place to break.
std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> pieces{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const opens_label =
            text[i] == ' ' && i > 0 && text[i - 1] == '\'' && (i == 1 || text[i - 2] == ' ');
        if (text[i] == ' ' && !opens_label) pieces.emplace_back();
        pieces.back() += text[i];
    }
    return pieces;
}

}  // namespace

std::string heading(std::string_view title, char underline) {
    return fmt::format("\n{}\n{}\n\n", title, std::string(display_width(title), underline));
}

std::string paragraph(std::string_view text, std::string_view indent) {
    constexpr std::size_t width = 100;
    std::string page;
    std::string line{indent};
    for (std::string const& word : words(text)) {
        if (display_width(line) + display_width(word) > width && line != indent) {
            page += line + "\n";
            line = std::string{indent} + word.substr(1);
        } else {
            line += word;
        }
    }
    return page + line + "\n";
}

std::string fixed(double value, int decimals) {
    std::string const text = fmt::format("{:.{}f}", value, decimals);
    return text.find_first_of("123456789") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

std::string short_score(double value) {
    if (std::isinf(value) || std::fabs(value) >= 1e5) return fmt::format("{:.3g}", value);
    return fixed(value, 2);
}

std::string short_weight(double value) {
    if (value == 0 || value == 1) return fmt::format("{}", value);
    std::string const text = fixed(value, 3);
    return text.starts_with("0.") ? text.substr(1) : text;
}

std::string short_list(std::span<float const> values, std::size_t most) {
    std::string list;
    for (float const value : values.first(std::min(most, values.size())))
        list += fmt::format(" {:>7}", fixed(value, 3));
    if (values.size() > most) list += fmt::format("  ... {} more", values.size() - most);
    return list;
}

}  // namespace onehead
