#include "onehead/pages/story.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "onehead/pages/text.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

std::string asking_row(Trace const& trace) {
    return "row " + token_at(trace, trace.facts.row);
}

std::span<float const> asked(Trace const& trace, Term const& term) {
    return row(trace[term], trace.facts.row);
}

std::string changes(Trace const& trace, std::vector<Term> const& steps) {
    std::string list;
    for (Term const& term : steps)
        if (auto const& step = trace.step(term); is_changed(trace, step))
            list += fmt::format("{}{} = {}", list.empty() ? "" : "; ", file_stem(term), step.formula);
    return list;
}

// A chapter about those of the steps that the trace has. What an experiment changes in them is said before
// the numbers.
Chapter chapter(Trace const& trace, std::string title, std::vector<std::string> before,
                std::initializer_list<Term> steps, std::vector<std::string> after = {}) {
    Chapter result{std::move(title), std::move(before), {}, std::move(after)};
    for (Term const& term : steps)
        if (trace.find(term) != nullptr) result.steps.push_back(term);
    if (std::string const list = changes(trace, result.steps); !list.empty())
        result.before.push_back(
            fmt::format("That is how GPT-2 does it. This run is the experiment \"{}\", and differs here: {}.",
                        trace.facts.experiment, list));
    return result;
}

std::string where_it_comes_from(Trace const& trace) {
    std::size_t const layer = trace.facts.layer;
    if (trace.find(terms::token_embedding) != nullptr)
        return fmt::format(
            "Row {0} begins as the sum of two learned rows: what the model knows of the token {1}, wherever "
            "it stands, and what it knows of position {0}, whatever stands there.",
            trace.facts.row, label(trace.tokens[trace.facts.row].bytes));
    if (trace.find(terms::residual) != nullptr && layer > 0)
        return fmt::format(
            "The row comes off the residual stream, where {} before this one {} written into it. It began as "
            "{}; by now it also holds what was read from the rows before it.",
            layer == 1 ? "the block" : fmt::format("the {} blocks", layer), layer == 1 ? "has" : "have",
            label(trace.tokens[trace.facts.row].bytes));
    return "The row itself is not in this trace; it begins with the row as the head reads it.";
}

std::string how_it_is_normalized(Trace const& trace) {
    std::string const figures =
        trace.find(terms::residual) == nullptr
            ? ""
            : fmt::format(" (here {:.3f} and {:.3f})", mean(asked(trace, terms::residual)),
                          spread(asked(trace, terms::residual)));
    return fmt::format(
        "Before the head reads it, the row is normalized: its mean is taken away, what is left is divided by "
        "its spread{}, and each of its {} places gets a learned gain and bias. The head never sees the raw "
        "row.",
        figures, trace.facts.d_model);
}

Chapter arrival(Trace const& trace) {
    return chapter(trace, "The row arrives", {where_it_comes_from(trace), how_it_is_normalized(trace)},
                   {terms::token_embedding, terms::position_embedding, terms::residual, terms::normalized});
}

Chapter views(Trace const& trace) {
    return chapter(
        trace, "It is read three times",
        {fmt::format("The head reads the normalized row three times, each time through a learned matrix of "
                     "its own, {} by {}, with a bias. Three short rows of {} numbers come out: the query is "
                     "what the row is looking for, the key is what it advertises to every row that looks at "
                     "it, the value is what it hands over if it gets picked. The query of {} goes out now to "
                     "ask; its key and its value wait for whoever asks.",
                     trace.facts.d_model, trace.facts.d_head, trace.facts.d_head, asking_row(trace))},
        {terms::q, terms::k, terms::v});
}

Chapter scoring(Trace const& trace) {
    return chapter(trace, "It asks every row, and divides its attention",
                   {how_it_scores(trace), how_it_divides(trace), how_it_masks(trace), how_it_shares()},
                   {terms::scores, terms::scaled_scores, terms::masked_scores, terms::softmax},
                   {pattern_sentence(trace, trace.facts.row)});
}

Chapter blending(Trace const& trace) {
    auto const weights = asked(trace, terms::softmax);
    auto const read = std::count_if(weights.begin(), weights.end(), [](float weight) { return weight != 0; });
    return chapter(
        trace, "It takes home a blend",
        {fmt::format("{}, times the share that row {} gave {}. The sum is the blend: what was found, in the "
                     "proportions in which it was wanted.",
                     read == 1 ? fmt::format("One row hands over its value, {} numbers", trace.facts.d_head)
                               : fmt::format("{} rows hand over their values, {} numbers each", read,
                                             trace.facts.d_head),
                     trace.facts.row, read == 1 ? "it" : "them")},
        {terms::blend});
}

