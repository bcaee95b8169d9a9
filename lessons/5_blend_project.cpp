// Lesson 5: blend the values, widen the blend, add it to the row.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "lesson.hpp"
#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/error.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

// ".320 of 0 'The' + .399 of 1 ' cat' + ...": the blend in words. Weights that would be shown as .000 are
// counted.
Inline in_words(Trace const& trace, std::size_t i) {
    auto const weights = row(trace[terms::softmax], i);
    std::vector<Inline> terms;
    std::size_t all = 0, small = 0;
    for (float const one : weights) {
        if (one != 0) ++all;
        if (one != 0 && weight(one) == ".000") ++small;
    }
    for (std::size_t const key : shown_keys(trace, i))
        if (weights[key] != 0 && weight(weights[key]) != ".000")
            terms.push_back(say("{} of {}", weight(weights[key]), token(trace, key)));
    std::size_t const left = all - small - terms.size();
    return joined(terms, " + ") + (left > 0 ? say(" + {} more", left) : Inline{}) +
           (small > 0 ? say(", and less than .0005 of {}", counted(small, "other row")) : Inline{});
}

void ask_what_dominates(Lesson& l, Matrix const& blend) {
    Trace const& t = l.trace();
    auto const weights = row(t[terms::softmax], l.row());
    std::size_t const heaviest = describe_pattern_row(weights).favourite;
    auto const product = [&](std::size_t key) { return weights[key] * norm(row(t[terms::v], key)); };
    std::size_t largest = heaviest;
    double total = 0;
    for (std::size_t key = 0; key <= l.row(); ++key) {
        total += product(key);
        if (product(key) > product(largest)) largest = key;
    }
    double const alike = cosine_similarity(row(blend, l.row()), row(t[terms::v], largest));
    std::size_t const read = weights.size() - static_cast<std::size_t>(std::ranges::count(weights, 0.0F));
    std::string const sum_of_products = score(total), norm_of_blend = score(norm(row(blend, l.row())));
    l.give(product_table(t, false));
    l.ask(
        say("The part of a row in the blend is as large as its weight times the norm of its value. Which row "
            "contributes most to the blend of row {}? Is it the row that got most weight?",
            l.token(l.row())),
        2 + std::min<std::size_t>(read, 6));
    l.answer(say(
        "{} The cosine similarity of the blend and the value of row {} is {}.",
        read == 1 ? say("Yes: row {} got all the weight, and the blend is its value.", l.token(heaviest))
        : largest == heaviest
            ? say("Yes: row {} has both the most weight, {}, and the largest product.", l.token(heaviest),
                  weight(weights[heaviest]))
            : say("No: row {} got most weight, {}, but row {} with {} has a value of larger norm, and "
                  "contributes more.",
                  l.token(heaviest), weight(weights[heaviest]), l.token(largest), weight(weights[largest])),
        largest, fixed(alike, 2)));
    l.answer_with(product_table(t));
    if (read > 1)
        l.answer(say(
            "The products add up to {}, the blend has a norm of {}{}", sum_of_products, norm_of_blend,
            sum_of_products == norm_of_blend
                ? ": next to the largest product the others hardly count."
                : ": vectors that point in different directions cancel in part, so norms do not add up."));
    l.check_with(
        l.commands().onehead(fmt::format("measure {} v {} blend {}", l.folder(), largest, l.row())),
        say("The norms {} and {}, and the cosine similarity {}.", score(norm(row(t[terms::v], largest))),
            score(norm(row(blend, l.row()))), fixed(alike, 2)));
}

void tell_widening(Lesson& l) {
    Facts const& facts = l.trace().facts;
    std::size_t const others = facts.n_head - 1;
    l.tell(
        say("The blend has {0} numbers, as few as a query, a key or a value. A last learned matrix W_o, {0} "
            "by {1}, widens it to a full row: the output of this head. It is added to the row that arrived, "
            "together with {2}the bias of the layer.",
            facts.d_head, facts.d_model,
            others == 0   ? ""
            : others == 1 ? "the output of the other head and "
                          : fmt::format("the outputs of the other {} heads and ", others)));
    l.show(addition_table(l.trace()));
}

