#include "tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "onehead/attention/gpt2.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

std::string head_number(std::size_t layer, std::size_t head) {
    return fmt::format("{}.{}", layer, head);
}

// A probability of a next token: a weight, unless it is so small that a weight would be shown as .000.
std::string probability(double p) {
    return p > 0 && weight(p) == ".000" ? change(p) : weight(p);
}

}  // namespace

std::string rows_from(std::size_t first, std::size_t last) {
    return first == last ? fmt::format("row {}", first) : fmt::format("rows {} to {}", first, last);
}

std::string means_over(std::size_t first, std::size_t last) {
    return (first == last ? "in " : "as means over ") + rows_from(first, last);
}

// ---------------------------------------------------------------------------------------------------------
// Scores

Table key_table(Trace const& trace) {
    std::size_t const i = trace.facts.row;
    auto const q = row(trace[terms::q], i);
    Table table;
    table.caption =
        say("The query of row {} has a norm of {}. Score = that norm * norm of the key * cosine similarity",
            token(trace, i), score(norm(q)));
    table.columns = {{"key"},
                     {"norm of the key", Align::right},
                     {"cosine similarity", Align::right},
                     {"score", Align::right}};
    for (std::size_t const key : shown_keys(trace, i)) {
        if (key > i) continue;
        auto const k = row(trace[terms::k], key);
        table.rows.push_back({{token(trace, key)},
                              {score(norm(k))},
                              {fixed(cosine_similarity(q, k), 2)},
                              {score(trace[terms::scores](i, key))}});
    }
    return table;
}

Table gaps_table(Trace const& trace, Matrix const& scaled, Matrix const& before, Matrix const& moved,
                 Matrix const& after) {
    std::size_t const i = trace.facts.row;
    Table table;
    table.columns = {{"key"}};
    auto const keys = shown_keys(trace, i);
    for (std::size_t const key : keys)
        if (key <= i) table.columns.emplace_back(token(trace, key), Align::right);
    auto const add = [&](std::string const& name, Matrix const& values, Term const& term) {
        std::vector<TableCell> cells{{name}};
        for (std::size_t const key : keys)
            if (key <= i) cells.emplace_back(number_of(term, values(i, key)));
        table.rows.push_back(std::move(cells));
    };
    add("scaled score", scaled, terms::scaled_scores);
    add("weight", before, terms::softmax);
    add("scaled score + 64", moved, terms::scaled_scores);
    add("weight then", after, terms::softmax);
    return table;
}

Table width_table() {
    constexpr std::size_t samples = 2000;
    Table table;
    table.caption =
        "Standard deviations; in the last column, where the mean is not 0, the root of the mean square";
    table.columns = {{"d_head", Align::right},     {"score", Align::right},
                     {"gap", Align::right},        {"scaled score", Align::right},
                     {"scaled gap", Align::right}, {"score, mean 1", Align::right}};
    for (std::size_t const width : {4U, 16U, 64U, 256U, 1024U}) {
        WidthDeviations const raw = measure_width(width, samples);
        double const root = std::sqrt(static_cast<double>(width));
        table.rows.push_back({{std::to_string(width)},
                              {score(raw.score)},
                              {score(raw.gap)},
                              {score(raw.score / root)},
                              {score(raw.gap / root)},
                              {score(raw.off_centre)}});
    }
    return table;
}

// ---------------------------------------------------------------------------------------------------------
// Weights

double slope_of(std::span<float const> weights) {
    double squares = 0;
    for (double const p : weights) squares += p * p;
    return std::max(0.0, 1 - squares);
}

RowsOfTwo compare_rows_of(Trace const& scaled, Trace const& unscaled) {
    constexpr double noticeable = 1e-6;
    Matrix const& soft = scaled[terms::softmax];
    Matrix const& sharp = unscaled[terms::softmax];
    RowsOfTwo rows{.count = row_count(soft) - 1};
    for (std::size_t i = 1; i <= rows.count; ++i) {
        double const a = describe_pattern_row(row(soft, i)).effective_rows;
        double const b = describe_pattern_row(row(sharp, i)).effective_rows;
        double const slope_a = slope_of(row(soft, i)), slope_b = slope_of(row(sharp, i));
        rows.effective_scaled += a / static_cast<double>(rows.count);
        rows.effective_unscaled += b / static_cast<double>(rows.count);
        if (b < a - noticeable) ++rows.sharper;
        if (slope_b < slope_a - noticeable) ++rows.less_steep;
        if (slope_b < slope_a / scaled.facts.divisor - noticeable) ++rows.less_steep_raw;
    }
    return rows;
}

