#include "onehead/pages/html.hpp"

#include <fmt/format.h>
#include <cctype>

#include "onehead/io/text.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

namespace {

std::string opening(Trace const& trace) {
    Scale const shares = Scale::shares(trace[terms::softmax]);
    return element("h1", fmt::format("How row {} {} reads", trace.facts.row,
                                     label_markup(trace.tokens[trace.facts.row].bytes))) +
           sentence_markup(trace, shares) +
           element(
               "p",
               "The darker a word, the larger the share of its attention that the framed row gives it. Words "
               "after the framed one come too late for it.",
               "class=\"quiet\"") +
           facts_markup(trace) +
           element("p",
                   "Fingerprint: " + element("output", trace.fingerprint(), "id=\"fingerprint\"") +
                       ". Where it is the same, every number is, to the last bit.",
                   "class=\"quiet\"") +
           element("h2", "The pattern") +
           element("p", escaped(pattern_sentence(trace, trace.facts.row))) + pattern_markup(trace, shares);
}

std::string contents(Trace const& trace) {
    std::string list;
    for (Step const& step : trace.steps())
        list += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", file_stem(step.term));
    return element("nav", element("ul", list), "aria-label=\"Steps\"");
}

// "files: 08_scores.csv": of those that are there.
std::string links(Step const& step, std::vector<std::string> const& files) {
    std::string list;
    for (std::string const& file : files)
        if (file.starts_with(file_stem(step.term)))
            list += fmt::format("{}<a href=\"{}\">{}</a>", list.empty() ? "" : ", ", file, file);
    return list.empty() ? "" : ", exact in " + list;
}

std::string formulas(Step const& step) {
    if (step.formula != step.term.formula) return element("p", escaped(step.formula), "class=\"formula\"");
    return element("p", fmt::format("{}<br>{}", formula_in_symbols(step.term), escaped(step.formula)),
                   "class=\"formula\"");
}

std::string cut_note(Trace const& trace, Window const& shown) {
    if (shown.size() == trace.tokens.size()) return "";
    return fmt::format(" Shown are rows {} to {} of {}.", shown.first, shown.end - 1, trace.tokens.size());
}

std::string map_of(Trace const& trace, Step const& step) {
    bool const pairs = pairs_positions(step.term);
    Window const shown = window_around(trace.facts.row, trace.tokens.size(),
                                       pairs ? most_in_a_score_map : most_in_a_vector_map);
    return figure(pairs ? score_map(trace, step, shown, Scale::of(step.term, step.values))
                        : vector_map(trace, step, shown),
                  file_stem(step.term)) +
           element("p",
                   (pairs ? "Rows = query (reads), columns = key (is read)."
                          : "A row a position, a column a number of its vector.") +
                       (step.term.rows == "1" ? "" : cut_note(trace, shown)),
                   "class=\"quiet\"");
}

std::string capitalized(std::string_view text) {
    std::string sentence{text};
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    return sentence;
}

std::string step_section(Trace const& trace, Step const& step, std::vector<std::string> const& files) {
    Term const& term = step.term;
    std::string const shape =
        fmt::format("[{}, {}] = [{}, {}]{}", term.rows, term.columns, row_count(step.values),
                    column_count(step.values), links(step, files));
    return element("section",
                   element("h3", fmt::format("{:02} {}", term.number, term.name)) +
                       element("p", escaped(capitalized(term.meaning)) + ".") + formulas(step) +
                       element("p", shape, "class=\"quiet\"") + map_of(trace, step),
                   fmt::format("id=\"{}\"", file_stem(term)));
}

std::string paragraphs(std::vector<std::string> const& all) {
    std::string markup;
    for (std::string const& text : all) markup += element("p", escaped(text));
    return markup;
}

std::string tell(Trace const& trace, Chapter const& chapter, std::size_t number,
                 std::vector<std::string> const& files) {
    std::string page =
        element("h2", fmt::format("{}. {}", number, chapter.title)) + paragraphs(chapter.before);
    if (chapter.steps.front() == terms::scores) page += row_markup(trace, chapter.steps);
    page += paragraphs(chapter.after);
    for (Term const& term : chapter.steps) page += step_section(trace, trace.step(term), files);
    return page;
}

std::string symbol_list(Trace const& trace) {
    std::string list;
    for (auto const& [name, meaning] : explain_symbols(trace))
        list += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n", name, escaped(meaning));
    return element("h2", "The symbols") +
           element("p",
                   "i is the position of a row that reads (query_pos), j of one that is read (key_pos), d a "
                   "place in "
                   "a vector. r is the row, x the normalized row, s the scores, a the attention pattern, z "
                   "the blend.") +
           element("dl", list, "class=\"facts\"");
}

}  // namespace

