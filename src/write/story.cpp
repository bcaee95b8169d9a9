#include "write/story.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <initializer_list>

#include "study/measure.hpp"
#include "study/pattern.hpp"
#include "write/numbers.hpp"
#include "write/scores_in_words.hpp"

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

}  // namespace onehead
