#include "write/html.hpp"

#include <fmt/format.h>
#include <cctype>

#include "write/html_parts.hpp"
#include "write/markup.hpp"
#include "write/score_map.hpp"
#include "write/sentence.hpp"
#include "write/story.hpp"
#include "write/symbols.hpp"
#include "write/vector_map.hpp"

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
           facts_markup(trace) + element("h2", "The pattern") +
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

}  // namespace onehead
