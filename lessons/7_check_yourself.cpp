// Lesson 7: check it yourself. Rows that add up to 1, exact zeros, words that change, PyTorch's numbers, and
// the mistakes on the way to a pattern of your own.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>

#include "lesson.hpp"
#include "onehead/attention/experiments.hpp"
#include "onehead/error.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/study/causality.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void ask_about_sums(Lesson& l) {
    PatternSums const seen = sum_pattern(l.trace()[terms::softmax]);
    std::size_t const n = l.trace().tokens.size();
    l.tell(
        "This lesson looks for what could be wrong with a pattern: its sums and zeros, words that it must "
        "not depend on, usual mistakes, and the numbers of another program. This is the pattern of this "
        "head:");
    l.show(pattern_grid(l.trace()));
    l.ask("Does every row of the attention pattern add up to 1, and how much does a row give to later rows?",
          3);
    l.answer(say("{} The worst row is off by {}. {}", seen.worst_sum < 1e-6 ? "Yes, to rounding." : "No (!).",
                 change(seen.worst_sum),
                 seen.later == 0                 ? Inline{"There is no later row."}
                 : seen.exact_zeros < seen.later ? say("Of {} on later rows, {} are exactly 0 (!).",
                                                       counted(seen.later, "weight"), seen.exact_zeros)
                 : seen.later == 1               ? Inline{"The one weight on a later row is exactly 0."}
                                   : say("All {} weights on later rows are exactly 0.", seen.later)));
    l.check_with(fmt::format("awk -F, 'NR > 1 {{ s = 0; for (i = 0; i < {}; ++i) s += $(NF - i); printf "
                             "\"%.6f \", s }} END {{ print \"\" }}' {}/11_softmax.csv",
                             n, l.folder()),
                 "1.000000 for each row.");
}

// Another token for a position: " dog", or where that is already or the model lacks it, one from elsewhere in
// the text. Nothing if there is no other.
std::optional<int> replacement(Lesson const& l, std::size_t pos) {
    auto const ids = token_ids(l.trace());
    constexpr int dog = 3290;
    if (l.model().own_tokens().empty() && ids[pos] != dog && l.model().config().vocab_size > dog &&
        l.model().tokens({dog}).front().bytes == " dog")
        return dog;
    auto const other = std::ranges::find_if(ids, [&](int id) { return id != ids[pos]; });
    return other == ids.end() ? std::nullopt : std::optional{*other};
}

// Of the steps that a reader looks at first.
Causality with_steps(Causality causality, std::initializer_list<Term> steps) {
    std::erase_if(causality.steps, [&](StepVerdict const& step) {
        return std::ranges::find(steps, step.term) == steps.end();
    });
    return causality;
}

void ask_about_change(Lesson& l, std::size_t pos) {
    auto const other = replacement(l, pos);
    if (!other) return l.tell("All tokens of this text are the same, so none is exchanged here.");
    std::size_t const n = l.trace().tokens.size();
    Request changed{
        .token_ids = token_ids(l.trace()), .layer = l.trace().facts.layer, .head = l.trace().facts.head};
    (*changed.token_ids)[pos] = *other;
    changed.row = l.row();
    Trace const after = trace(l.model(), changed);
    Causality const causality = check_causality(l.trace(), after);
    auto const moved = [&](std::size_t i) {
        return !compare(l.trace()[terms::softmax], after[terms::softmax], [&](std::size_t row, std::size_t) {
                    return row == i;
                }).same();
    };
    std::size_t before = 0, from = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (moved(i)) ++(i < pos ? before : from);
    std::size_t const here = n - pos;  // the row of the changed token, and those after it
    l.ask(say("Put {} in the place of {}. Which rows of the pattern change?",
              token_label(after.tokens[pos].bytes), l.token(pos)));
    l.answer(say("{} {} {}",
                 before > 0 ? fmt::format("{} of the {} before it change (!).", before, counted(pos, "row"))
                 : pos == 0 ? "No row comes before it."
                 : pos == 1 ? "Row 0, before it, does not change."
                            : fmt::format("None of rows 0 to {}, before it, changes.", pos - 1),
                 here == 1      ? fmt::format("Row {} itself {}.", pos,
                                         from == 1 ? "changes" : "keeps its weights, to the last bit")
                 : from == here ? fmt::format("All {} rows from there on change.", here)
                 : from == 0
                     ? fmt::format("None of the {} rows from there on changes: only scores move.", here)
                     : fmt::format("{} of the {} rows from there on change.", from, here),
                 !causality.holds() ? "Something changed that must not (!)."
                 : from == 0        ? "A pattern need not depend on a word that its rows can see."
                             : "A pattern depends on the input, but only on the input that a row can see."));
    if (pos == 1 || n < 3) {
        l.answer_with(causality_table(
            with_steps(causality, {terms::normalized, terms::scores, terms::masked_scores, terms::softmax}),
            after.tokens));
        if (pos > 0)
            l.answer(
                "The raw scores are not masked yet: there every row has a column for the changed token, so "
                "rows before it change too.");
    }
    if (l.model().own_tokens().empty() && !l.model().tokens({*other}).front().bytes.empty() &&
        l.model().encode(after.facts.text) == token_ids(after))
        l.check_with(l.commands().on_changed_word(pos, l.trace().tokens[pos].bytes, after.tokens[pos].bytes),
                     "PASS, and the changes of all steps.");
    else
        l.check_with(l.commands().on_these_tokens("trace", *changed.token_ids),
                     "The changed run; compare its line \"11 softmax\" with the one of the first run.");
}

