// Lesson 2: one query against every key. A score is one-sided, and only the gaps within a row count.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/io/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

// The key with the highest score among those that a row may read.
std::size_t winner(Matrix const& scores, std::size_t asking) {
    auto const seen = row(scores, asking).first(asking + 1);
    return static_cast<std::size_t>(std::max_element(seen.begin(), seen.end()) - seen.begin());
}

// The other row whose key fits this row's query best; the row itself in a text of one.
std::size_t best_other(Matrix const& scores, std::size_t asking) {
    std::size_t best = asking == 0 && column_count(scores) > 1 ? 1 : 0;
    for (std::size_t key = 0; key < column_count(scores); ++key)
        if (key != asking && scores(asking, key) > scores(asking, best)) best = key;
    return best;
}

// Two keys whose scores look the same in the table: readers would take it for a mistake.
void explain_tie(Lesson& l, Matrix const& scores) {
    auto keys = shown_keys(l.trace(), l.row());
    std::ranges::stable_sort(
        keys, [&](std::size_t a, std::size_t b) { return scores(l.row(), a) > scores(l.row(), b); });
    for (std::size_t i = 1; i < keys.size(); ++i) {
        std::size_t const a = keys[i - 1], b = keys[i];
        if (score(scores(l.row(), a)) != score(scores(l.row(), b))) continue;
        double const alike = cosine_similarity(row(l.trace()[terms::k], a), row(l.trace()[terms::k], b));
        return l.tell(say(
            "The scores of rows {} and {} look alike: {} and {}. {}.", l.token(a), l.token(b),
            fixed(scores(l.row(), a), 3), fixed(scores(l.row(), b), 3),
            alike >= 0.5
                ? fmt::format("Their keys are similar, with a cosine similarity of {:.2f}", alike)
                : fmt::format(
                      "Their keys are not similar (cosine similarity {:.2f}); the sums happen to be close",
                      alike)));
    }
}

void ask_one_sided(Lesson& l, Matrix const& scores, std::size_t other) {
    float const there = scores(l.row(), other), back = scores(other, l.row());
    l.ask(say("Row {} gives row {} a score of {}. Does row {} give row {} the same score?", l.token(l.row()),
              l.token(other), score(there), other, l.row()),
          3);
    l.answer(say(
        "{} score({}, {}) is {}, score({}, {}) is {}. score({}, {}) takes the query of row {} and the key "
        "of row {}; score({}, {}) takes the query of row {} and the key of row {}. These are other "
        "vectors, so one score says nothing about the other.",
        score(there) != score(back) ? "No." : "Here they happen to agree in the digits shown.", l.row(),
        other, score(there), other, l.row(), score(back), l.row(), other, l.row(), other, other, l.row(),
        other, l.row()));
    l.check_worked(terms::scores, other, l.row());
}

void ask_about_directions(Lesson& l, Matrix const& scores) {
    std::size_t const n = row_count(scores), best = winner(scores, l.row());
    auto const q = row(l.trace()[terms::q], l.row());
    auto const angle = [&](std::size_t key) { return cosine_similarity(q, row(l.trace()[terms::k], key)); };
    std::size_t nearest = 0, negative = 0;
    for (std::size_t key = 0; key <= l.row(); ++key)
        if (angle(key) > angle(nearest)) nearest = key;
    for (std::size_t i = 1; i < n; ++i)
        if (scores(i, winner(scores, i)) < 0) ++negative;
    double const degrees = std::acos(std::clamp(angle(best), -1.0, 1.0)) * 180 / std::numbers::pi;
    auto const key_norm = [&](std::size_t key) { return score(norm(row(l.trace()[terms::k], key))); };
    l.ask(say("A dot product is the norm of one vector times the norm of the other times the cosine of the "
              "angle between them. {} Its key has a norm of {}, the query of row {} a norm of {}, and the "
              "score is {}. What is the cosine? Does the key point in the direction of the query?",
              l.row() == 0 ? Inline{"Row 0 can read only itself."}
                           : say("Row {} scores highest among the rows that row {} can read.", l.token(best),
                                 l.token(l.row())),
              key_norm(best), l.row(), score(norm(q)), score(scores(l.row(), best))),
          4);
    l.answer(say("{} The cosine similarity is {}, an angle of {} degrees{}.",
                 angle(best) >= std::sqrt(0.5) ? "Yes, within 45 degrees."
                 : angle(best) >= 0.25         ? "Only partly."
                 : angle(best) > 0             ? "Hardly: they are nearly at right angles."
                                               : "No: they are at right angles or further apart.",
                 fixed(angle(best), 2), fixed(degrees, 0),
                 l.row() == 0      ? Inline{""}
                 : nearest == best ? Inline{": the smallest of the rows that it can read"}
                 : fixed(angle(nearest), 2) == fixed(angle(best), 2)
                     ? Inline{"; other rows come as close"}
                     : say(". Row {} comes closer to the direction of the query ({}), but its key has a norm "
                           "of {}",
                           l.token(nearest), fixed(angle(nearest), 2), key_norm(nearest))));
    l.answer_with(key_table(l.trace()));
    if (n > 1)
        l.answer(say(
            "A row takes the highest score that it finds, however low. {}",
            negative == 0
                ? say("Here that score is not negative in {}.",
                      n == 2 ? "row 1" : fmt::format("any of rows 1 to {}", n - 1))
                : say("In {} that score is negative: the row then reads most from a key that is more than 90 "
                      "degrees away from its query.",
                      n == 2 ? "row 1" : fmt::format("{} of rows 1 to {}", negative, n - 1))));
    l.check_with(l.commands().onehead(fmt::format("measure {} q {} k {}", l.folder(), l.row(), best)),
                 say("The norms and the cosine similarity: {}.", fixed(angle(best), 2)));
}

