// Lesson 6: the whole head among the others: they work side by side and never read each other.
#include <fmt/format.h>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/study/compare.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

// How many numbers of the head's own steps keep their bits when the other heads are silenced.
Difference silence_the_others(Lesson const& l) {
    Difference total;
    Trace const alone = trace(l.run(), "alone");
    for (Step const& step : l.trace().steps()) {
        if (step.term.number > terms::output_projection.number) break;
        Difference const here = compare(step.values, alone[step.term]);
        total.cells += here.cells, total.identical += here.identical;
    }
    return total;
}

void tell_side_by_side(Lesson& l, std::vector<Matrix const*> const& outputs) {
    Case const& c = l.run().head;
    auto const heads = survey_block(c.residual, *c.block, l.trace().facts.layer, token_ids(l.trace()));
    l.tell(fmt::format("The {} heads of the block (the last four columns are means over rows 1 and later):",
                       c.block->n_head));
    l.show(block_table(heads, outputs, l.row()));
    l.ask("Does a head read what another one of its block found?");
    Difference const kept = silence_the_others(l);
    l.answer(fmt::format("With all other heads silenced, {} of {} numbers of this head keep their bits.",
                         kept.identical, kept.cells));
    l.check_with_experiment("alone");
}

void tell_sum(Lesson& l, std::vector<Matrix const*> const& outputs) {
    if (l.trace().find(terms::residual_after) == nullptr) return;
    Matrix const after = add_heads(l.trace()[terms::residual], outputs, l.run().head.b_o);
    Difference const found = compare(after, l.trace()[terms::residual_after]);
    l.ask(
        "Add what each head says to the row that arrived, in the order of the heads, and the bias. Is it the "
        "row that leaves?");
    l.answer(fmt::format("{} of {} numbers are the same to the last bit.", found.identical, found.cells));
    l.check_with(l.commands().on_this_run(fmt::format("worked residual_after {} 0", l.row())));
}

// Pages of two other heads, for readers who have nothing but a browser: one that reads the token before, one
// that finds what came after the last time.
void keep_other_heads(Lesson& l, std::vector<int> const& ids) {
    for (auto const& [layer, head] : {std::pair{0, 2}, {3, 2}}) {
        Request request{.token_ids = ids};
        request.layer = static_cast<std::size_t>(layer);
        request.head = static_cast<std::size_t>(head);
        Config const& config = l.model().config();
        if (request.layer >= config.n_layer || request.head >= config.n_head) continue;
        l.keep_trace(trace(l.model(), request), fmt::format("head_{}.{}", layer, head));
    }
}

void tell_kinds(Lesson& l) {
    if (!l.model().own_tokens().empty()) return;  // an excerpt has one layer, and may lack these tokens
    std::string const fox = "The quick brown fox jumps over the lazy dog. The quick brown fox jumps";
    auto const ids = l.model().tokenizer().encode(fox);
    auto const heads =
        survey_model(first_rows(l.model(), ids), l.model().config().n_layer, blocks_of(l.model()), ids);
    l.ask(fmt::format("Every head has the same few steps. Do all do the same with {}?", label(fox)));
    l.answer(
        "No; what they learned differs. The heads of this model that stand out most, as means over the rows "
        "of that text:");
    l.answer_with(kinds_table(heads));
    l.check_with(l.commands().on_tokens("heads", ids));
    keep_other_heads(l, ids);
}

void lesson(Lesson& l) {
    auto const outputs = in_head_order(l.run().head, l.trace()[terms::output_projection]);
    l.keep_trace(l.trace());
    std::vector<Term> const steps{terms::scores, terms::masked_scores, terms::softmax};
    l.show(score_table(l.trace(), l.row(), steps));
    l.show(blend_table(l.trace()));
    l.show(addition_table(l.trace()));
    l.show_and_keep("pattern", pattern_picture(l.trace()));
    l.play("worked");
    tell_side_by_side(l, outputs);
    tell_sum(l, outputs);
    tell_kinds(l);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"6_one_head", "6: one head among the others",
                           "What is one head worth, beside the others of its layer?", onehead::lesson});
}
