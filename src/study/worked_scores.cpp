// Numbers that say how one row reads another, worked out: score, scaling, mask and softmax.
#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "math/exp.hpp"
#include "study/sheet.hpp"

namespace onehead {
namespace {

bool masks_after_softmax(Cell const& cell) {
    return cell.trace.facts.experiment == "masked-after-softmax";
}

// What stands over a score that the row may not see; nothing if the score stays.
std::optional<double> written_over(Cell const& cell) {
    std::string const& experiment = cell.trace.facts.experiment;
    bool const later = cell.column > cell.row;
    if (experiment == "masked-by-zero") return later ? std::optional{0.0} : std::nullopt;
    if (experiment == "masked-by-10000") return later ? std::optional{-10000.0} : std::nullopt;
    if (masks_after_softmax(cell) || cell.column < cell.c.visible[cell.row]) return {};
    return -std::numeric_limits<double>::infinity();
}

double work_share(Cell const& cell, Sheet& sheet, std::span<float const> scores) {
    auto const best = std::max_element(scores.begin(), scores.end());
    double const largest =
        sheet.note(fmt::format("the largest, of key {}",
                               token_at(cell.trace, static_cast<std::size_t>(best - scores.begin()))),
                   *best);
    double mine = 0;
    sheet.start_sum();
    for (std::size_t j = 0; j < scores.size(); ++j) {
        double const below = scores[j] - largest;
        double const power = exponential(below);
        sheet.note(fmt::format("key {}: score - largest", token_at(cell.trace, j)), scores[j], largest,
                   below);
        sheet.add(fmt::format("key {}: exp(difference)", token_at(cell.trace, j)), below, {}, power);
        if (j == cell.column) mine = power;
    }
    return sheet.note(fmt::format("share of key {}: its exp / sum", token_at(cell.trace, cell.column)), mine,
                      sheet.sum(), mine / sheet.sum());
}

}  // namespace

double work_scores(Cell const& cell, Sheet& sheet) {
    sheet.says = fmt::format("The query of {} with the key of {}, product by product.",
                             token_at(cell.trace, cell.row), token_at(cell.trace, cell.column));
    auto const q = row(cell.trace[terms::q], cell.row);
    auto const k = row(cell.trace[terms::k], cell.column);
    sheet.start_sum();
    for (std::size_t d = 0; d < q.size(); ++d)
        sheet.add_product(fmt::format("q[{0}] * k[{0}]", d), q[d], k[d]);
    return sheet.sum();
}

double work_scaled_scores(Cell const& cell, Sheet& sheet) {
    sheet.says = "The score, divided by what this run divides scores by.";
    double const score = cell.trace[terms::scores](cell.row, cell.column);
    return sheet.note("score / divisor", score, cell.c.divisor, score / cell.c.divisor);
}

double work_masked_scores(Cell const& cell, Sheet& sheet) {
    double const scaled = cell.trace[terms::scaled_scores](cell.row, cell.column);
    auto const over = written_over(cell);
    sheet.says = fmt::format("Row {} asks, row {} is asked: {}.", cell.row, cell.column,
                             over ? "later than the query, so it is masked" : "the scaled score stays");
    return sheet.note(over ? fmt::format("scaled score, written over with {}", *over) : "scaled score",
                      scaled, {}, over.value_or(scaled));
}

double work_softmax(Cell const& cell, Sheet& sheet) {
    std::size_t const visible = cell.c.visible[cell.row];
    bool const hidden = cell.column >= visible;
    if (hidden && !masks_after_softmax(cell)) {
        sheet.says =
            fmt::format("Row {} may not read row {}: its share is exactly 0.", cell.row, cell.column);
        return sheet.note("masked", 0);
    }
    auto const all = row(cell.trace[terms::masked_scores], cell.row);
    auto const scores = masks_after_softmax(cell) ? all : all.first(visible);
    sheet.says = fmt::format(
        "The share of {} in what {} reads: e to the power of its score, as a part of the "
        "sum over {} keys. Taking the largest score off all of them changes no share and "
        "keeps the powers small.",
        token_at(cell.trace, cell.column), token_at(cell.trace, cell.row), scores.size());
    double const share = work_share(cell, sheet, scores);
    return hidden ? sheet.note("masked after the softmax: 0 written over it", share, {}, 0) : share;
}

}  // namespace onehead
