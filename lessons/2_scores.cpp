// Lesson 2: one query against every key. A score is one-sided.
#include <fmt/format.h>
#include <cmath>

#include "lesson.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {
namespace {

// The other row whose key fits this row's query best; the row itself in a text of one.
std::size_t best_other(Trace const& trace, std::size_t asking) {
    auto const scores = row(trace[terms::scores], asking);
    std::size_t best = asking == 0 && scores.size() > 1 ? 1 : 0;
    for (std::size_t key = 0; key < scores.size(); ++key)
        if (key != asking && scores[key] > scores[best]) best = key;
    return best;
}

void tell_one_sided(Lesson& l, std::size_t asking, std::size_t other) {
    Matrix const& scores = l.trace()[terms::scores];
    l.ask(fmt::format("Row {} gives row {} a score of {}. Does row {} give the same to row {}?",
                      token_at(l.trace(), asking), token_at(l.trace(), other), score(scores(asking, other)),
                      other, asking));
    l.answer(fmt::format(
        "score({}, {}) = {}, score({}, {}) = {}. The first holds the query of {} against the key of {}, the "
        "second the query of {} against the key of {}: {}.",
        asking, other, score(scores(asking, other)), other, asking, score(scores(other, asking)), asking,
        other, other, asking,
        scores(asking, other) == scores(other, asking) ? "here they happen to agree"
                                                       : "two lenses, so a relation has a direction"));
    l.check_with(l.commands().on_this_run(fmt::format("worked scores {} {}", other, asking)));
}

void tell_directions(Lesson& l, std::size_t asking, std::size_t other) {
    auto const q = row(l.trace()[terms::q], asking);
    auto const k = row(l.trace()[terms::k], other);
    l.ask("A large dot product means that query and key point the same way. How much the same way, here?");
    l.answer(
        fmt::format("The query of {} is {:.2f} long, the key of {} is {:.2f} long, and the cosine between "
                    "them is {:.2f}: the product of the three is the score, {}.",
                    token_at(l.trace(), asking), norm(q), token_at(l.trace(), other), norm(k),
                    cosine_similarity(q, k), score(l.trace()[terms::scores](asking, other))));
    l.check_with(l.commands().onehead(fmt::format("measure {} q {} k {}", l.folder(), asking, other)));
}

void lesson(Lesson& l) {
    std::size_t const asking = l.row();
    l.keep({terms::q, terms::k, terms::scores});
    l.tell(
        fmt::format("Row {} asks. Its query is multiplied with the key of every row, number by number, and "
                    "the {} products are added up: one score a row, how strongly this row wants that one. "
                    "Nothing is masked yet: later rows have scores too.",
                    token_at(l.trace(), asking), l.trace().facts.d_head));
    l.show(score_table(l.trace(), asking, std::vector{terms::scores}));
    l.play("worked");
    l.play("gaps");
    std::size_t const other = best_other(l.trace(), asking);
    if (other != asking) tell_one_sided(l, asking, other);
    tell_directions(l, asking, other);
    l.ask(fmt::format("What is score({}, {}) made of?", asking, other));
    l.answer_worked(terms::scores, asking, other);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"2_scores", "2: score the query against every key",
                           "How strongly does a row want each of the others?", onehead::lesson});
}