Table sharpness_table(Trace const& scaled, Trace const& unscaled) {
    Table table;
    table.caption =
        "Rows: how many it reads in effect, the exponential of the entropy of its weights. Slope: 1 - sum of "
        "p^2";
    table.columns = {{"row"},
                     {"scaled: most on"},
                     {"weight", Align::right},
                     {"rows", Align::right},
                     {"slope", Align::right},
                     {"unscaled: most on"},
                     {"weight", Align::right},
                     {"rows", Align::right},
                     {"slope", Align::right}};
    for (std::size_t const i : shown_keys(scaled, scaled.facts.row)) {
        std::vector<TableCell> cells{{token(scaled, i)}};
        for (Trace const* trace : {&scaled, &unscaled}) {
            auto const weights = row((*trace)[terms::softmax], i);
            PatternRow const seen = describe_pattern_row(weights);
            cells.emplace_back(token(scaled, seen.favourite));
            cells.emplace_back(weight(seen.largest));
            cells.emplace_back(effective_rows(seen.effective_rows));
            cells.emplace_back(weight(slope_of(weights)));
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::size_t rows_on_one(Matrix const& pattern) {
    constexpr float nearly_all = 0.9F;
    std::size_t count = 0;
    for (std::size_t i = 1; i < row_count(pattern); ++i)
        if (std::ranges::max(row(pattern, i)) >= nearly_all) ++count;
    return count;
}

std::vector<OtherMask> other_masks(Run const& run, std::size_t i) {
    Matrix const right = trace(run, "")[terms::softmax];
    std::vector<OtherMask> masks;
    for (auto const& [rule, experiment] : {std::pair{"(a) no mask", "unmasked"},
                                           {"(b) after the softmax", "masked-after-softmax"},
                                           {"(c) 0 instead of -inf", "masked-by-zero"},
                                           {"(d) -10000 instead of -inf", "masked-by-10000"}}) {
        Matrix const pattern = trace(run, experiment)[terms::softmax];
        auto const weights = row(pattern, i);
        double const moves =
            compare(right, pattern, [&](std::size_t row, std::size_t) { return row == i; }).largest;
        masks.push_back({rule, sum(weights), sum(weights.subspan(i + 1)), moves});
    }
    return masks;
}

Table mask_table(std::vector<OtherMask> const& masks) {
    Table table;
    table.columns = {{"rule"},
                     {"weights add up to", Align::right},
                     {"on later rows", Align::right},
                     {"largest change of a weight", Align::right}};
    for (OtherMask const& mask : masks)
        table.rows.push_back(
            {{mask.rule}, {fixed(mask.total, 6)}, {weight(mask.later)}, {change(mask.moves)}});
    return table;
}

// ---------------------------------------------------------------------------------------------------------
// What comes out of it

Table product_table(Trace const& trace, bool with_products) {
    std::size_t const i = trace.facts.row;
    auto const weights = row(trace[terms::softmax], i);
    Table table;
    table.columns = {{"value of"}, {"weight", Align::right}, {"norm of the value", Align::right}};
    if (with_products) table.columns.emplace_back("weight * norm", Align::right);
    for (std::size_t const key : shown_keys(trace, i)) {
        if (weights[key] == 0) continue;
        double const size = norm(row(trace[terms::v], key));
        table.rows.push_back({{token(trace, key)}, {weight(weights[key])}, {score(size)}});
        if (with_products) table.rows.back().emplace_back(component(weights[key] * size));
    }
    return table;
}

CodeBlock flow_diagram(Trace const& trace) {
    std::size_t const i = trace.facts.row;
    auto keys = shown_keys(trace, i);
    if (std::ranges::find(keys, i) == keys.end()) keys.insert(std::ranges::upper_bound(keys, i), i);
    std::size_t widest = 0, views = 10;
    for (std::size_t const key : keys) {
        widest = std::max(widest, display_width(token_at(trace, key)));
        views = std::max(views, fmt::format("q{0} k{0} v{0}", key == i ? key : 0).size());
        views = std::max(views, fmt::format("k{0} v{0}", key).size());
    }
    auto const number = [&](Term const& term, std::size_t key) {
        return number_of(term, trace[term](i, key));
    };
    Facts const& facts = trace.facts;
    std::string const by = fmt::format("\xc3\xb7 {:.4g}", facts.divisor);
    std::string text =
        fmt::format("row{}  numbers    {}{:>11}{:>11}{:>11}{:>8}\n", std::string(widest - 3 + 2, ' '),
                    std::string(views - 4, ' '), fmt::format("q{} \xc2\xb7 k", i), by, "mask", "weight");
    bool is_first = true;
    std::string rail;
    for (std::size_t const key : keys) {
        std::string const label = token_at(trace, key);
        text += fmt::format("{}{}  {:>7} \xe2\x94\x80\xe2\x96\xb6 {:<{}}{:>11}{:>11}{:>11}{:>8}", label,
                            std::string(widest - display_width(label) + 2, ' '), facts.d_model,
                            key == i ? fmt::format("q{0} k{0} v{0}", key) : fmt::format("k{0} v{0}", key),
                            views, number(terms::scores, key), number(terms::scaled_scores, key),
                            number(terms::masked_scores, key), number(terms::softmax, key));
        text += key > i    ? "  \xe2\x94\x82  comes later\n"
                : is_first ? " \xe2\x94\x80\xe2\x94\x90\n"
                           : " \xe2\x94\x80\xe2\x94\xa4\n";
        is_first = false;
    }
    std::size_t const column = widest + 2 + 2 + 7 + 4 + views + 11 + 11 + 11 + 8 + 2;
    if (keys.size() < trace.tokens.size())
        text += fmt::format("... {} more rows\n", trace.tokens.size() - keys.size());
    auto const step = [&](std::string const& says) {
        text += std::string(column, ' ') + "\xe2\x96\xbc\n";
        text += std::string(column + 1 - std::min(column + 1, display_width(says)), ' ') + says + "\n";
    };
    auto const size = [&](Term const& term) { return score(norm(row(trace[term], i))); };
    step(fmt::format("sum of weight \xc2\xb7 v = blend: {} numbers, norm {}", facts.d_head,
                     size(terms::blend)));
    step(fmt::format("blend W_o, W_o [{}, {}]: {} numbers, norm {}", facts.d_head, facts.d_model,
                     facts.d_model, size(terms::output_projection)));
    step(trace.find(terms::residual_after) == nullptr
             ? fmt::format("added to row {}, with the other heads and the bias", i)
             : fmt::format("added to row {}, with the other heads and the bias: norm {}, then {}", i,
                           size(terms::residual), size(terms::residual_after)));
    return {std::move(text), ""};
}

// ---------------------------------------------------------------------------------------------------------
// Heads

Table block_table(std::vector<HeadSurvey> const& heads, std::vector<Matrix const*> const& outputs,
                  std::size_t row_asked, std::size_t n) {
    Table table;
    table.columns = {{"head"}, {"norm of what it adds", Align::right}};
    if (n > 1)
        for (char const* const mean : {"rows in effect", "weight on itself", "on the row before", "on row 0"})
            table.columns.emplace_back(mean, Align::right);
    for (HeadSurvey const& head : heads) {
        table.rows.push_back(
            {{head_number(head.layer, head.head)}, {score(norm(row(*outputs[head.head], row_asked)))}});
        if (n == 1) continue;
        table.rows.back().emplace_back(effective_rows(head.effective_rows));
        for (double const mean : {head.self, head.previous, head.first})
            table.rows.back().emplace_back(weight(mean));
    }
    return table;
}

Table kinds_table(std::vector<HeadSurvey> const& heads) {
    Table table;
    table.caption =
        "Mean weights; the last column where a token occurred before: on the row after its earlier place";
    table.columns = {{"head"},
                     {"stands out for"},
                     {"rows in effect", Align::right},
                     {"on the row before", Align::right},
                     {"on what followed", Align::right}};
    auto const add = [&](char const* kind, double HeadSurvey::*figure) {
        HeadSurvey const& head = *std::ranges::max_element(heads, {}, figure);
        table.rows.push_back({{head_number(head.layer, head.head)},
                              {kind},
                              {effective_rows(head.effective_rows)},
                              {weight(head.previous)},
                              {weight(head.induction)}});
    };
    add("blending many rows", &HeadSurvey::effective_rows);
    add("reading the row before", &HeadSurvey::previous);
    add("finding what followed", &HeadSurvey::induction);
    return table;
}

std::vector<int> fox_text(Model const& model) {
    try {
        static_cast<void>(model.final_norm());  // an excerpt has none
        static_cast<void>(model.mlp(0));        // nor has it every layer; and not every MLP can be run
        auto ids = model.encode("The quick brown fox jumps over the lazy dog. The quick brown fox jumps");
        model.check_tokens(ids);
        return ids;
    } catch (Error const&) {
        return {};
    }
}

// ---------------------------------------------------------------------------------------------------------
// The next token

Table worth_table(Worth const& worth) {
    Table table;
    table.columns = {
        {"head silenced"}, {"worth, in nats", Align::right}, {"left to the expected token", Align::right}};
    auto heads = worth.heads;
    std::ranges::stable_sort(heads, std::greater<>{}, &HeadWorth::worth);
    for (HeadWorth const& head : heads)
        table.rows.push_back({{head_number(head.layer, head.head)},
                              {head.worth < 0.0005 ? "0.000" : fixed(head.worth, 3)},
                              {weight(head.top_without)}});
    table.after =
        "Worth: how far the distribution of the next token moves, the sum over all tokens of p ln(p / p "
        "without the head), in nats.";
    return table;
}

namespace {

Label name_of(Model const& model, int id) {
    return {"", label(model.tokens({id}).front())};
}

std::size_t largest_of(Matrix const& probabilities) {
    auto const all = row(probabilities, 0);
    return static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
}

// Whether something is next to nothing, in the words of an answer.
std::string little_or_not(double nats) {
    return nats < little_worth ? ", which is next to nothing" : "";
}

}  // namespace

bool ask_about_next(Lesson& l, Inline question, std::string_view experiment) {
    std::optional<Next> next;
    try {
        Case const changed = changed_case(l.run(), std::string{experiment});
        constexpr std::size_t top = 3;
        next = next_tokens(l.run().head, &changed, l.trace().facts.layer, l.row(), top, blocks_of(l.model()));
    } catch (Error const&) {
        l.tell(
            "What the model expects next is left out: this model file does not have what comes after the "
            "head (the layers above, the final LayerNorm, the vocabulary). With the whole model this lesson "
            "shows it.");
        return false;
    }
    l.ask(std::move(question));
    auto const& likely = next->likely;
    auto const& top = *std::ranges::max_element(likely, {}, &NextToken::changed);
    std::string const nats = fmt::format("{:.2g}", next->worth);
    l.answer(say(
        "{} As it is, {} is on top with {}. With this head {}, {} {}",
        top.id == likely[0].id ? "No." : "Yes.", name_of(l.model(), likely[0].id),
        probability(likely[0].probability), Code{std::string{experiment}},
        top.id == likely[0].id
            ? say("it stays on top, with {}.", probability(top.changed))
            : say("{} is on top with {}, and {} is left with {}.", name_of(l.model(), top.id),
                  probability(top.changed), name_of(l.model(), likely[0].id), probability(likely[0].changed)),
        next->worth == 0 && l.row() == 0
            ? Inline{"Nothing moves, because row 0 can read only itself either way."}
            : say("The whole distribution moves by {} nats{}.", nats, little_or_not(next->worth))));
    Table table;
    table.columns = {{"next token"}, {"as it is", Align::right}, {std::string{experiment}, Align::right}};
    for (NextToken const& one : likely)
        table.rows.push_back(
            {{name_of(l.model(), one.id)}, {probability(one.probability)}, {probability(one.changed)}});
    table.after =
        say("Nats: the sum over all tokens of p ln(p / q), p as it is, q {}.", Code{std::string{experiment}});
    l.answer_with(std::move(table));
    l.check_with(l.commands().at_row(fmt::format("next --experiment {}", experiment), l.row()),
                 say("The same tokens and a few more, and {} nats.", fmt::format("{:.3g}", next->worth)));
    return true;
}

void answer_with_all_unscaled(Lesson& l) {
    try {
        Blocks const blocks = blocks_of(l.model());
        Blocks unscaled = blocks;
        unscaled.attention = [&](std::size_t layer) {  // queries sqrt(d_head) as large undo the division
            AttentionWeights weights = blocks.attention(layer);
            std::size_t const d_model = row_count(weights.c_attn);
            std::size_t const d_head = d_model / weights.n_head;
            auto const root = static_cast<float>(std::sqrt(static_cast<double>(d_head)));
            xt::view(weights.c_attn, xt::all(), xt::range(std::size_t{0}, d_model)) *= root;
            xt::view(weights.c_attn_bias, xt::range(std::size_t{0}, d_model)) *= root;
            return weights;
        };
        auto ids = token_ids(l.trace());
        ids.resize(l.row() + 1);
        auto const expected = [&](Blocks const& model) {
            Matrix const rows =
                residual_before(model.n_layer, first_rows(l.model(), ids), model);           // [pos, d_model]
            Matrix const last = xt::view(rows, xt::range(l.row(), l.row() + 1), xt::all());  // [1, d_model]
            return logits(last, model);  // [1, vocab_size]
        };
        Matrix const as_it_is = expected(blocks), changed = expected(unscaled);
        Matrix const p = softmax(as_it_is), q = softmax(changed);  // [1, vocab_size]
        std::size_t const top = largest_of(p), other = largest_of(q);
        double const nats = nats_apart(row(as_it_is, 0), row(changed, 0));
        if (nats == 0 && l.row() == 0)
            return l.answer(
                "Nor does anything move without the division in any head of the model, for the same reason. "
                "Take a later row (--row) to see that it is another model.");
        l.answer(say("Without the division in any head of the model, {} The distribution moves by {} nats{}",
                     top == other ? say("{} stays on top, with {} instead of {}.",
                                        name_of(l.model(), static_cast<int>(top)), probability(q(0, top)),
                                        probability(p(0, top)))
                                  : say("{} is on top with {}, and {} goes from {} to {}.",
                                        name_of(l.model(), static_cast<int>(other)), probability(q(0, other)),
                                        name_of(l.model(), static_cast<int>(top)), probability(p(0, top)),
                                        probability(q(0, top))),
                     fmt::format("{:.2g}", nats),
                     nats < little_worth ? ": next to nothing, on this text."
                                         : ": leaving the division out gives another model."));
    } catch (Error const&) {
        return;  // a model whose other layers cannot be run; the answer has said what it can
    }
}

// ---------------------------------------------------------------------------------------------------------
// Mistakes, and PyTorch

std::vector<Mistake> usual_mistakes(Run const& run) {
    constexpr double tolerance = 5e-6;
    Matrix const right = trace(run, "")[terms::softmax];
    std::vector<Mistake> mistakes;
    for (std::string const name :
         {"unscaled", "divide-by-sqrt-d-model", "raw-row", "no-bias", "wrong-slice"}) {
        Experiment const& experiment = find_experiment(name);
        if (experiment.needs_exact_rows && !run.head.residual_is_exact)
            continue;  // an inexact excerpt does not have that row
        Matrix const pattern = trace(run, name)[terms::softmax];
        Mistake mistake{.experiment = &experiment,
                        .largest = compare(right, pattern).largest,
                        .worst_sum = sum_pattern(pattern).worst_sum};
        for (std::size_t at = 0; at < right.size(); ++at)
            if (distance(right.data()[at], pattern.data()[at]) > tolerance) ++mistake.cells_apart;
        mistakes.push_back(mistake);
    }
    return mistakes;
}

Table mistakes_table(std::vector<Mistake> const& mistakes, std::size_t cells) {
    Table table;
    table.columns = {{"mistake"},
                     {"largest difference of a weight", Align::right},
                     {fmt::format("cells off, of {}", cells), Align::right}};
    for (Mistake const& mistake : mistakes)
        table.rows.push_back({{Code{std::string{mistake.experiment->name}}},
                              {change(mistake.largest)},
                              {mistake.cells_apart}});
    return table;
}

std::optional<PytorchValues> pytorch_values(Trace const& trace) {
    if (trace.facts.model != "gpt2-mini") return {};
    for (auto const& folder : {data_folder() / "reference", data_folder() / "../tests/reference"}) {
        auto const path = folder / "mini-0-f64.safetensors";
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) continue;
        Safetensors const file{path};
        auto const ids = file.read_integers("token_ids");
        std::vector<int> const own = token_ids(trace);
        if (!std::ranges::equal(ids, own)) return {};
        auto const all =
            file.read_doubles(fmt::format("{}.pattern", trace.facts.layer));  // [head, query_pos, key_pos]
        std::size_t const n = own.size();
        auto const begin = all.begin() + static_cast<std::ptrdiff_t>(trace.facts.head * n * n);
        constexpr std::size_t most = std::size_t{1} << 24;
        return PytorchValues{{{n, n}, {begin, begin + static_cast<std::ptrdiff_t>(n * n)}, "F64"},
                             read_text(path, most)};
    }
    return {};
}

}  // namespace onehead