void ask_about_mistakes(Lesson& l) {
    auto const mistakes = usual_mistakes(l.run());
    std::vector<Inline> says;
    says.reserve(mistakes.size());
    for (Mistake const& one : mistakes) says.push_back(std::string{one.experiment->changes});
    auto const shown = static_cast<std::size_t>(
        std::ranges::count_if(mistakes, [](Mistake const& one) { return one.cells_apart > 0; }));
    Mistake const& plausible = mistakes[1];
    l.ask(
        say("Someone writes a program for the pattern and makes one mistake: it {}. Which of these mistakes "
            "show in the pattern?",
            joined(says, "; or it ")),
        6);
    l.answer(say("{} a weight by more than 5e-6, the tolerance for rounding.{}",
                 shown == 0   ? fmt::format("None of {} changes", mistakes.size())
                 : shown == 1 ? fmt::format("1 of {} changes", mistakes.size())
                              : fmt::format("{} of {} change", shown, mistakes.size()),
                 l.trace().tokens.size() == 1 ? " A row that can read only itself hides every mistake."
                 : 2 * shown < mistakes.size()
                     ? (shown == 0 ? " The scores of this head are so far apart that they hide them."
                                   : " The scores of this head are so far apart that they hide the others.")
                     : ""));
    l.answer_with(mistakes_table(mistakes, l.trace()[terms::softmax].size()));
    if (plausible.largest > 0)
        l.answer(
            say("The one with sqrt(d_model) is hard to notice: later rows get weight 0 and the rows add up "
                "to 1, as they should (the worst is off by {}), though a weight is off by up to {}. Only "
                "numbers to compare with can tell.",
                change(plausible.worst_sum), change(plausible.largest)));
    l.check_with_experiment("unscaled", mistakes[0].largest == 0
                                            ? Inline{"The first of them: the patterns are bit-identical."}
                                            : say("The first of them: a weight differs by up to {}.",
                                                  fmt::format("{:.2g}", mistakes[0].largest)));
}

// The pattern that PyTorch computed comes with the program, for one text and model.
void ask_about_pytorch(Lesson& l) {
    l.part("Against PyTorch");
    l.tell(
        "The Python library transformers can return the pattern: load GPT-2 with "
        "attn_implementation=\"eager\" and call it with output_attentions=True. Since version 4.42 its "
        "default for GPT-2 is PyTorch's own scaled "
        "dot-product attention (SDPA), which does not return patterns: in current versions you get none, and "
        "no error.");
    auto const reference = pytorch_values(l.trace());
    if (!reference)
        return l.tell(
            "Such a pattern comes with this program for gpt2-mini and the text \"The cat sat on the mat\": "
            "lesson 7 without options compares it. For another run, make one and use \"onehead check\".");
    Trace const unscaled = trace(l.run(), "unscaled");
    Tolerance const tolerance = default_tolerance(terms::softmax, l.trace().facts.layer, false);
    Check const right = check(l.trace().step(terms::softmax), reference->pattern, tolerance);
    Check const wrong = check(unscaled.step(terms::softmax), reference->pattern, tolerance);
    auto const passes = [](Check const& c) { return c.passed() ? "passes" : "fails"; };
    l.keep_file("pytorch.safetensors", reference->bytes);
    l.ask(
        "transformers 5.17 computed the pattern of this head too, in float64. Does ours match, scaled and "
        "unscaled?");
    l.answer(
        say("Scaled it {}: the largest difference is {} where 5e-6 is allowed. Unscaled it {}: {} of {} "
            "cells are out of tolerance, by up to {}.{}",
            passes(right), change(right.worst.difference), passes(wrong), wrong.out_of_tolerance, wrong.cells,
            change(wrong.worst.difference),
            wrong.passed() ? " This head is so sharp that the division changes next to nothing." : ""));
    l.check_with(l.commands().onehead(fmt::format(
                     "check {0} {0}/pytorch.safetensors --step softmax --tensor {1}.pattern --part {2}",
                     l.folder(), l.trace().facts.layer, l.trace().facts.head)),
                 say("{}, and the largest difference.", right.passed() ? "PASS" : "FAIL"));
}

void lesson(Lesson& l) {
    std::size_t const n = l.trace().tokens.size();
    l.keep({terms::softmax});
    ask_about_sums(l);
    if (l.model().has_hidden_states(l.trace().facts.layer)) {
        l.tell(
            "This excerpt holds the rows of one text only, so no word of it can be exchanged here; a whole "
            "model takes any text.");
    } else {
        if (n > 2) ask_about_change(l, 1);
        ask_about_change(l, n - 1);
    }
    ask_about_mistakes(l);
    if (ask_about_next(l,
                       say("Leave out the division in this head, and then in every head of the model. Does "
                           "the model expect another token after row {}?",
                           l.token(l.row())),
                       "unscaled"))
        answer_with_all_unscaled(l);
    ask_about_pytorch(l);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"7_check_yourself", "7: check yourself", "How do you know that all this is right?",
                           onehead::lesson});
}