std::string trace_html(Trace const& trace, std::vector<std::string> const& files) {
    std::string body = element("header", opening(trace) + contents(trace));
    std::size_t number = 0;
    for (Chapter const& chapter : tell_story(trace)) body += tell(trace, chapter, ++number, files);
    body += symbol_list(trace);
    body += element("footer",
                    element("p",
                            fmt::format("Made by onehead {}. Numbers on this page are rounded; those in "
                                        "the files beside it are exact.",
                                        ONEHEAD_VERSION),
                            "class=\"quiet\""));
    return html_page(
        fmt::format("{}: {} of {}", story_title(trace), head_name(trace.facts), trace.facts.model), body);
}

namespace {

constexpr std::size_t most_in_a_table = 24;  // positions

std::string term(std::string_view name, std::string_view meaning) {
    return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, meaning);
}

std::string row_head(Trace const& trace, std::size_t pos) {
    return fmt::format("<th scope=\"row\">{} {}</th>", pos, label_markup(trace.tokens[pos].bytes));
}

std::string column_head(Trace const& trace, std::size_t pos) {
    return fmt::format("<th scope=\"col\">{}<br>{}</th>", pos, label_markup(trace.tokens[pos].bytes));
}

std::string pattern_line(Trace const& trace, Scale const& scale, std::size_t query) {
    Step const& pattern = trace.step(terms::softmax);
    std::string cells = row_head(trace, query);
    for (std::size_t key = 0; key < trace.tokens.size(); ++key)
        cells += fmt::format(R"(<td class="{}" title="{}">{}</td>)", cell_class(pattern, scale, query, key),
                             pattern.values(query, key), short_weight(pattern.values(query, key)));
    return element("tr", cells, query == trace.facts.row ? "class=\"asks\"" : "");
}

std::string pattern_table(Trace const& trace, Scale const& shares) {
    std::string lines = "<th></th>";
    for (std::size_t key = 0; key < trace.tokens.size(); ++key) lines += column_head(trace, key);
    lines = element("tr", lines);
    for (std::size_t query = 0; query < trace.tokens.size(); ++query)
        lines += pattern_line(trace, shares, query);
    return element("table", element("caption", "rows = query (reads), columns = key (is read)") + lines,
                   "class=\"grid\"");
}

std::string side_markup(Side const& side, Scale const& shares) {
    return element("section",
                   side.head + sentence_markup(side.trace, shares) + pattern_markup(side.trace, shares));
}

}  // namespace

std::string facts_markup(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::string list =
        term("model", fmt::format("{}: {} heads a block, d_model {}, d_head {}", escaped(facts.model),
                                  facts.n_head, facts.d_model, facts.d_head)) +
        term("head", head_name(facts)) +
        term("row", fmt::format("{} {}, of {} tokens", facts.row, label_markup(trace.tokens[facts.row].bytes),
                                trace.tokens.size())) +
        term("run", facts.experiment.empty() ? "as GPT-2 computes it"
                                             : fmt::format("experiment <code>{}</code>: {}", facts.experiment,
                                                           escaped(facts.experiment_says)));
    if (!facts.left_out.empty()) list += term("left out", escaped(facts.left_out));
    return element("dl", list, "class=\"facts\"");
}

std::string pattern_markup(Trace const& trace, Scale const& shares) {
    std::size_t const n = trace.tokens.size();
    Window const shown = window_around(trace.facts.row, n, most_in_a_score_map);
    std::string const inside = n <= most_in_a_table
                                   ? pattern_table(trace, shares)
                                   : score_map(trace, trace.step(terms::softmax), shown, shares);
    return figure(inside, "The attention pattern");
}

std::string pair_markup(Side const& a, Side const& b) {
    Scale const shares =
        Scale::wider(Scale::shares(a.trace[terms::softmax]), Scale::shares(b.trace[terms::softmax]));
    return element("div", side_markup(a, shares) + side_markup(b, shares), "class=\"pair\"");
}

std::string row_markup(Trace const& trace, std::vector<Term> const& steps) {
    std::size_t const row = trace.facts.row;
    auto const keys = shown_keys(trace, row);
    std::string lines = "<th scope=\"row\">key</th>";
    for (std::size_t const key : keys) lines += column_head(trace, key);
    lines = element("tr", lines);
    for (Term const& step : steps) {
        std::string cells = fmt::format("<th scope=\"row\">{:02} {}</th>", step.number, step.name);
        for (std::size_t const key : keys)
            cells += fmt::format("<td title=\"{}\">{}</td>", trace[step](row, key),
                                 short_number(step, trace[step](row, key)));
        lines += element("tr", cells);
    }
    std::string const cut =
        keys.size() < trace.tokens.size()
            ? fmt::format(": the {} keys, of {}, that it reads most", keys.size(), trace.tokens.size())
            : "";
    std::string const caption = element("caption", fmt::format("Row {} of the four matrices{}", row, cut));
    return figure(element("table", caption + lines, "class=\"lines\""), "The scores of the row");
}

