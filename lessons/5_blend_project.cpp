// Lesson 5: blend the values, widen the blend, add it to the row.
#include <fmt/format.h>
#include <cmath>

#include "lesson.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {
namespace {

// "0.32 of 'The' + 0.40 of ' cat' + ...": the blend in words, at most `most` of its terms.
std::string in_words(Trace const& trace, std::size_t i) {
    std::string words;
    for (std::size_t const key : shown_keys(trace, i))
        if (trace[terms::softmax](i, key) != 0)
            words += fmt::format("{}{} of {}", words.empty() ? "" : " + ",
                                 weight(trace[terms::softmax](i, key)), token_at(trace, key));
    return words;
}

void tell_blend(Lesson& l) {
    Trace const& t = l.trace();
    PatternRow const seen = describe_pattern_row(row(t[terms::softmax], l.row()));
    l.tell(fmt::format("Row {} takes home {}.", token_at(t, l.row()), in_words(t, l.row())));
    l.show(blend_table(t));
    l.ask("Is the blend mostly the value of the row that got most?");
    l.answer(
        fmt::format("Row {} got {} of the attention, and the blend's direction has a cosine of {:.2f} with "
                    "its value. The value is {:.2f} long, the blend {:.2f}.",
                    token_at(t, seen.favourite), weight(seen.largest),
                    cosine_similarity(row(t[terms::blend], l.row()), row(t[terms::v], seen.favourite)),
                    norm(row(t[terms::v], seen.favourite)), norm(row(t[terms::blend], l.row()))));
    l.check_with(
        l.commands().onehead(fmt::format("measure {} v {} blend {}", l.folder(), seen.favourite, l.row())));
}

void tell_widening(Lesson& l) {
    Facts const& facts = l.trace().facts;
    l.tell(
        fmt::format("The blend lives in the head's {0} numbers. A last matrix, {0} rows of {1}, widens it; "
                    "the result is added to the row, with what the other {2} heads say and one bias for all.",
                    facts.d_head, facts.d_model, facts.n_head - 1));
    l.show(addition_table(l.trace()));
}

void tell_shares(Lesson& l) {
    Trace const& t = l.trace();
    if (t.find(terms::residual) == nullptr) return;
    l.ask("How much does this one head change the row?");
    l.answer(fmt::format(
        "It adds {:.2f} (length of what it adds) to a row that is {:.2f} long; the other heads together add "
        "{:.2f}. Nothing is overwritten: the row that leaves is the row that came, plus the parts.",
        norm(row(t[terms::output_projection], l.row())), norm(row(t[terms::residual], l.row())),
        norm(row(t[terms::other_heads], l.row()))));
    l.check_with(l.commands().onehead(
        fmt::format("measure {0} output_projection {1} residual {1} other_heads {1}", l.folder(), l.row())));
    l.ask("What is the first number of the row that leaves, d0, made of?");
    l.answer_worked(terms::residual_after, l.row(), 0);
}

void lesson(Lesson& l) {
    l.keep({terms::residual, terms::v, terms::softmax, terms::blend, terms::output_projection,
            terms::other_heads, terms::projection_bias, terms::residual_after});
    tell_blend(l);
    l.play("mixer");
    l.ask("What is the first number of the blend, d0, made of?");
    l.answer_worked(terms::blend, l.row(), 0);
    tell_widening(l);
    tell_shares(l);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"5_blend_project", "5: blend the values, and add the result back",
                           "What does a row take home, and where does it go?", onehead::lesson});
}
