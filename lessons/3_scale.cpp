// Lesson 3: divide by the square root of the head width. The same head runs scaled and unscaled.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/math/exp.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"
#include "onehead/study/survey.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void tell_prediction(Lesson& l, Matrix const& scores) {
    std::size_t const width = l.trace().facts.d_head;
    double const predicted = std::sqrt(static_cast<double>(width));
    double const seen = deviation_of_scores(scores);
    double const factor = seen / predicted;
    l.tell(say(
        "A score is a sum of {0} products. If the components of query and key were independent, centred "
        "on 0 and of typical size 1, the scores would have a standard deviation of sqrt({0}) = {1}, and "
        "the gaps between two of them sqrt({2}) = {3}. {4}",
        width, score(predicted), 2 * width, score(std::sqrt(2.0) * predicted),
        row_count(scores) == 1
            ? Inline{"A text of one token has one score, and nothing to compare with that."}
            : say("The raw scores of this head that the mask allows have a standard deviation of {}{}.",
                  score(seen),
                  factor > 2 || factor < 0.5
                      ? fmt::format(", {} times the prediction: queries and keys of a trained head are not "
                                    "independent random numbers",
                                    fixed(factor, factor >= 10  ? 0
                                                  : factor >= 1 ? 1
                                                                : 2))
                      : "")));
    constexpr std::size_t few = 4, many = 64, samples = 2000;
    l.tell(
        say("Imagine that candidates for a job are ranked by the sum of their marks, and that a lead of 8 "
            "wins outright. With marks of typical size 1, the sums of two candidates differ by about {} on "
            "{} criteria and by about {} on {}, though no candidate has changed: the number of criteria "
            "decides whether a lead of 8 is rare or common. Dividing the sums by the square root of that "
            "number brings the rule back, and that is what a head does with its scores.",
            score(measure_width(few, samples).gap), few, score(measure_width(many, samples).gap), many));
}

// Draws its own queries and keys and prints the standard deviation of their scores.
std::string other_made_up_scores(std::size_t width) {
    return fmt::format(
        R"(awk 'function g() {{ return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }} )"
        R"(BEGIN {{ for (n = 0; n < 2000; ++n) {{ s = 0; for (d = 0; d < {}; ++d) s += g() * g(); )"
        R"(t += s * s }} print sqrt(t / 2000) }}')",
        width);
}

void ask_about_width(Lesson& l) {
    std::size_t const width = l.trace().facts.d_head;
    l.ask(
        "Widen a head and change nothing else: how do its scores grow? How would they grow if the components "
        "were not centred on 0?",
        4);
    l.answer(
        "Centred, they grow with the square root of the width, because the products cancel as often as they "
        "reinforce each other; the division takes exactly that growth away. With a mean of 1 instead of 0 "
        "the products no longer cancel, and a score grows with the width itself. Measured on 2000 made-up "
        "queries and keys of each width:");
    l.answer_with(width_table());
    l.check_with(other_made_up_scores(width),
                 say("It prints about {}: it draws 2000 queries and keys of its own.",
                     score(std::sqrt(static_cast<double>(width)))));
}

void ask_about_a_lead(Lesson& l) {
    double const divisor = l.trace().facts.divisor;
    std::string const root = fmt::format("{:.4g}", divisor);
    l.ask(say("Softmax is exponential in the gaps. One score is 8 higher than another: how many times the "
              "weight does that give, unscaled and after the division by {}?",
              root),
          3);
    l.answer(
        say("Unscaled e^8 = {} times, about three thousand. Scaled, the same lead is {}: e^{} = {} times.",
            fixed(exponential(8), 0), fmt::format("{:.4g}", 8 / divisor), fmt::format("{:.4g}", 8 / divisor),
            fixed(exponential(8 / divisor), 2)));
    l.check_with(fmt::format("awk 'BEGIN {{ print exp(8), exp(8 / {}) }}'", root),
                 say("It prints {} and {}.", fmt::format("{:.6g}", exponential(8)),
                     fmt::format("{:.6g}", exponential(8 / divisor))));
}

