#include "write/scores_in_words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "study/pattern.hpp"
#include "write/numbers.hpp"
#include "write/story.hpp"

namespace onehead {
namespace {

using Row = std::span<float const>;

std::size_t place_of(Row::iterator found, Row row) {
    return static_cast<std::size_t>(std::distance(row.begin(), found));
}

// The largest share that a softmax over these scores gives.
double largest_share(Row scores) {
    double const largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double const score : scores) sum += std::exp(score - largest);
    return 1 / sum;
}

// What row `row` would call a row that it reads.
std::string called(Trace const& trace, std::size_t key, std::size_t row) {
    return key == row ? "itself" : "row " + token_at(trace, key);
}

// The next few after the favourite, if they get a twentieth or more.
std::string who_else(Trace const& trace, std::size_t row, std::size_t favourite) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    std::vector<std::size_t> others;
    for (std::size_t key = 0; key < weights.size(); ++key)
        if (key != favourite && weights[key] >= 0.05) others.push_back(key);
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 3); ++i)
        list += fmt::format("{}{} {}", i == 0 ? ", then to " : ", ", called(trace, others[i], row),
                            short_weight(weights[others[i]]));
    return list;
}

}  // namespace

std::string how_it_scores(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    Row const seen = onehead::row(trace[terms::scores], row).first(row + 1);
    std::string how = fmt::format(
        "The query of row {} is held against the key of every row, its own too: their {} numbers are "
        "multiplied place by place, and the products are added up. The sum is a score: how strongly row {} "
        "wants that row.",
        token_at(trace, row), trace.facts.d_head, row);
    if (row == 0) return how;
    auto const best = std::max_element(seen.begin(), seen.end());
    auto const worst = std::min_element(seen.begin(), seen.end());
    return how + fmt::format(" Of the rows up to its own it wants row {} most ({}) and row {} least ({}).",
                             token_at(trace, place_of(best, seen)), short_score(*best),
                             token_at(trace, place_of(worst, seen)), short_score(*worst));
}

std::string how_it_divides(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    std::string how = fmt::format(
        "A sum of {0} products easily grows large, and softmax is exponential: so every score is divided by "
        "the square root of {0}, which is {1:.4g}.",
        trace.facts.d_head, std::sqrt(static_cast<double>(trace.facts.d_head)));
    if (row == 0 || !trace.facts.experiment.empty()) return how;
    Row const raw = onehead::row(trace[terms::scores], row).first(row + 1);
    std::string const divided =
        short_weight(describe_pattern_row(onehead::row(trace[terms::softmax], row)).largest);
    std::string const undivided = short_weight(largest_share(raw));
    if (divided == undivided)
        return how +
               fmt::format(" In this row it hardly shows: undivided, the largest share would be {} too.",
                           undivided);
    return how + fmt::format(" Undivided, the largest share of this row would be {} instead of {}.",
                             undivided, divided);
}

std::string how_it_masks(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    std::size_t const later = trace.tokens.size() - 1 - row;
    std::string const rule = "A row may read itself and what came before it. ";
    if (later == 0) return rule + "This is the last row: nothing comes later, and nothing is masked.";
    Row const scores = onehead::row(trace[terms::scores], row);
    auto const best = std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(row) + 1, scores.end());
    return rule + fmt::format(
                      "{} later, whatever {} score{} (up to {}, of row {}): there the score is replaced by "
                      "-inf.",
                      later == 1 ? "1 row comes" : fmt::format("{} rows come", later),
                      later == 1 ? "its" : "their", later == 1 ? "" : "s", short_score(*best),
                      token_at(trace, place_of(best, scores)));
}

std::string how_it_shares() {
    return "Softmax turns what is left into shares: e to the power of each score, divided by the sum of "
           "these over the row. e to the power of -inf is 0, so a masked row gets exactly nothing.";
}

std::string pattern_sentence(Trace const& trace, std::size_t row) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    PatternRow const seen = describe_pattern_row(weights);
    double sum = 0;
    for (double const weight : weights) sum += weight;
    std::string const rest_here =
        seen.favourite == 0 && row > 0 && seen.largest > 0.5
            ? " Many heads have learned to rest on the first row what they have no better use for."
            : "";
    return fmt::format(
        "Row {} gives most to {}: {}{}. Its shares add up to {:.6f}, and are as spread out as if it read "
        "{:.1f} rows equally (e to the entropy of its shares).{}",
        token_at(trace, row), called(trace, seen.favourite, row), short_weight(seen.largest),
        who_else(trace, row, seen.favourite), sum, seen.effective_rows, rest_here);
}

}  // namespace onehead
