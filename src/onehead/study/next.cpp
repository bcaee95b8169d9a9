#include "onehead/study/next.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/math/exp.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

// The rows that leave a layer's attention with this head in it, up to and including `row`.
Matrix residual_after(Case const& c, std::size_t row) {
    check(c);
    if (row >= row_count(c.residual))
        throw std::invalid_argument(
            fmt::format("row: expected one from 0 to {}, found {}", row_count(c.residual) - 1, row));
    Matrix const output = attend(c).output_projection;
    return xt::view(add_heads(c.residual, in_head_order(c, output), c.b_o), xt::range(0, row + 1), xt::all());
}

// The `top` largest, the largest first; the first of equals.
std::vector<std::size_t> largest(std::span<float const> values, std::size_t top) {
    std::vector<std::size_t> places(values.size());
    std::iota(places.begin(), places.end(), 0);
    auto const end = places.begin() + static_cast<std::ptrdiff_t>(std::min(top, places.size()));
    std::partial_sort(places.begin(), end, places.end(), [&](std::size_t a, std::size_t b) {
        return values[a] != values[b] ? values[a] > values[b] : a < b;
    });
    places.erase(end, places.end());
    return places;
}

Matrix last_row(Matrix const& rows) {
    return xt::view(rows, xt::range(row_count(rows) - 1, row_count(rows)), xt::all());
}

// A layer's MLP, for the last row alone where no layer follows that would read the others.
Matrix leave_layer(Matrix const& residual, std::size_t layer, MlpWeights const& mlp, Blocks const& blocks) {
    return layer + 1 == blocks.n_layer ? after_mlp(last_row(residual), mlp) : after_mlp(residual, mlp);
}

// A number that is no number anywhere on the way ends here.
Matrix finite_logits(Matrix const& residual, Blocks const& blocks) {
    Matrix scores = logits(residual, blocks);
    auto const bad = std::find_if(scores.begin(), scores.end(), [](float x) { return !std::isfinite(x); });
    if (bad != scores.end())
        throw Error(
            {.where = fmt::format("the score of token {} as the next one",
                                  static_cast<std::size_t>(bad - scores.begin()) % column_count(scores)),
             .expected = "a finite number",
             .found = fmt::format("{}", *bad),
             .advice = "are the weights of this model damaged?"});
    return scores;
}

Matrix last_rows(std::vector<Matrix> const& residuals) {
    Matrix last = make_matrix(residuals.size(), column_count(residuals.front()));
    for (std::size_t i = 0; i < residuals.size(); ++i)
        xt::view(last, i, xt::all()) = xt::view(residuals[i], row_count(residuals[i]) - 1, xt::all());
    return last;
}

}  // namespace

Next next_tokens(Case const& head, Case const* changed, std::size_t layer, std::size_t row, std::size_t top,
                 Blocks const& blocks) {
    std::vector<Matrix> residuals{residual_after(head, row)};
    if (changed != nullptr) residuals.push_back(residual_after(*changed, row));
    Matrix const scores = logits_after(std::move(residuals), layer, blocks);  // [1 or 2, vocab_size]
    Matrix const probabilities = softmax(scores);                             // [1 or 2, vocab_size]
    std::size_t const last = row_count(scores) - 1;

    Next next{.row = row, .likely = {}, .is_changed = changed != nullptr};
    std::vector<std::size_t> ids = largest(onehead::row(probabilities, 0), top);
    for (std::size_t const id : largest(onehead::row(probabilities, last), top))
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::size_t a, std::size_t b) { return probabilities(0, a) > probabilities(0, b); });
    for (std::size_t const id : ids)
        next.likely.push_back({static_cast<int>(id), probabilities(0, id), probabilities(last, id)});
    next.worth = nats_apart(onehead::row(scores, 0), onehead::row(scores, last));
    return next;
}

NextOfRun next_tokens(Model const& model, Request const& request, std::size_t top) {
    static_cast<void>(model.final_norm());  // an excerpt says at once that it has no next token
    NextOfRun result{prepare(model, request), {}, {}};
    Case const changed = changed_case(result.run, request.experiment);
    result.next = next_tokens(result.run.head, request.experiment.empty() ? nullptr : &changed, request.layer,
                              row_before_next(request, result.run.tokens.size()), top,
                              blocks_of(model, request.progress));
    std::vector<int> ids;
    for (NextToken const& token : result.next.likely) ids.push_back(token.id);
    result.likely = model.tokens(ids);
    return result;
}

Matrix logits_after(std::vector<Matrix> residuals, std::size_t layer, Blocks const& blocks) {
    static_cast<void>(blocks.final_norm());  // an excerpt says here that it has none, before the work begins
    for (; layer < blocks.n_layer; ++layer) {
        {
            MlpWeights const mlp = blocks.mlp(layer);
            for (Matrix& residual : residuals) residual = leave_layer(residual, layer, mlp, blocks);
        }  // whose memory is used again
        if (layer + 1 == blocks.n_layer) break;
        AttentionWeights const above = blocks.attention(layer + 1);
        for (Matrix& residual : residuals) residual = after_attention(residual, above);
    }
    return finite_logits(last_rows(residuals), blocks);
}

double nats_apart(std::span<float const> logits_p, std::span<float const> logits_q) {
    double const largest_p = *std::max_element(logits_p.begin(), logits_p.end());
    double const largest_q = *std::max_element(logits_q.begin(), logits_q.end());
    double sum_p = 0;
    double sum_q = 0;
    double apart = 0;  // sum of exp(p) * (p - q)
    for (std::size_t id = 0; id < logits_p.size(); ++id) {
        double const p = logits_p[id] - largest_p;
        double const q = logits_q[id] - largest_q;
        double const power = exponential(p);
        sum_p += power;
        sum_q += exponential(q);
        apart += power * (p - q);
    }
    return std::max(0.0, apart / sum_p + std::log(sum_q / sum_p));  // rounding may leave less than nothing
}

