// Lesson 1: the row becomes a query, a key and a value. Each is worked out from this row alone.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "lesson.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/io/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

Matrix only_row(Matrix const& all, std::size_t i) {
    Matrix one = make_matrix(1, column_count(all));
    std::copy_n(row(all, i).begin(), one.size(), one.data());
    return one;
}

// Where the row comes from, which is not the same in the first layer and in a deeper one.
void tell_arrival(Lesson& l) {
    std::size_t const layer = l.trace().facts.layer;
    l.tell(
        say("An attention head is the smallest part of a transformer that moves information from one token "
            "to another. The text is cut into tokens; the model keeps a row of {} numbers for each, and each "
            "part of the model adds to these rows: together they are the residual stream. This course "
            "follows one row, {}, through one head.",
            l.trace().facts.d_model, l.token(l.row())));
    Inline const begins =
        say("A row begins as the sum of two learned vectors: the token embedding of {0}, which is the same "
            "wherever {0} occurs, and the position embedding of position {1}, which is the same whatever "
            "token is there.",
            token_label(l.trace().tokens[l.row()].bytes), l.row());
    if (layer == 0) return l.tell(begins);
    l.tell(begins +
           say(" This head is in layer {}: the {} below it {} already added to the row. {}", layer,
               layer == 1 ? "layer" : fmt::format("{} layers", layer), layer == 1 ? "has" : "have",
               l.row() == 0
                   ? "All of that was worked out from this row alone, because row 0 can read no other."
                   : fmt::format("For that, {} heads could read {} too.", layer == 1 ? "its" : "their",
                                 rows_from(0, l.row() - 1))));
}

// The standard deviation of the row on its way through LayerNorm: after the division, the gains, the biases.
void tell_normalizing(Lesson& l, Matrix const& x) {
    LayerNorm const& ln = l.run().head.ln_1;
    auto const raw = row(l.run().head.residual, l.row());
    auto const [mean, variance] = moments(raw);
    Vector divided = xt::zeros<float>(ln.gain.shape());  // [d_model]
    for (std::size_t d = 0; d < raw.size(); ++d)
        divided(d) = static_cast<float>((raw[d] - mean) / std::sqrt(variance + ln.epsilon));
    Vector const times_gain = divided * ln.gain;  // [d_model]
    auto const deviation = [](auto const& values) { return component(standard_deviation(values)); };
    l.tell(
        say("LayerNorm comes first. It subtracts the mean of the row{} and divides by its standard "
            "deviation{}; then each component is multiplied by a learned gain and gets a learned bias. The "
            "standard deviation is {} after the division, {} after the gains ({} of {} are smaller than 1 in "
            "size) and {} after the biases. The head reads this normalized row, never the raw one.",
            l.run().head.residual_is_exact ? fmt::format(" ({})", component(mean)) : "",
            l.run().head.residual_is_exact ? fmt::format(" ({})", component(std::sqrt(variance))) : "",
            deviation(std::span<float const>{divided}), deviation(std::span<float const>{times_gain}),
            static_cast<std::size_t>(
                std::count_if(ln.gain.begin(), ln.gain.end(), [](float g) { return std::fabs(g) < 1; })),
            ln.gain.size(), deviation(row(x, l.row()))));
}

void ask_how_many_rows(Lesson& l, Matrix const& x) {
    Case const& c = l.run().head;
    Matrix const alone = only_row(x, l.row());  // [1, d_model]
    auto const same = [&](Term const& term, Matrix const& w, Vector const& b) {
        return compare(only_row(l.trace()[term], l.row()), project(alone, w, b)).identical;
    };
    std::size_t const identical =
        same(terms::q, c.w_q, c.b_q) + same(terms::k, c.w_k, c.b_k) + same(terms::v, c.w_v, c.b_v);
    std::size_t const all = 3 * column_count(c.w_q);
    bool const holds_others = l.trace().facts.layer > 0 && l.row() > 0;
    l.ask(
        say("How many of the other rows does the head need, to work out the query, key and value of row {}?",
            l.token(l.row())));
    l.answer(say(
        "{} Worked out from this row alone, as if the text had no other, {} of {} numbers are "
        "bit-identical.{}",
        identical == all ? "None." : "At least one (!).", identical, all,
        holds_others ? " But the row that arrives already holds what the layers below read in earlier rows."
                     : ""));
    l.check_worked(terms::k, l.row(), 0,
                   say("Each line has a number of row {} and one of W_k; no other row appears.", l.row()));
}

