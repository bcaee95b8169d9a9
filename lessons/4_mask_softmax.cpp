// Lesson 4: mask what comes later, then turn scores into weights.
#include <fmt/format.h>
#include <algorithm>

#include "lesson.hpp"
#include "onehead/attention/experiments.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void tell_mask(Lesson& l) {
    std::size_t const n = l.trace().tokens.size(), later = n - 1 - l.row();
    l.tell(say(
        "So far row {} has a score for every row of the text, {}. The causal mask sets the scores of later "
        "rows to -inf; e to the power of -inf is 0, so they get exactly no weight. It is there because the "
        "model learns to predict the next token: a row that could read later rows could read the answer off.",
        l.token(l.row()),
        later == 0   ? "and none comes later: it is the last one"
        : later == 1 ? "including the one that comes later"
                     : fmt::format("including the {} that come later", later)));
    l.tell(
        "Softmax turns what is left into weights: e to the power of each score, divided by the sum of these "
        "powers over the row. The weights are not negative and add up to 1.");
}

void ask_what_is_masked(Lesson& l, Matrix const& pattern) {
    std::size_t const n = row_count(pattern);
    PatternSums const seen = sum_pattern(pattern);
    l.ask(
        "The scores form a square, a row for each token that asks and a column for each that is read. How "
        "many of its cells does the mask set to -inf, and what are they after the softmax?",
        3);
    l.answer(say(
        "{} The weights of each row add up to 1; the worst is off by {}.",
        seen.later == 0
            ? Inline{"None: this text has one row, and nothing comes later."}
            : say("{} of {}: all cells right of the diagonal. {} exactly 0 afterwards.", seen.later, n * n,
                  seen.later == 1 && seen.exact_zeros == 1 ? Inline{"It is"}
                  : seen.exact_zeros == seen.later         ? Inline{"All of them are"}
                                                           : say("{} of them are", seen.exact_zeros)),
        change(seen.worst_sum)));
    l.check_with(fmt::format("grep -o ',-inf' {}/10_masked_scores.csv | wc -l", l.folder()),
                 say("It prints {}.", seen.later));
}

void ask_about_other_masks(Lesson& l) {
    std::vector<OtherMask> const masks = other_masks(l.run(), l.row());
    auto const changed = std::ranges::count_if(masks, [](OtherMask const& one) { return one.moves > 0; });
    l.ask(say("What would these rules make of the weights of row {} instead? (a) no mask; (b) the mask after "
              "the softmax, which sets weights to 0; (c) 0 instead of -inf; (d) -10000 instead of -inf.",
              l.token(l.row())),
          6);
    l.answer_with(mask_table(masks));
    if (l.row() + 1 == l.trace().tokens.size()) {
        l.answer(
            "This is the last row: nothing comes later, so all rules agree. Take an earlier row (--row) to "
            "tell them apart.");
    } else {
        double const next = trace(l.run(), "unmasked")[terms::softmax](l.row(), l.row() + 1);
        l.answer(
            say("{} the weights of this row. Without a mask, row {} would give {} to row {}, the very token "
                "that it has to predict.{}",
                changed == 0   ? "None of the 4 changes"
                : changed == 1 ? "1 of the 4 changes"
                               : fmt::format("{} of the 4 change", changed),
                l.row(), weight(next), l.token(l.row() + 1),
                next == 0 ? " Its scores are so far apart that this token gets nothing even so." : ""));
    }
    Matrix const low = softmax(Matrix{{-10002, -10000}});
    l.answer(
        say("-10000 works as long as real scores stay far above it. If the one score that a row may see is "
            "-10002, a cell masked by -10000 gets {} of the weight; masked by -inf it would get 0.",
            weight(low(0, 1))));
    double const total = masks[1].total;
    l.check_with(l.commands().at_row("trace --experiment masked-after-softmax", l.row()),
                 std::fabs(total - 1) > 1e-5
                     ? say("Rule (b). \"Its weights add up to {} and not to 1.\"", fixed(total, 6))
                     : say("Rule (b). The weights add up to {}.", fixed(total, 6)));
}