namespace {

// A model in which one head says nothing, as far as it has been computed.
struct Silenced {
    std::size_t layer, head;
    Matrix residual;  // [pos, d_model]
};

// For each head of a layer, the rows that leave the attention without it.
std::vector<Silenced> silence_each(Matrix const& residual, std::vector<Matrix> const& outputs,
                                   AttentionWeights const& block, std::size_t layer) {
    Matrix const nothing = xt::zeros<float>(residual.shape());
    std::vector<Silenced> all;
    for (std::size_t head = 0; head < outputs.size(); ++head) {
        std::vector<Matrix const*> without;
        for (std::size_t other = 0; other < outputs.size(); ++other)
            without.push_back(other == head ? &nothing : &outputs[other]);
        all.push_back({layer, head, add_heads(residual, without, block.c_proj_bias)});
    }
    return all;
}

// The heads of layers [first, last) are silenced, each in a model of its own, and all these models go up
// through the layers together. `residual` arrives at `first`; what arrives at `last` comes back in it.
std::vector<Silenced> carry_up(Matrix& residual, std::size_t first, std::size_t last, Blocks const& blocks,
                               Matrix& as_it_is, std::function<void()> const& progress) {
    std::vector<Silenced> all;
    Matrix whole = residual;  // [pos, d_model]
    for (std::size_t layer = first; layer < blocks.n_layer; ++layer) {
        AttentionWeights const block = blocks.attention(layer);
        MlpWeights const mlp = blocks.mlp(layer);
        for_tasks(all.size(), [&](std::size_t i) {
            all[i].residual = leave_layer(after_attention(all[i].residual, block), layer, mlp, blocks);
        });
        auto const outputs = head_outputs(whole, block, [](std::size_t) { return true; });
        if (layer < last) {
            auto more = silence_each(whole, outputs, block, layer);
            for_tasks(more.size(), [&](std::size_t i) {
                more[i].residual = leave_layer(more[i].residual, layer, mlp, blocks);
            });
            std::move(more.begin(), more.end(), std::back_inserter(all));
        }
        std::vector<Matrix const*> in_order;
        for (Matrix const& output : outputs) in_order.push_back(&output);
        whole = leave_layer(add_heads(whole, in_order, block.c_proj_bias), layer, mlp, blocks);
        if (layer + 1 == last) residual = whole;
        progress();
    }
    as_it_is = last_row(whole);
    return all;
}

// How many layers' heads go up together: as many as need no more than this for their rows.
std::size_t layers_at_a_time(Matrix const& residual, std::size_t n_head) {
    constexpr std::size_t at_most = 64'000'000;  // bytes
    return std::max<std::size_t>(1, at_most / (residual.size() * sizeof(float) * n_head));
}

}  // namespace

Worth worth_of_heads(Matrix residual, std::optional<std::size_t> layer, Blocks const& blocks,
                     std::function<void(std::size_t, std::size_t)> const& progress) {
    static_cast<void>(blocks.final_norm());  // an excerpt says here that it has none, before the work begins
    std::size_t const begin = layer.value_or(0);
    std::size_t const end = layer ? *layer + 1 : blocks.n_layer;
    if (end > blocks.n_layer)
        throw std::invalid_argument(
            fmt::format("layer: expected one from 0 to {}, found {}", blocks.n_layer - 1, begin));
    residual = residual_before(begin, std::move(residual), blocks);
    std::size_t const n_head = blocks.attention(begin).n_head;
    std::size_t const at_a_time = layers_at_a_time(residual, n_head);
    std::size_t all = 0;
    for (std::size_t first = begin; first < end; first += at_a_time) all += blocks.n_layer - first;

    Worth result;
    result.row = row_count(residual) - 1;
    std::size_t done = 0;
    for (std::size_t first = begin; first < end; first += at_a_time) {
        Matrix as_it_is;
        auto const silenced =
            carry_up(residual, first, std::min(first + at_a_time, end), blocks, as_it_is, [&] {
                if (progress) progress(++done, all);
            });
        std::vector<Matrix> ends{as_it_is};
        for (Silenced const& one : silenced) ends.push_back(one.residual);
        Matrix const scores = finite_logits(last_rows(ends), blocks);  // [1 + silenced, vocab_size]
        Matrix const probabilities = softmax(scores);
        auto const likely = row(probabilities, 0);
        auto const top =
            static_cast<std::size_t>(std::max_element(likely.begin(), likely.end()) - likely.begin());
        result.top = static_cast<int>(top);
        result.probability = likely[top];
        for (std::size_t i = 0; i < silenced.size(); ++i)
            result.heads.push_back({silenced[i].layer, silenced[i].head,
                                    nats_apart(row(scores, 0), row(scores, i + 1)),
                                    probabilities(i + 1, top)});
    }
    return result;
}

Worth worth_of_heads(Model const& model, Request const& request, std::optional<std::size_t> layer,
                     std::function<void(std::size_t, std::size_t)> const& progress) {
    static_cast<void>(model.final_norm());
    std::vector<int> ids = tokens_for_run(model, request);
    ids.resize(row_before_next(request, ids.size()) + 1);  // what comes later changes nothing
    return worth_of_heads(first_rows(model, ids), layer, blocks_of(model), progress);
}

}  // namespace onehead