void ask_how_much(Lesson& l, Matrix const& output) {
    Trace const& t = l.trace();
    if (t.find(terms::residual) == nullptr) return;
    auto const size = [&](Term const& term) { return score(norm(row(t[term], l.row()))); };
    l.ask(
        say("Row {} arrives with a norm of {}. This head adds a vector of norm {} to it, and the other heads "
            "together add one of norm {}. Is anything of the row overwritten?",
            l.token(l.row()), size(terms::residual), score(norm(row(output, l.row()))),
            size(terms::other_heads)),
        3);
    l.answer(say(
        "No: each of its {} numbers is the number that arrived plus what was added, as the table shows for "
        "the first of them. The row that leaves has a norm of {} (norms of vectors, so they do not add "
        "up).",
        t.facts.d_model, size(terms::residual_after)));
    l.check_with(l.commands().onehead(fmt::format(
                     "measure {0} residual {1} output_projection {1} other_heads {1} residual_after {1}",
                     l.folder(), l.row())),
                 say("The norms {}, {}, {} and {}.", size(terms::residual), score(norm(row(output, l.row()))),
                     size(terms::other_heads), size(terms::residual_after)));
}

// How many numbers of the row are the same when the MLP works on it alone; nothing where there is no MLP.
std::optional<std::size_t> same_after_mlp(Lesson const& l) {
    Step const* const after = l.trace().find(terms::residual_after);
    if (after == nullptr) return {};
    try {
        MlpWeights const mlp = l.model().mlp(l.trace().facts.layer);
        Matrix alone = make_matrix(1, column_count(after->values));
        std::copy_n(row(after->values, l.row()).begin(), alone.size(), alone.data());
        Matrix const all = after_mlp(after->values, mlp);
        Matrix same = make_matrix(1, column_count(all));
        std::copy_n(row(all, l.row()).begin(), same.size(), same.data());
        return compare(same, after_mlp(alone, mlp)).identical;
    } catch (Error const&) {
        return {};
    }
}

void ask_between_rows(Lesson& l) {
    float const self = l.trace()[terms::softmax](l.row(), l.row());
    auto const same = same_after_mlp(l);
    l.ask(say("A head moves information between rows. What weight does row {} give itself? Which part of the "
              "model works within a row?",
              l.token(l.row())),
          3);
    l.answer(
        say("Its weight on itself is {}{}. The MLP, the other half of the layer, works within a row and "
            "never between rows: {}",
            weight(self),
            l.row() == 0 ? ", for it can read nothing else"
            : self == 1  ? ", so the blend is its own value"
            : self == 0  ? ", so all of the blend comes from other rows"
                         : ": to that extent the head reads the row itself too",
            same ? say("given row {} alone, as if the text had no other, {} of {} of the numbers that it "
                       "makes are bit-identical.",
                       l.row(), *same, l.trace().facts.d_model)
                 : Inline{"this model file does not have it, so it cannot be shown here."}));
    l.check_with(l.commands().at_row("trace", l.row()),
                 say("The line \"11 softmax\" has {} in column {}.", weight(self), l.token(l.row())));
}

void lesson(Lesson& l) {
    Case const& c = l.run().head;
    Matrix const blend = weigh_rows(l.trace()[terms::softmax], l.trace()[terms::v]);  // [query_pos, d_head]
    Matrix const output = matmul(blend, c.w_o);                                       // [query_pos, d_model]
    l.keep({terms::residual, terms::v, terms::softmax, terms::blend, terms::output_projection,
            terms::other_heads, terms::projection_bias, terms::residual_after});
    l.tell(
        say("Row {} multiplies the value of each row that it can read by that row's weight, and adds them "
            "up: {}.",
            l.token(l.row()), in_words(l.trace(), l.row())));
    l.show(blend_table(l.trace()));
    l.play("mixer", terms::blend);
    ask_what_dominates(l, blend);
    l.ask(say("What is the first number of the blend of row {}, d0, made of?", l.token(l.row())), 6);
    l.answer_worked(terms::blend, l.row(), 0);
    tell_widening(l);
    ask_how_much(l, output);
    ask_between_rows(l);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"5_blend_project", "5: blend the values, and add the result back",
                           "What does a row take home, and where does it go?", onehead::lesson});
}