void ask_about_databases(Lesson& l) {
    auto const weights = row(l.trace()[terms::softmax], l.row());
    auto const read = std::count_if(weights.begin(), weights.end(), [](float w) { return w > 0; });
    std::string const largest = weight(describe_pattern_row(weights).largest);
    l.ask(
        "A database keeps records, compares a query with their keys and returns the value whose key matches. "
        "What does a head do differently?",
        4);
    l.answer(say(
        "It keeps nothing: query, key and value are worked out from the rows in every run. No key has to "
        "match: {}. And it divides the scores by {}, for which a database gives no reason: see lesson 3.",
        l.row() == 0 ? Inline{"row 0 can read only itself, and gets its own value whatever its score"}
        : read == 1
            ? say("row {} gives all its weight to one of the {} that it can read, but only because its "
                  "score is so far ahead. In general a row gets a weighted sum of all their values",
                  l.token(l.row()), counted(l.row() + 1, "row"))
            : say("row {} gives a weight above 0 to {} of the {} that it can read, at most {}, and gets a "
                  "weighted sum of their values instead of one of them",
                  l.token(l.row()), static_cast<std::size_t>(read), counted(l.row() + 1, "row"), largest),
        fmt::format("{:.4g}", l.trace().facts.divisor)));
    l.check_with(l.commands().at_row("trace", l.row()),
                 say("The largest weight in the line \"11 softmax\" is {}.", largest));
}

// Without its bias every key is moved by the same vector, and all scores of a row by the same number.
void ask_about_key_bias(Lesson& l, Matrix const& q, Matrix const& k) {
    Case const& c = l.run().head;
    Matrix const bias = xt::view(c.b_k, xt::newaxis(), xt::all());  // [1, d_head]
    Matrix const added = dot_rows(only_row(q, l.row()), bias);      // [1, 1]
    Matrix const pattern = trace(l.run(), "no-key-bias")[terms::softmax];
    double const moved = compare(l.trace()[terms::softmax], pattern).largest;
    double longest_q = 0, longest_k = norm(row(bias, 0));
    for (std::size_t i = 0; i < row_count(q); ++i) {
        longest_q = std::max(longest_q, norm(row(q, i)));
        longest_k = std::max(longest_k, norm(row(k, i)) + norm(row(bias, 0)));
    }
    double const rounding = 0x1p-22 * (1 + longest_q * longest_k / c.divisor);
    l.ask(
        "Each key is the row times W_k, plus a bias b_k. How much does the attention pattern change without "
        "that bias?",
        3);
    l.answer(
        say("{} b_k adds q \xc2\xb7 b_k to a score: in row {} that is {}, the same for every key. Softmax "
            "looks only at the gaps between the scores of a row, and adding the same number to all of them "
            "changes no gap.",
            moved == 0 ? std::string{"Not at all: every weight is bit-identical."}
            : moved <= rounding
                ? fmt::format("Only by rounding to float32: by {} at most, in any weight.", change(moved))
                : fmt::format("By {}, more than rounding to float32 explains (!).", change(moved)),
            l.token(l.row()), score(added(0, 0))));
    l.check_with_experiment("no-key-bias",
                            moved == 0 ? Inline{"The patterns are bit-identical."}
                                       : say("A weight differs by up to {}.", fmt::format("{:.2g}", moved)));
}

void lesson(Lesson& l) {
    Case const& c = l.run().head;
    Matrix const x = normalize(c.residual, c.ln_1);  // [pos, d_model]  the row as the head reads it
    Matrix const q = project(x, c.w_q, c.b_q);       // [pos, d_head]   what it is looking for
    Matrix const k = project(x, c.w_k, c.b_k);       // [pos, d_head]   what it advertises
    l.keep({terms::token_embedding, terms::position_embedding, terms::residual, terms::normalized, terms::q,
            terms::k, terms::v});
    tell_arrival(l);
    tell_normalizing(l, x);
    l.tell(
        say("Then the head reads the row three times, each time through a learned matrix of its own ({} by "
            "{}) with a bias. The query is what the row is looking for; the key is what it advertises to "
            "every row that looks at it; the value is what it hands over if it gets picked. All three are "
            "views of the same {} numbers, each {} numbers wide. The head never works in more than these {}, "
            "which is why one head can do only so much.",
            c.w_q.shape(0), c.w_q.shape(1), c.w_q.shape(0), c.w_q.shape(1), c.w_q.shape(1)));
    std::vector<Term> const steps{terms::token_embedding,
                                  terms::position_embedding,
                                  terms::residual,
                                  terms::normalized,
                                  terms::q,
                                  terms::k,
                                  terms::v};
    l.show(vector_table(l.trace(), steps));
    l.play("worked", terms::q);
    ask_how_many_rows(l, x);
    ask_about_databases(l);
    ask_about_key_bias(l, q, k);
    l.ask(say("What is the first number of the query of row {}, d0, made of?", l.token(l.row())), 4);
    l.answer_worked(terms::q, l.row(), 0);
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"1_query_key_value", "1: the row becomes a query, a key and a value",
                           "What does one row turn into before it can ask?", onehead::lesson});
}
