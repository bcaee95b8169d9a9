// Lesson 4: erase what comes later, then turn scores into shares.
#include <fmt/format.h>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/study/statistics.hpp"
#include "onehead/study/survey.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void lesson(Lesson& l) {
    Matrix const& pattern = l.trace()[terms::softmax];
    std::size_t const n = row_count(pattern);
    PatternSums const seen = sum_pattern(pattern);
    HeadSurvey const survey = survey_head(l.trace()[terms::scores], pattern, token_ids(l.trace()));
    l.keep({terms::scaled_scores, terms::masked_scores, terms::softmax});
    l.tell(
        fmt::format("Row {} may read rows 0 to {}. The scores of later rows, {} here, are set to -inf; "
                    "softmax turns the rest into shares.",
                    token_at(l.trace(), l.row()), l.row(), n - 1 - l.row()));
    std::vector<Term> const steps{terms::scaled_scores, terms::masked_scores, terms::softmax};
    l.show(score_table(l.trace(), l.row(), steps));
    l.tell("The whole matrix of weights is the attention pattern:");
    l.show(pattern_grid(l.trace()));
    l.play("mask");

    l.ask("How many cells does the mask erase in the whole matrix, and what are they after the softmax?");
    l.answer(
        fmt::format("{} of {}: everything above the diagonal. {} of them are exactly 0 afterwards, and each "
                    "row's shares add up to 1 (the worst row is off by {:.0e}).",
                    seen.later, n * n, seen.exact_zeros, seen.worst_sum));
    l.check_with(fmt::format("grep -o ',-inf' {}/10_masked_scores.csv | wc -l", l.folder()));

    l.ask("Why -inf, and why before the softmax? What do other rules make of this row's shares?");
    l.answer_with(mask_table(l.run(), l.row()));
    Matrix const low = softmax(Matrix{{-10002, -10000}});
    l.answer(
        fmt::format("A large finite number serves until scores come near it: if a row's one visible score is "
                    "-10002, a masked -10000 beside it takes {} of the attention.",
                    weight(low(0, 1))));
    l.check_with(l.commands().on_this_run("trace --experiment masked-after-softmax"));

    l.ask("What can row 0 read?");
    l.answer(fmt::format(
        "Itself: its pattern is {} on row 0 whatever the text says.{}", weight(pattern(0, 0)),
        n == 1 ? ""
               : fmt::format(" For later rows the first token is a choice, and in many heads a learned place "
                             "for attention that should do nothing. Here rows 1 to {} give it {} on average.",
                             n - 1, weight(survey.first))));
    l.check_with(l.commands().on_this_text("heads"));

    l.ask(fmt::format("What is the share of row {} made of?",
                      describe_pattern_row(row(pattern, l.row())).favourite));
    l.answer_worked(terms::softmax, l.row(), describe_pattern_row(row(pattern, l.row())).favourite);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(
        argc, argv,
        {"4_mask_softmax", "4: mask, then softmax",
         "How do scores become weights, and what keeps a row from reading on?", onehead::lesson});
}
