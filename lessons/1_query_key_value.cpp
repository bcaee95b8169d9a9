// Lesson 1: the row becomes a query, a key and a value. Each comes out of this row alone.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {
namespace {

Matrix only_row(Matrix const& all, std::size_t i) {
    Matrix one = make_matrix(1, column_count(all));
    std::copy_n(row(all, i).begin(), one.size(), one.data());
    return one;
}

// How many of the numbers of q, k and v come out the same when the text is this row and nothing else.
std::size_t same_when_alone(Lesson const& l, Matrix const& x) {
    Case const& c = l.run().head;
    auto const same = [&](Term const& term, Matrix const& alone) {
        return compare(only_row(l.trace()[term], l.row()), alone).identical;
    };
    return same(terms::q, project(x, c.w_q, c.b_q)) + same(terms::k, project(x, c.w_k, c.b_k)) +
           same(terms::v, project(x, c.w_v, c.b_v));
}

void tell_normalizing(Lesson& l) {
    auto const raw = row(l.run().head.residual, l.row());
    l.tell(fmt::format(
        "Row {} arrives off the residual stream with {} numbers of mean {:.3f} and spread {:.3f}. LayerNorm "
        "takes the mean away and divides by the spread, then gives each place its learned gain and bias. "
        "This normalized row is what the head reads, never the raw one.",
        token_at(l.trace(), l.row()), raw.size(), mean(raw), standard_deviation(raw)));
}

void lesson(Lesson& l) {
    Facts const& facts = l.trace().facts;
    l.keep({terms::residual, terms::normalized, terms::q, terms::k, terms::v});
    tell_normalizing(l);
    std::vector<Term> const steps{terms::residual, terms::normalized, terms::q, terms::k, terms::v};
    l.show(vector_table(l.trace(), steps));
    l.tell(
        fmt::format("Query, key and value are three views of the same {} numbers, each through a learned "
                    "matrix of its own, each {} numbers wide.",
                    facts.d_model, facts.d_head));
    l.play("worked");

    l.ask("How many other rows does it take to work out this row's query, key and value?");
    std::size_t const same = same_when_alone(l, only_row(l.trace()[terms::normalized], l.row()));
    l.answer(
        fmt::format("None. Worked out from this row alone, as if the text had no other, {} of {} numbers "
                    "come out the same, to the last bit.",
                    same, 3 * facts.d_head));
    l.check_with(l.commands().on_this_run(fmt::format("worked k {} 0", l.row())));

    l.ask(
        "The key says what a row advertises, the value what it hands over. Do the two look alike in this "
        "row?");
    l.answer(fmt::format(
        "Their directions have a cosine of {:.2f}, query and key one of {:.2f} (1: the same direction; 0: "
        "nothing in common; two random directions of {} numbers: about {:.2f} either way).",
        cosine_similarity(row(l.trace()[terms::k], l.row()), row(l.trace()[terms::v], l.row())),
        cosine_similarity(row(l.trace()[terms::q], l.row()), row(l.trace()[terms::k], l.row())), facts.d_head,
        1 / std::sqrt(static_cast<double>(facts.d_head))));
    l.check_with(l.commands().onehead(fmt::format("measure {0} k {1} v {1} q {1}", l.folder(), l.row())));

    l.ask("What is the first number of the query, d0, made of?");
    l.answer_worked(terms::q, l.row(), 0);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"1_query_key_value", "1: the row becomes a query, a key and a value",
                           "What does one row turn into before it can ask?", onehead::lesson});
}