// How sharp the rows that have a choice are, scaled and unscaled.
void answer_for_all_rows(Lesson& l, Trace const& unscaled, bool is_same) {
    RowsOfTwo const rows = compare_rows_of(l.trace(), unscaled);
    if (rows.count == 0) return;
    l.answer_with(sharpness_table(l.trace(), unscaled));
    if (is_same) {
        l.answer(
            say("In effect a row reads {} rows, scaled or not ({}): the scores of this head are so far apart "
                "that the division changes no weight.",
                effective_rows(rows.effective_scaled), means_over(1, rows.count)));
        return;
    }
    l.answer(
        say("In effect a row reads {} rows scaled and {} unscaled ({}); unscaled it reads fewer in {} of {}, "
            "and is less steep in {} of {}. That slope is with respect to the scores that go into the "
            "softmax. With respect to the raw scores, the scaled head has a factor 1/{} that the unscaled "
            "head has not; {} the unscaled head is less steep in {} of {}.",
            effective_rows(rows.effective_scaled), effective_rows(rows.effective_unscaled),
            means_over(1, rows.count), rows.sharper, rows.count, rows.less_steep, rows.count,
            fmt::format("{:.4g}", l.trace().facts.divisor),
            rows.less_steep_raw == 0 ? "seen like that," : "even so", rows.less_steep_raw, rows.count));
}

void ask_about_sharpness(Lesson& l, Trace const& unscaled) {
    double const largest = compare(l.trace()[terms::softmax], unscaled[terms::softmax]).largest;
    l.ask(
        say("The last two lines of the table are the weights p of row {}, with the division and without it. "
            "How steep is the softmax there, that is, how much do the weights react to the scores? (The "
            "slope of one weight with respect to its own score is p(1 - p); over a row these add up to "
            "1 - sum of p^2.)",
            l.token(l.row())),
        4);
    double const slope = slope_of(row(l.trace()[terms::softmax], l.row()));
    double const slope_unscaled = slope_of(row(unscaled[terms::softmax], l.row()));
    l.answer(l.row() == 0
                 ? Inline{"Row 0 can read only itself: its weight is 1 and its slope 0, scaled or not."}
                 : say("1 - sum of p^2 is {} scaled and {} unscaled: {}.", weight(slope),
                       weight(slope_unscaled),
                       weight(slope) == weight(slope_unscaled)
                           ? "the same in the digits shown"
                           : "without the division, the weights react less to the scores"));
    answer_for_all_rows(l, unscaled, largest == 0);
    l.answer(
        "Where the slope is near 0, training can change little by way of the scores: a head that gets there "
        "early has a hard time getting out again. The slope says how small a step is, not that there is no "
        "way out: many steps may still find one.");
    l.check_with(l.commands().onehead(fmt::format("compare {0}/scaled {0}/unscaled", l.folder())),
                 largest == 0 ? Inline{"The patterns are bit-identical."}
                              : say("The two columns \"rows\", and how far a weight differs: by up to {}.",
                                    fmt::format("{:.2g}", largest)));
}

void lesson(Lesson& l) {
    Case const& c = l.run().head;
    Trace const unscaled = trace(l.run(), "unscaled");
    Matrix const& scores = l.trace()[terms::scores];  // [query_pos, key_pos]
    Matrix const scaled = divide(scores, c.divisor);  // [query_pos, key_pos]  sqrt(d_head)
    l.keep({terms::scores, terms::scaled_scores, terms::masked_scores, terms::softmax});
    l.keep_trace(l.trace(), "scaled");
    l.keep_trace(unscaled, "unscaled");
    l.keep_page("compare.html", "the scaled run and the unscaled one, side by side",
                compare_report(l.trace(), unscaled, compare(l.trace(), unscaled)));
    tell_prediction(l, scores);
    std::vector<Term> const steps{terms::scores, terms::scaled_scores, terms::masked_scores, terms::softmax};
    Table table = score_table(l.trace(), l.row(), steps);
    Table const without = score_table(unscaled, l.row(), std::span{steps}.last(1));
    table.rows.push_back(without.rows.front());
    table.rows.back().front() = {"unscaled"};
    l.show(std::move(table));
    auto const seen = row(scaled, l.row()).first(l.row() + 1);
    auto const [least, most] = std::minmax_element(seen.begin(), seen.end());
    if (l.row() > 0)
        l.tell(
            say("Among the rows that row {} can read, the highest score is {} above the lowest; scaled, {}. "
                "The last line is the same head unscaled: its weights without the division.{}",
                l.token(l.row()), score((*most - *least) * c.divisor), score(*most - *least),
                l.row() + 1 < row_count(scores) ? " The -inf of a later row is the mask of lesson 4." : ""));
    l.play("divisor", terms::scaled_scores);
    ask_about_width(l);
    ask_about_a_lead(l);
    ask_about_sharpness(l, unscaled);
    ask_about_next(l,
                   say("Leave this one head unscaled, and let the model go on from there. Does it expect "
                       "another token after row {}?",
                       l.token(l.row())),
                   "unscaled");
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"3_scale", "3: divide by the square root of the head width",
                           "Why are the scores divided before they become weights?", onehead::lesson});
}