std::string lengths(Trace const& trace) {
    if (trace.find(terms::residual) == nullptr) return "";
    return fmt::format(
        " In this row: {:.2f} long when it arrives, plus {:.2f} from this head and {:.2f} from the others, "
        "{:.2f} when it leaves (lengths, as of arrows; they do not simply add up).",
        length(asked(trace, terms::residual)), length(asked(trace, terms::output_projection)),
        length(asked(trace, terms::other_heads)), length(asked(trace, terms::residual_after)));
}

Chapter addition(Trace const& trace) {
    return chapter(
        trace, "What it found is added to the row",
        {fmt::format("A last learned matrix, {} by {}, widens the blend to a full row: what this head has to "
                     "say to {}. The other {} of the block say theirs, the block adds one bias, and all of "
                     "it is added to the row that arrived. Nothing is overwritten.{}",
                     trace.facts.d_head, trace.facts.d_model, asking_row(trace),
                     trace.facts.n_head == 2 ? "head" : fmt::format("{} heads", trace.facts.n_head - 1),
                     lengths(trace))},
        {terms::output_projection, terms::other_heads, terms::projection_bias, terms::residual_after});
}

}  // namespace

bool is_changed(Trace const& trace, Step const& step) {
    return !trace.facts.experiment.empty() && !(step.term == terms::residual) &&
           step.formula != step.term.formula;
}

std::string story_title(Trace const& trace) {
    return fmt::format("How row {} reads", token_at(trace, trace.facts.row));
}

std::vector<Chapter> tell_story(Trace const& trace) {
    return {arrival(trace), views(trace), scoring(trace), blending(trace), addition(trace)};
}

namespace {

using Row = std::span<float const>;

std::size_t place_of(Row::iterator found, Row row) {
    return static_cast<std::size_t>(std::distance(row.begin(), found));
}

// The largest share that a softmax over these scores gives.
double largest_share(Row scores) {
    double const largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double const score : scores) sum += std::exp(score - largest);
    return 1 / sum;
}

// What row `row` would call a row that it reads.
std::string called(Trace const& trace, std::size_t key, std::size_t row) {
    return key == row ? "itself" : "row " + token_at(trace, key);
}

// The next few after the favourite, if they get a twentieth or more.
std::string who_else(Trace const& trace, std::size_t row, std::size_t favourite) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    std::vector<std::size_t> others;
    for (std::size_t key = 0; key < weights.size(); ++key)
        if (key != favourite && weights[key] >= 0.05) others.push_back(key);
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 3); ++i)
        list += fmt::format("{}{} {}", i == 0 ? ", then to " : ", ", called(trace, others[i], row),
                            short_weight(weights[others[i]]));
    return list;
}

}  // namespace

std::string how_it_scores(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    Row const seen = onehead::row(trace[terms::scores], row).first(row + 1);
    std::string how = fmt::format(
        "The query of row {} is held against the key of every row, its own too: their {} numbers are "
        "multiplied place by place, and the products are added up. The sum is a score: how strongly row {} "
        "wants that row.",
        token_at(trace, row), trace.facts.d_head, row);
    if (row == 0) return how;
    auto const best = std::max_element(seen.begin(), seen.end());
    auto const worst = std::min_element(seen.begin(), seen.end());
    return how + fmt::format(" Of the rows up to its own it wants row {} most ({}) and row {} least ({}).",
                             token_at(trace, place_of(best, seen)), short_score(*best),
                             token_at(trace, place_of(worst, seen)), short_score(*worst));
}

std::string how_it_divides(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    std::string how = fmt::format(
        "A sum of {0} products easily grows large, and softmax is exponential: so every score is divided by "
        "the square root of {0}, which is {1:.4g}.",
        trace.facts.d_head, std::sqrt(static_cast<double>(trace.facts.d_head)));
    if (row == 0 || !trace.facts.experiment.empty()) return how;
    Row const raw = onehead::row(trace[terms::scores], row).first(row + 1);
    std::string const divided =
        short_weight(describe_pattern_row(onehead::row(trace[terms::softmax], row)).largest);
    std::string const undivided = short_weight(largest_share(raw));
    if (divided == undivided)
        return how +
               fmt::format(" In this row it hardly shows: undivided, the largest share would be {} too.",
                           undivided);
    return how + fmt::format(" Undivided, the largest share of this row would be {} instead of {}.",
                             undivided, divided);
}

std::string how_it_masks(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    std::size_t const later = trace.tokens.size() - 1 - row;
    std::string const rule = "A row may read itself and what came before it. ";
    if (later == 0) return rule + "This is the last row: nothing comes later, and nothing is masked.";
    Row const scores = onehead::row(trace[terms::scores], row);
    auto const best = std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(row) + 1, scores.end());
    return rule + fmt::format(
                      "{} later, whatever {} score{} (up to {}, of row {}): there the score is replaced by "
                      "-inf.",
                      later == 1 ? "1 row comes" : fmt::format("{} rows come", later),
                      later == 1 ? "its" : "their", later == 1 ? "" : "s", short_score(*best),
                      token_at(trace, place_of(best, scores)));
}