void ask_about_gaps(Lesson& l, Matrix const& scores) {
    Case const& c = l.run().head;
    constexpr int more = 64;
    std::size_t const i = l.row(), n = row_count(scores);
    Matrix const scaled = divide(scores, c.divisor);         // [query_pos, key_pos]
    Matrix const moved = scaled + static_cast<float>(more);  // [query_pos, key_pos]
    Matrix const before = softmax(mask(scaled, c.visible));  // [query_pos, key_pos]
    Matrix const after = softmax(mask(moved, c.visible));    // [query_pos, key_pos]
    double largest = 0, top = 0;
    std::size_t changed = 0;
    for (std::size_t key = 0; key <= i; ++key) {
        largest = std::max(largest, distance(before(i, key), after(i, key)));
        top = std::max<double>(top, std::fabs(moved(i, key)));
        if (weight(before(i, key)) != weight(after(i, key))) ++changed;
    }
    l.ask(
        say("Add {} to all scaled scores of row {}. Which of its weights change, and why?", more, l.token(i)),
        4);
    l.answer(
        say("{} The largest change is {}{}. e^(s + {}) is e^s times e^{}, for every key alike, and softmax "
            "divides by the sum of them. Only the gaps between the scores of one row count; how high they "
            "are together does not.",
            changed == 0 ? Inline{"None, in the digits shown."}
                         : say("{} of {} in the last digits.", changed, counted(i + 1, "weight")),
            change(largest),
            largest == 0                         ? ""
            : largest <= top * 0x1p-22 + 0x1p-23 ? ", from rounding to float32"
                                                 : ", more than rounding to float32 explains (!)",
            more, more));
    l.answer_with(gaps_table(l.trace(), scaled, before, moved, after));
    l.check_with(
        fmt::format(
            "awk -F, -v n={0} -v i={1} 'NR == i + 2 {{ for (c = 0; c <= 64; c += 64) {{ m = -1e30; s = 0; "
            "for (j = 1; j <= i + 1; ++j) {{ x = $(NF - n + j) + c; if (x > m) m = x }} for (j = 1; j <= i + "
            "1; ++j) s += exp($(NF - n + j) + c - m); for (j = 1; j <= i + 1; ++j) printf \"%.3f \", "
            "exp($(NF - n + j) + c - m) / s; print \"\" }} }}' {2}/09_scaled_scores.csv",
            n, i, l.folder()),
        "Two lines of weights, the second with 64 more: they are the same.");
}

void ask_how_large(Lesson& l, Matrix const& scores) {
    std::size_t query = 0, key = 0;
    for (std::size_t i = 0; i < row_count(scores); ++i)
        for (std::size_t j = 0; j < column_count(scores); ++j)
            if (std::fabs(scores(i, j)) > std::fabs(scores(query, key))) query = i, key = j;
    float const largest = scores(query, key);
    l.ask(say("Nothing so far keeps a score from being enormous. Which is the largest, minus signs left out, "
              "in row {} and in the whole head? ({} has every row.)",
              l.row(), Code{"08_scores.csv"}),
          3);
    auto const own = row(scores, l.row());
    float const own_largest = *std::ranges::max_element(own, {}, [](float one) { return std::fabs(one); });
    l.answer(
        say("In row {} it is {}. In the whole head it is {}: the query of row {} with the key of row {}{}. "
            "Whether that is much depends on the gaps in its row, and on what lesson 3 does to them.",
            l.row(), score(own_largest), score(largest), l.token(query), l.token(key),
            key > query ? ", a later row, which lesson 4 will mask" : ""));
    l.check_with(fmt::format("awk -F, 'NR > 1 {{ for (j = NF - {}; j <= NF; ++j) {{ a = $j < 0 ? -$j : $j; "
                             "if (a > m) m = a }} }} END {{ printf \"%.2f\\n\", m }}' {}/08_scores.csv",
                             column_count(scores) - 1, l.folder()),
                 say("It prints {}, without a sign.", fixed(std::fabs(largest), 2)));
}

void lesson(Lesson& l) {
    Matrix const scores = dot_rows(l.trace()[terms::q], l.trace()[terms::k]);  // [query_pos, key_pos]
    l.keep({terms::q, terms::k, terms::scores, terms::scaled_scores});
    l.tell(
        say("Row {} asks. It takes the dot product of its query with the key of every row: {} products, "
            "added up, one score per row. The higher the score, the more strongly row {} wants that row.{}",
            l.token(l.row()), l.trace().facts.d_head, l.row(),
            l.row() + 1 < row_count(scores) ? " Nothing is masked yet, so later rows have scores too." : ""));
    l.show(score_table(l.trace(), l.row(), std::vector{terms::scores}));
    explain_tie(l, scores);
    l.play("worked");
    l.play("gaps");
    std::size_t const other = best_other(scores, l.row());
    if (other != l.row()) ask_one_sided(l, scores, other);
    ask_about_directions(l, scores);
    ask_about_gaps(l, scores);
    ask_how_large(l, scores);
    l.ask(
        say("What is score({}, {}), {}, made of? (The query is row {} of {}, the key row {} of {}.)", l.row(),
            other, score(scores(l.row(), other)), l.row(), Code{"05_q.csv"}, other, Code{"06_k.csv"}),
        4);
    l.answer_worked(terms::scores, l.row(), other);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"2_scores", "2: score the query against every key",
                           "How strongly does a row want each of the others?", onehead::lesson});
}