void ask_about_row_0(Lesson& l, Matrix const& pattern) {
    std::size_t const n = row_count(pattern);
    l.ask(
        "What can row 0 read? How much weight do later rows give to row 0, compared with an equal share for "
        "each row that they can read?",
        4);
    Inline const own = say("Row 0 can read only itself: its weight on itself is {}. ", weight(pattern(0, 0)));
    if (n < 3) {
        l.answer(own + "This text is too short to say more.");
    } else {
        double given = 0, equal = 0;
        for (std::size_t i = 2; i < n; ++i) {
            given += pattern(i, 0);
            equal += 1 / static_cast<double>(i + 1);
        }
        given /= static_cast<double>(n - 2);
        equal /= static_cast<double>(n - 2);
        l.answer(own +
                 say("{} a weight of {}{}, where an equal share would be {}. {} (An attention sink is a "
                     "first token that takes the weight for which a row has no better use; row 1 is "
                     "left out, because its choice is only between two.)",
                     n == 3 ? "Row 2 gives row 0" : fmt::format("Rows 2 to {} give row 0", n - 1),
                     weight(given), n == 3 ? "" : " on average", weight(equal),
                     given > 2 * equal ? "That is what an attention sink looks like."
                     : given > equal   ? "That is more, but not twice as much: hardly an attention sink."
                                       : "So row 0 is not an attention sink here."));
        l.check_with(fmt::format("awk -F, 'NR > 3 {{ s += $(NF - {}); ++rows }} END {{ printf \"%.3f\\n\", s "
                                 "/ rows }}' {}/11_softmax.csv",
                                 n - 1, l.folder()),
                     say("It prints {}.", fixed(given, 3)));
        return;
    }
    l.check_with(fmt::format("cat {}/11_softmax.csv", l.folder()), "Row 0 begins with a 1.");
}

void ask_about_blending(Lesson& l, Matrix const& pattern, Matrix const& unscaled) {
    std::size_t const n = row_count(pattern);
    std::size_t const scaled_rows = rows_on_one(pattern), unscaled_rows = rows_on_one(unscaled);
    l.ask(
        "In how many of the rows that have a choice does one row get nearly everything, .9 or more? Would it "
        "be more rows or fewer if the scores were not scaled?",
        3);
    if (n == 1)
        l.answer("This text has one row, which has no choice.");
    else
        l.answer(say("Scaled in {0} of {1}, unscaled in {2} of {1}. {3}", scaled_rows, n - 1, unscaled_rows,
                     2 * scaled_rows > n - 1     ? "This head picks one row in most cases, even scaled."
                     : 2 * unscaled_rows > n - 1 ? "Unscaled, this head would pick one row in most cases."
                                                 : "Either way, that is not most of the rows of this text."));
    l.check_with(
        l.make_experiment("unscaled") +
            fmt::format(" && awk -F, 'FNR > 2 {{ m = 0; for (j = NF - {}; j <= NF; ++j) if ($j > m) m "
                        "= $j; if (m >= .9) ++rows[FILENAME] }} END {{ print rows[ARGV[1]] + 0, "
                        "rows[ARGV[2]] + 0 }}' {}/11_softmax.csv {}/11_softmax.csv",
                        n - 1, l.folder(), l.folder_of("unscaled")),
        say("It prints {} and {}.", scaled_rows, unscaled_rows));
}

void lesson(Lesson& l) {
    Case const& c = l.run().head;
    Matrix const masked = mask(l.trace()[terms::scaled_scores], c.visible);  // [query_pos, key_pos]
    Matrix const pattern = softmax(masked);                                  // [query_pos, key_pos]
    l.keep({terms::scaled_scores, terms::masked_scores, terms::softmax});
    tell_mask(l);
    std::vector<Term> const steps{terms::scaled_scores, terms::masked_scores, terms::softmax};
    l.show(score_table(l.trace(), l.row(), steps));
    l.tell(
        "The whole square of weights is the attention pattern of this head: one row for each token, which "
        "says where its attention went.");
    l.show(pattern_grid(l.trace()));
    l.play("mask", terms::softmax);
    ask_what_is_masked(l, pattern);
    ask_about_other_masks(l);
    ask_about_row_0(l, pattern);
    ask_about_blending(l, pattern, trace(l.run(), "unscaled")[terms::softmax]);
    std::size_t const most = describe_pattern_row(row(pattern, l.row())).favourite;
    l.ask(say("What is the largest weight of row {}, on row {}, made of?", l.token(l.row()), l.token(most)),
          5);
    l.answer_worked(terms::softmax, l.row(), most);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(
        argc, argv,
        {"4_mask_softmax", "4: mask, then softmax",
         "How do scores become weights, and what keeps a row from reading on?", onehead::lesson});
}
