#include "write/text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "study/pattern.hpp"
#include "write/numbers.hpp"
#include "write/prose.hpp"
#include "write/row_tables.hpp"
#include "write/table.hpp"

namespace onehead {
namespace {

std::vector<Term> const inputs_and_views{terms::token_embedding,
                                         terms::position_embedding,
                                         terms::residual,
                                         terms::normalized,
                                         terms::q,
                                         terms::k,
                                         terms::v};
std::vector<Term> const score_steps{terms::scores, terms::scaled_scores, terms::masked_scores,
                                    terms::softmax};
std::vector<Term> const out_of_the_head{terms::output_projection, terms::other_heads, terms::projection_bias,
                                        terms::residual_after};

std::string asking_row(Trace const& trace) {
    return "row " + token_at(trace, trace.facts.row);
}

std::string introduction(Trace const& trace) {
    return heading("One attention head, followed through one row", '=').substr(1) + run_table(trace) + "\n" +
           token_table(trace) + "\n" +
           paragraph(
               fmt::format("One row asks: {}. This page follows it from the residual stream, through the "
                           "head, and back. Every other row does the same at the same time, and the files "
                           "beside this page hold them all. Numbers are rounded here and exact there.",
                           asking_row(trace)));
}

std::string views(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::string const text = fmt::format(
        "The row is {} numbers wide. The head reads it three times, each time through a matrix of its own "
        "that leaves {} numbers: a query (what it looks for), a key (what it advertises) and a value (what "
        "it hands over if it gets picked).",
        facts.d_model, facts.d_head);
    return heading("1. The row becomes a query, a key and a value") + paragraph(text) + "\n" +
           vector_table(trace, inputs_and_views) + "\n" + definitions(trace, inputs_and_views);
}

std::string scores(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::size_t const n = trace.tokens.size();
    std::string const text = fmt::format(
        "The query of {} is held against the key of every row: {} products and their sum, one score a key.",
        asking_row(trace), facts.d_head);
    std::string const caption = fmt::format(
        "Row {} of four matrices [query_pos, key_pos] = [{}, {}]; rows = query (reads), columns = key (is "
        "read).",
        facts.row, n, n);
    return heading("2, 3, 4. It scores every key, divides, masks, and takes shares") + paragraph(text) +
           "\n" + paragraph(caption, "  ") + "\n" + score_table(trace, facts.row, score_steps) + "\n" +
           definitions(trace, score_steps) + "\n" + pattern_sentence(trace, facts.row);
}

std::string blend(Trace const& trace) {
    std::string const text = fmt::format(
        "Each row that is read hands over its value, {} numbers, times its share. The sum is the blend.",
        trace.facts.d_head);
    std::string const widened = fmt::format(
        "A last matrix widens the blend to {} numbers: what this head says to the row. The other heads of "
        "the block say theirs, the block adds one bias, and all of it is added to the row. Nothing is "
        "overwritten.",
        trace.facts.d_model);
    return heading("5. It takes home a blend of values, and adds it to the row") + paragraph(text) + "\n" +
           blend_table(trace) + "\n" + definitions(trace, {terms::blend}) + "\n" + paragraph(widened) + "\n" +
           addition_table(trace) + "\n" + definitions(trace, out_of_the_head);
}

}  // namespace

std::string run_table(Trace const& trace) {
    Facts const& facts = trace.facts;
    Table table{{Align::left}};
    table.add({"text", fmt::format("{} ({} tokens)", label(facts.text), trace.tokens.size())});
    table.add({"model", fmt::format("{} ({} heads a block, d_model {}, d_head {})", facts.model, facts.n_head,
                                    facts.d_model, facts.d_head)});
    table.add({"head", head_name(facts)});
    table.add({"row", token_at(trace, facts.row)});
    table.add({"run", facts.experiment.empty()
                          ? "as GPT-2 computes it"
                          : fmt::format("experiment \"{}\": {}", facts.experiment, facts.experiment_says)});
    return table.text() + (facts.left_out.empty() ? "" : "\n" + paragraph(facts.left_out + ".", "  "));
}

std::string definitions(Trace const& trace, std::vector<Term> const& steps) {
    std::string page;
    for (Term const& term : steps)
        if (auto const* step = trace.find(term))
            page += fmt::format("  {:02} {} [{}, {}] = [{}, {}], in {}.csv\n     = {}\n     {}\n",
                                term.number, term.name, term.rows, term.columns, row_count(step->values),
                                column_count(step->values), file_stem(term), step->formula, term.meaning);
    return page;
}

std::string pattern_sentence(Trace const& trace, std::size_t row) {
    auto const weights = onehead::row(trace[terms::softmax], row);
    auto const seen = describe_pattern_row(weights);
    double sum = 0;
    for (double const weight : weights) sum += weight;
    return paragraph(
        fmt::format("Row {} gives most to row {}: {}. Its shares add up to {:.6f}, and are as spread out as "
                    "if it read {:.1f} rows equally (e to the entropy of its shares).",
                    token_at(trace, row), token_at(trace, seen.favourite), short_weight(seen.largest), sum,
                    seen.effective_rows));
}

std::string trace_text(Trace const& trace) {
    return introduction(trace) + views(trace) + scores(trace) + blend(trace);
}

std::string trace_summary(Trace const& trace) {
    return run_table(trace) + "\n" + score_table(trace, trace.facts.row, score_steps) + "\n" +
           pattern_sentence(trace, trace.facts.row);
}

}  // namespace onehead