std::string how_it_shares() {
    return "Softmax turns what is left into shares: e to the power of each score, divided by the sum of "
           "these over the row. e to the power of -inf is 0, so a masked row gets exactly nothing.";
}

std::string pattern_sentence(Trace const& trace, std::size_t row) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    PatternRow const seen = describe_pattern_row(weights);
    double sum = 0;
    for (double const weight : weights) sum += weight;
    std::string const rest_here =
        seen.favourite == 0 && row > 0 && seen.largest > 0.5
            ? " Many heads have learned to rest on the first row what they have no better use for."
            : "";
    return fmt::format(
        "Row {} gives most to {}: {}{}. Its shares add up to {:.6f}, and are as spread out as if it read "
        "{:.1f} rows equally (e to the entropy of its shares).{}",
        token_at(trace, row), called(trace, seen.favourite, row), short_weight(seen.largest),
        who_else(trace, row, seen.favourite), sum, seen.effective_rows, rest_here);
}

namespace {

// clang-format off
constexpr std::array<std::pair<int, std::string_view>, terms::all.size()> formulas{{
    {1, "t<sub>i</sub> = wte[id<sub>i</sub>]"},
    {2, "p<sub>i</sub> = wpe[i]"},
    {3, "r<sub>i</sub> = t<sub>i</sub> + p<sub>i</sub>"},
    {4, "x<sub>i</sub> = (r<sub>i</sub> − μ<sub>i</sub>) / √(σ<sub>i</sub>² + ε) · γ + β"},
    {5, "q<sub>i</sub> = x<sub>i</sub> W<sub>q</sub> + b<sub>q</sub>"},
    {6, "k<sub>j</sub> = x<sub>j</sub> W<sub>k</sub> + b<sub>k</sub>"},
    {7, "v<sub>j</sub> = x<sub>j</sub> W<sub>v</sub> + b<sub>v</sub>"},
    {8, "s<sub>ij</sub> = Σ<sub>d</sub> q<sub>id</sub> k<sub>jd</sub>"},
    {9, "s′<sub>ij</sub> = s<sub>ij</sub> / √d<sub>head</sub>"},
    {10, "m<sub>ij</sub> = s′<sub>ij</sub> for j ≤ i, −∞ for j &gt; i"},
    {11, "a<sub>ij</sub> = exp(m<sub>ij</sub>) / Σ<sub>j</sub> exp(m<sub>ij</sub>)"},
    {12, "z<sub>i</sub> = Σ<sub>j</sub> a<sub>ij</sub> v<sub>j</sub>"},
    {13, "o<sub>i</sub> = z<sub>i</sub> W<sub>o</sub>"},
    {14, "h<sub>i</sub> = Σ o<sub>i</sub> of the other heads"},
    {15, "b<sub>o</sub>"},
    {16, "r′<sub>i</sub> = r<sub>i</sub> + o<sub>i</sub> + h<sub>i</sub> + b<sub>o</sub>"},
}};
// clang-format on

bool is_used(Trace const& trace, std::string_view name) {
    return std::any_of(trace.steps().begin(), trace.steps().end(), [&](Step const& step) {
        return step.formula.find(name) != std::string::npos || step.term.rows == name ||
               step.term.columns == name;
    });
}

}  // namespace

std::vector<Symbol> explain_symbols(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::vector<Symbol> all{
        {"pos", "a position in the text, from 0, and the row that stands there"},
        {"query_pos", "the position of a row that reads"},
        {"key_pos", "the position of a row that is read"},
        {"d_model", fmt::format("the width of a row of the model: {}", facts.d_model)},
        {"d_head", fmt::format("the width of a query, a key and a value: {}", facts.d_head)},
        {"wte", "a learned row for each token of the vocabulary"},
        {"wpe", "a learned row for each position"},
        {"mean", "the mean of the numbers of a row"},
        {"variance", "the mean of the squares of what is left when the mean is taken away"},
        {"epsilon", fmt::format("keeps the root from being 0: {}", facts.layer_norm_epsilon)},
        {"gain", "gain and bias: learned, a number each for every place of a row"},
        {"W_q", "W_q, W_k, W_v: learned, [d_model, d_head], this head's own"},
        {"b_q", "b_q, b_k, b_v: learned, [d_head], added to every row"},
        {"W_o", "learned, [d_head, d_model], this head's own"},
        {"b_o", "learned, [d_model], the block's"},
        {"sum over d", "over the d_head places of a query and a key"},
        {"sqrt", "the square root"},
        {"exp", "e = 2.71828... to the power of"},
        {"-inf", "minus infinity: less than any score"},
        {"MLP", "the other half of a block, which works on each row alone"}};
    std::erase_if(all, [&](Symbol const& symbol) { return !is_used(trace, symbol.name); });
    return all;
}

std::string_view formula_in_symbols(Term const& term) {
    return formulas.at(static_cast<std::size_t>(term.number) - 1).second;
}

}  // namespace onehead
