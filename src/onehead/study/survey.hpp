// What each head of a model does on a text, in figures: to find the head that is worth tracing.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/math/tensor.hpp"
#include "onehead/model/model.hpp"

namespace onehead {

// Means are over rows 1, 2, ...: row 0 has no choice but itself. Weights run from 0 to 1. What a text gives
// no occasion to measure is NaN: a mean over no rows, the strongest of no pairs.
struct HeadSurvey {
    std::size_t layer = 0;
    std::size_t head = 0;
    double self = 0;      // mean weight on the row itself
    double previous = 0;  // on the row before
    double first = 0;     // on row 0
    double induction =
        0;  // on the tokens that followed earlier occurrences of this token; over rows that have some
    double duplicate = 0;            // on earlier occurrences of this token; over rows that have some
    double entropy = 0;              // mean, in nats
    double effective_rows = 0;       // mean of e to the entropy
    double score_deviation = 0;      // standard deviation of the raw scores that rows may see
    std::size_t query = 0, key = 0;  // the strongest pair of different rows; row 0 is left to `first`
    double strongest = 0;            // its weight

    // What silencing the head does to the next token (study/next), where that was asked for: how far its
    // distribution moves, in nats, and what is left to the token that was on top.
    double worth = 0;
    double top_without = 0;
};

// One head, from its raw scores and its pattern, both [query_pos, key_pos], and the token ids of the text.
HeadSurvey survey_head(Matrix const& scores, Matrix const& pattern, std::vector<int> const& ids);

// Is shown each head's pattern [query_pos, key_pos] beside its figures.
using SeePattern = std::function<void(HeadSurvey const& head, Matrix const& pattern)>;

// Every head of a block, from the rows that arrive at it [pos, d_model]; `layer` is only noted.
std::vector<HeadSurvey> survey_block(Matrix const& residual, AttentionWeights const& block, std::size_t layer,
                                     std::vector<int> const& ids, SeePattern const& see = {});

// Every head of a model, from the rows that arrive at layer 0 [pos, d_model].
std::vector<HeadSurvey> survey_model(Matrix residual, std::size_t n_layer, Blocks const& blocks,
                                     std::vector<int> const& ids, SeePattern const& see = {});

// Every head of a model on these tokens, or the heads of one layer; of an excerpt, those of its layer.
std::vector<HeadSurvey> survey_heads(Model const& model, std::vector<int> const& ids,
                                     std::optional<std::size_t> layer, SeePattern const& see = {});

// Standard deviation of the raw scores [query_pos, key_pos] over the pairs that the mask allows.
double deviation_of_scores(Matrix const& scores);

}  // namespace onehead
