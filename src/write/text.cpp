#include "write/text.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "write/prose.hpp"
#include "write/row_tables.hpp"
#include "write/story.hpp"
#include "write/symbols.hpp"
#include "write/table.hpp"

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
           paragraph(pattern_sentence(trace, trace.facts.row));
}

}  // namespace onehead
