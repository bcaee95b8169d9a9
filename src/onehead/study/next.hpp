// What one head is worth: the next token that the model expects, as it is and with something changed about
// one head. The rows that leave the attention go on through the layers above, the final LayerNorm and the
// unembedding; everything after the change is computed anew.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/math/tensor.hpp"
#include "onehead/model/run.hpp"

namespace onehead {

// A token that may come next.
struct NextToken {
    int id = 0;
    float probability = 0;
    float changed = 0;  // its probability with the change; the same as `probability` without one
};

struct Next {
    std::size_t row = 0;            // after which it comes
    std::vector<NextToken> likely;  // the most likely of both distributions, the likeliest first
    bool is_changed = false;        // whether there are two distributions
    double worth = 0;               // how far apart they are: the sum of p ln(p / p_changed), in nats
};

// The `top` most likely tokens after row `row` of a head's text; with `changed`, the same head with an
// experiment applied, both ways side by side. `layer` is the head's. Rows after `row` are not looked at.
// Throws a UsageError if the model is an excerpt, std::invalid_argument for a row that is not there.
Next next_tokens(Case const& head, Case const* changed, std::size_t layer, std::size_t row, std::size_t top,
                 Blocks const& blocks);

// The same for what a person asks for: after the request's row, by default the last, and with its experiment
// if it names one.
struct NextOfRun {
    Run run;
    Next next;
    Tokens likely;  // those of next.likely
};
NextOfRun next_tokens(Model const& model, Request const& request, std::size_t top);

// Less than this, in nats, is next to nothing.
inline constexpr double little_worth = 0.01;

// The logits [n, vocab_size] of what comes next, for n ways in which the rows [pos, d_model] may leave a
// layer's attention: after the last of these rows. Each layer's weights are read once for all of them.
Matrix logits_after(std::vector<Matrix> residuals, std::size_t layer, Blocks const& blocks);

// The sum of p ln(p / q) over a vocabulary, in nats, where p and q are the softmax of these logits: how far
// q is from p (the Kullback-Leibler divergence).
double nats_apart(std::span<float const> logits_p, std::span<float const> logits_q);

// What happens to the next token when a head is silenced: its output is 0, and all else is computed on.
struct HeadWorth {
    std::size_t layer = 0;
    std::size_t head = 0;
    double worth = 0;       // how far the next token's distribution moves, in nats
    float top_without = 0;  // the probability left to the token that was on top
};

struct Worth {
    std::size_t row = 0;           // after which the next token comes
    int top = 0;                   // the token that the model expects
    float probability = 0;         // and how firmly
    std::vector<HeadWorth> heads;  // of every layer, or of the one that was asked for
};

// From the rows that arrive at layer 0 [pos, d_model]: every head of the model, or of one layer, judged by
// the token after the last row. The layers below a head are computed once for all heads. `progress` is told
// how many layers of how many are done.
Worth worth_of_heads(Matrix residual, std::optional<std::size_t> layer, Blocks const& blocks,
                     std::function<void(std::size_t done, std::size_t all)> const& progress = {});

// The same for the token after a request's row, by default the last.
Worth worth_of_heads(Model const& model, Request const& request, std::optional<std::size_t> layer,
                     std::function<void(std::size_t done, std::size_t all)> const& progress = {});

}  // namespace onehead