namespace {

// Bytes as they stand in a sentence: their label without the quotes, and without the escapes that only those
// need.
std::string in_a_sentence(std::string_view bytes) {
    std::string const quoted = label(bytes);
    std::string text;
    for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
        bool const is_escape = quoted[at] == '\\' && (quoted[at + 1] == '\'' || quoted[at + 1] == '\\');
        text += quoted[is_escape ? ++at : at];
    }
    return escaped(text);
}

// Tokens that make whole characters together: most are one, an emoji takes several.
struct Word {
    std::size_t first = 0, end = 0;
    std::string bytes;
};

Word word_at(Tokens const& tokens, std::size_t first) {
    constexpr std::size_t most = 4;  // bytes of a character
    Word word{first, first, ""};
    while (word.end < tokens.size() && word.end - first < most) {
        word.bytes += tokens[word.end++].bytes;
        if (find_invalid_utf8(word.bytes) == std::string_view::npos) return word;
    }
    return {first, first + 1, tokens[first].bytes};
}

// The space before a word stays outside of its box, where lines may break.
std::string word_markup(Trace const& trace, Scale const& scale, Word const& word) {
    std::size_t const row = trace.facts.row;
    double share = 0;
    std::string title;
    for (std::size_t pos = word.first; pos < word.end; ++pos) {
        share += static_cast<double>(trace[terms::softmax](row, pos));
        title += fmt::format("{}{}: {}", title.empty() ? "" : ", ", token_at(trace, pos),
                             trace[terms::softmax](row, pos));
    }
    std::string text = in_a_sentence(word.bytes);
    bool const is_spaced = text.size() > 1 && text[0] == ' ';
    if (is_spaced) text.erase(0, 1);
    bool const asks = word.first <= row && row < word.end;
    return fmt::format(R"({}<span class="{}{}" title="{}">{}</span>)", is_spaced ? " " : "",
                       word.first > row && share == 0 ? "later" : scale.name(share), asks ? " asks" : "",
                       escaped(title), text);
}

}  // namespace

std::string sentence_markup(Trace const& trace, Scale const& shares) {
    std::size_t const n = trace.tokens.size();
    Window const shown = window_around(trace.facts.row, n, 2 * most_in_a_score_map);
    std::string text;
    for (std::size_t pos = shown.first; pos < shown.end;) {
        Word const word = word_at(trace.tokens, pos);
        text += word_markup(trace, shares, word);
        pos = word.end;
    }
    return element("p", (shown.first > 0 ? "... " : "") + text + (shown.end < n ? " ..." : ""),
                   "class=\"sentence\"");
}

namespace {

using Shade = std::string_view (*)(std::string_view);

// Cells are labels as often as not: as in a label, spaces count, and text does not turn.
std::string inside(std::string const& cell) {
    return element("bdi", escaped(cell), "dir=\"ltr\"");
}

std::string data_cell(Table const& table, std::size_t column, std::string const& cell, Shade shade) {
    std::string classes = table.alignment(column) == Align::left ? "text" : "";
    if (shade != nullptr) classes += fmt::format(" {}", shade(cell));
    return element("td", inside(cell), fmt::format("class=\"{}\"", classes));
}

std::string head_cell(Table const& table, std::size_t column, std::string const& cell, bool of_column) {
    return element("th", inside(cell),
                   fmt::format(R"(scope="{}" class="{}")", of_column ? "col" : "row",
                               table.alignment(column) == Align::left ? "text" : ""));
}

std::string line(Table const& table, std::size_t number, std::size_t head_rows, Shade shade) {
    std::string cells;
    auto const& row = table.rows()[number];
    for (std::size_t column = 0; column < row.size(); ++column) {
        if (number < head_rows || column == 0)
            cells += head_cell(table, column, row[column], number < head_rows);
        else
            cells += data_cell(table, column, row[column], shade);
    }
    return element("tr", cells);
}

}  // namespace

std::string table_markup(Table const& table, std::size_t head_rows, std::string_view caption, Shade shade) {
    std::string lines = element("caption", escaped(caption));
    for (std::size_t number = 0; number < table.rows().size(); ++number)
        lines += line(table, number, head_rows, shade);
    return figure(element("table", lines, shade == nullptr ? "class=\"lines\"" : "class=\"grid\""), caption);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string label_markup(std::string_view bytes) {
    return fmt::format(R"(<bdi class="label" dir="ltr">{}</bdi>)", escaped(label(bytes)));
}

std::string element(std::string_view name, std::string_view inside, std::string_view attributes) {
    return fmt::format("<{0}{1}{2}>{3}</{0}>\n", name, attributes.empty() ? "" : " ", attributes, inside);
}

std::string figure(std::string_view inside, std::string_view name) {
    return element("figure", inside,
                   fmt::format(R"(tabindex="0" role="region" aria-label="{}")", escaped(name)));
}

std::string html_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"onehead " ONEHEAD_VERSION
        "\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        escaped(title), style_css(), body);
}

std::string_view shades_style() {
    return style_css().substr(0, style_css().find("/* Pages */"));
}

}  // namespace onehead
