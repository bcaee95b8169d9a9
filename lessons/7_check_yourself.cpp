// Lesson 7: check it yourself. Rows that sum to 1, exact zeros, words that change, and the traps on the way
// to a pattern of your own.
#include <fmt/format.h>
#include <algorithm>

#include "lesson.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/study/causality.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void tell_sums_and_zeros(Lesson& l) {
    PatternSums const seen = sum_pattern(l.trace()[terms::softmax]);
    l.ask("Does each row of the pattern sum to 1, and what does a row give to later rows?");
    l.answer(fmt::format("The sums are 1 to within {:.0e}. Of {} weights on later rows {} are exactly 0.",
                         seen.worst_sum, seen.later, seen.exact_zeros));
    l.check_with(fmt::format(
        "awk -F, 'NR > 1 {{ s = 0; for (i = 0; i < {}; ++i) s += $(NF - i); print s }}' {}/11_softmax.csv",
        l.trace().tokens.size(), l.folder()));
}

// Another token for a position: " dog", or where that stands already or the model lacks it, one from
// elsewhere in the text.
int replacement(Lesson const& l, std::size_t pos) {
    auto const ids = token_ids(l.trace());
    constexpr int dog = 3290;
    if (l.model().own_tokens().empty() && ids[pos] != dog) return dog;
    auto const other = std::find_if(ids.begin(), ids.end(), [&](int id) { return id != ids[pos]; });
    return other == ids.end() ? ids[pos] : *other;
}

void tell_change(Lesson& l, std::size_t pos) {
    Request changed{
        .token_ids = token_ids(l.trace()), .layer = l.trace().facts.layer, .head = l.trace().facts.head};
    (*changed.token_ids)[pos] = replacement(l, pos);
    Trace const after = trace(l.model(), changed);
    Causality const causality = check_causality(l.trace(), after);
    l.ask(fmt::format("Put {} in place of {}. Which rows of which steps move?",
                      label(after.tokens[pos].bytes), token_at(l.trace(), pos)));
    l.answer(
        fmt::format("{} A number is the largest change in that row, = the same to the last bit; unmasked "
                    "scores have a changed column too.",
                    causality.holds() ? fmt::format("Nothing that reads only rows before {} moved.", pos)
                                      : "Something moved that must not (!)."));
    l.answer_with(causality_table(causality, after.tokens));
    if (l.model().tokenizer().encode(after.facts.text) == token_ids(after))
        l.check_with(l.commands().on_changed_word(pos, l.trace().tokens[pos].bytes, after.tokens[pos].bytes));
}

void lesson(Lesson& l) {
    std::size_t const n = l.trace().tokens.size();
    l.keep({terms::softmax});
    tell_sums_and_zeros(l);
    if (l.model().has_hidden_states(l.trace().facts.layer)) {
        l.tell(
            "This excerpt holds the rows of one text only, so that no word of it can be changed here; a "
            "whole model takes any text.");
    } else {
        if (n > 2) tell_change(l, 1);
        tell_change(l, n - 1);
    }
    l.ask(
        "Work the pattern out again, from the row on, and make one mistake at a time. Which mistakes show?");
    l.answer_with(mistakes_table(l.run()));
    l.check_with_experiment("unscaled");
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"7_check_yourself", "7: check yourself", "How do you know that all this is right?",
                           onehead::lesson});
}
