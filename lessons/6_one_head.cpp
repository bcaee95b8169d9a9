// Lesson 6: the whole head on one page, and among the others: they work side by side and never read each
// other.
#include <fmt/format.h>
#include <algorithm>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/next.hpp"
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

void ask_side_by_side(Lesson& l, std::vector<Matrix const*> const& outputs) {
    Case const& c = l.run().head;
    Facts const& facts = l.trace().facts;
    std::size_t const n = l.trace().tokens.size();
    auto const heads = survey_block(c.residual, *c.block, facts.layer, token_ids(l.trace()));
    l.tell(
        say("Layer {} has {}. Each works on the same rows with matrices of its own. This is what each adds "
            "to row {}{}",
            facts.layer, counted(facts.n_head, "head"), l.token(l.row()),
            n == 1 ? ":" : fmt::format(", and where it looks {}:", means_over(1, n - 1))));
    l.show(block_table(heads, outputs, l.row(), n));
    l.ask("Does a head read what another head of its layer found?");
    Difference const kept = silence_the_others(l);
    l.answer(
        say("{} With all other heads of the layer silenced, {} of the {} numbers of this head, from the row "
            "that arrives to its output, are bit-identical.",
            kept.same() ? "No." : "Yes (!).", kept.identical, kept.cells));
    l.check_with_experiment("alone", facts.n_head == 1
                                         ? "There is no other head: everything is the same."
                                         : "In every step up to 13, all values are bit-identical.");
}

void ask_about_the_sum(Lesson& l, std::vector<Matrix const*> const& outputs) {
    if (l.trace().find(terms::residual_after) == nullptr) return;
    Matrix const after = add_heads(l.trace()[terms::residual], outputs, l.run().head.b_o);  // [pos, d_model]
    Difference const found = compare(after, l.trace()[terms::residual_after]);
    l.ask(
        "Add the outputs of all heads and the bias to the row that arrived. Is the sum the row that leaves?");
    l.answer(say("{} {} of {} numbers are the same to the last bit.", found.same() ? "Yes." : "No (!).",
                 found.identical, found.cells));
    l.check_worked(terms::residual_after, l.row(), 0);
}

// Pages of two other heads, for readers who have nothing but a browser: in gpt2-mini, one that reads the
// token before, and one that finds what came after the last time.
void keep_other_heads(Lesson& l, std::vector<int> const& ids) {
    for (auto const& [layer, head] : {std::pair<std::size_t, std::size_t>{0, 2}, {3, 2}}) {
        Request request{.token_ids = ids};
        request.layer = layer;
        request.head = head;
        Config const& config = l.model().config();
        if (request.layer < config.n_layer && request.head < config.n_head)
            l.keep_trace(trace(l.model(), request), fmt::format("head_{}.{}", layer, head));
    }
}

void ask_about_kinds(Lesson& l, std::vector<int> const& ids) {
    auto const heads =
        survey_model(first_rows(l.model(), ids), l.model().config().n_layer, blocks_of(l.model()), ids);
    auto const [least, most] = std::ranges::minmax(heads, {}, &HeadSurvey::previous);
    l.ask(say("Every head takes the same few steps. Do all heads of this model do the same with {}? "
              "(Look at the pages of the two heads in this lesson's folder, or run the check.)",
              token_label(text_of(l.model().tokens(ids)))),
          4);
    l.answer(
        say("{} The weight on the row before goes from {} in head {}.{} to {} in head {}.{}, as means over "
            "rows 1 to {}. What a head does is what it has learned. Those that stand out most in three ways:",
            most.previous > least.previous ? "No." : "As far as the row before goes, they do.",
            weight(least.previous), least.layer, least.head, weight(most.previous), most.layer, most.head,
            ids.size() - 1));
    l.answer_with(kinds_table(heads));
    l.answer(
        "A head is narrow on purpose. Its few numbers are enough to follow one relation: the noun that an "
        "adjective belongs to, the bracket that this one closes, the token that came next the last time. For "
        "all of them at once they are not enough, so a layer has several heads side by side.");
    l.check_with(l.commands().on_tokens("heads", ids),
                 say("All heads of the model, one per line; in the column \"previous\", {} and {}.",
                     weight(least.previous), weight(most.previous)));
    keep_other_heads(l, ids);
}

void ask_about_worth(Lesson& l, std::vector<int> const& ids) {
    Config const& config = l.model().config();
    constexpr std::size_t most = 24;  // more take too long here
    Facts const& facts = l.trace().facts;
    l.ask(say("What is one head worth? Silence one head of the model at a time, so that its output is 0. How "
              "far does that move what the model expects after {}?",
              token_label(text_of(l.model().tokens(ids)))),
          4);
    Inline shows = "The column \"worth\", in nats.";
    if (config.n_layer * config.n_head > most) {
        l.answer(say("This model has {} heads, too many for a lesson; the command below works them out.",
                     config.n_layer * config.n_head));
    } else {
        Worth const worth = worth_of_heads(first_rows(l.model(), ids), {}, blocks_of(l.model()));
        auto const& best = *std::ranges::max_element(worth.heads, {}, &HeadWorth::worth);
        auto const& own = *std::ranges::find_if(worth.heads, [&](HeadWorth const& one) {
            return one.layer == facts.layer && one.head == facts.head;
        });
        auto const little = static_cast<std::size_t>(std::ranges::count_if(
            worth.heads, [](HeadWorth const& one) { return one.worth < little_worth; }));
        bool const is_best = &best == &own;
        l.answer(say(
            "With all heads the model expects {} with {}. Most is lost without head {}.{}{}: {} is left.{} "
            "{} of {} heads are worth less than {} nats here, next to nothing; on another text others may "
            "matter.",
            token_label(l.model().tokens({worth.top}).front().bytes), weight(worth.probability), best.layer,
            best.head, is_best ? ", the head of this lesson" : "", weight(best.top_without),
            is_best ? Inline{}
                    : say(" Without the head of this lesson, {}.{}, it keeps {}.", own.layer, own.head,
                          weight(own.top_without)),
            little, worth.heads.size(), fixed(little_worth, 2)));
        l.answer_with(worth_table(worth));
        shows = say("In the column \"worth\", in nats, {} for head {}.{}.", fmt::format("{:.3g}", best.worth),
                    best.layer, best.head);
    }
    l.check_with(l.commands().on_tokens("heads --worth", ids), shows);
}

void lesson(Lesson& l) {
    Trace const& t = l.trace();
    auto const outputs = in_head_order(l.run().head, t[terms::output_projection]);
    l.keep_trace(t);
    l.tell(
        say("Score, divide, mask, softmax, blend: these steps together are called scaled dot-product "
            "attention. This is the whole head for row {}, with the numbers of this run:",
            l.token(l.row())));
    l.show(flow_diagram(t));
    l.show_and_keep("pattern", pattern_picture(t));
    l.play("worked");
    ask_side_by_side(l, outputs);
    ask_about_the_sum(l, outputs);
    auto const ids = fox_text(l.model());
    if (ids.empty())
        return l.tell(
            "The other heads of the model, and what each is worth, cannot be shown here: this model file "
            "lacks some of them, or words of the text that is used for it. With the whole of gpt2-mini or "
            "GPT-2 they can.");
    ask_about_kinds(l, ids);
    ask_about_worth(l, ids);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"6_one_head", "6: one head among the others",
                           "What is one head worth, beside the others?", onehead::lesson});
}
