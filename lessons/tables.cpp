#include "tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "onehead/error.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

std::string one_decimal(double value) {
    return fmt::format("{:.1f}", value);
}

std::string head_number(HeadSurvey const& head) {
    return fmt::format("{}.{}", head.layer, head.head);
}

HeadSurvey const& best(std::vector<HeadSurvey> const& heads, double HeadSurvey::*figure) {
    return *std::max_element(heads.begin(), heads.end(),
                             [&](auto const& a, auto const& b) { return a.*figure < b.*figure; });
}

std::size_t count_apart(Matrix const& a, Matrix const& b, double tolerance) {
    std::size_t apart = 0;
    for (std::size_t at = 0; at < a.size(); ++at)
        if (distance(a.data()[at], b.data()[at]) > tolerance) ++apart;
    return apart;
}

}  // namespace

std::string width_table() {
    constexpr std::size_t samples = 2000;
    Table table{{Align::right}};
    table.add({"d_head", "spread of q.k", "of a gap", "divided: q.k", "gap"});
    for (std::size_t const width : {4U, 16U, 64U, 256U, 1024U}) {
        WidthSpread const raw = measure_width(width, samples);
        double const root = std::sqrt(static_cast<double>(width));
        table.add({std::to_string(width), short_score(raw.score), short_score(raw.gap),
                   short_score(raw.score / root), short_score(raw.gap / root)});
    }
    return table.text();
}

std::string slope_table(Trace const& divided, Trace const& undivided) {
    Table table{{Align::left, Align::left, Align::right}};
    table.add({"row", "reads most", "divided", "p(1-p)", "rows read", "undivided", "p(1-p)", "rows read"});
    auto const slope = [](double p) { return fmt::format("{:.1e}", p * (1 - p)); };
    for (std::size_t const i : shown_keys(divided, divided.facts.row)) {
        PatternRow const soft = describe_pattern_row(row(divided[terms::softmax], i));
        PatternRow const sharp = describe_pattern_row(row(undivided[terms::softmax], i));
        double const weight = divided[terms::softmax](i, sharp.favourite);
        table.add({token_at(divided, i), token_at(divided, sharp.favourite), short_weight(weight),
                   slope(weight), one_decimal(soft.effective_rows), short_weight(sharp.largest),
                   slope(sharp.largest), one_decimal(sharp.effective_rows)});
    }
    return table.text();
}

std::string mask_table(Run const& run, std::size_t row_asked) {
    Table table{{Align::left, Align::right}};
    table.add({"mask", "shares add up to", "of it on later rows"});
    for (std::string const name :
         {"", "unmasked", "masked-after-softmax", "masked-by-zero", "masked-by-10000"}) {
        Trace const changed = trace(run, name);
        auto const shares = row(changed[terms::softmax], row_asked);
        table.add({name.empty() ? "-inf before the softmax (GPT-2)" : name,
                   fmt::format("{:.6f}", sum(shares)), short_weight(sum(shares.subspan(row_asked + 1)))});
    }
    return table.text();
}

std::string block_table(std::vector<HeadSurvey> const& heads, std::vector<Matrix const*> const& outputs,
                        std::size_t row_asked) {
    Table table{{Align::left, Align::right}};
    table.add({"head", "adds to the row", "rows read", "on itself", "on the one before", "on the first"});
    for (HeadSurvey const& head : heads)
        table.add({head_number(head), fmt::format("{:.3f}", length(row(*outputs[head.head], row_asked))),
                   one_decimal(head.effective_rows), short_weight(head.self), short_weight(head.previous),
                   short_weight(head.first)});
    return table.text();
}

std::string kinds_table(std::vector<HeadSurvey> const& heads) {
    Table table{{Align::left, Align::left, Align::right}};
    table.add({"head", "the most of this model in", "rows read", "on the one before",
               "on what followed last time"});
    auto const add = [&](std::string const& kind, double HeadSurvey::*figure) {
        HeadSurvey const& head = best(heads, figure);
        table.add({head_number(head), kind, one_decimal(head.effective_rows), short_weight(head.previous),
                   short_weight(head.induction)});
    };
    add("blending many rows", &HeadSurvey::effective_rows);
    add("reading the token before", &HeadSurvey::previous);
    add("finding what came after the last time", &HeadSurvey::induction);
    return table.text();
}

std::string mistakes_table(Run const& run) {
    constexpr double tolerance = 5e-6;
    Matrix const right = trace(run, "")[terms::softmax];
    Table table{{Align::left, Align::right}};
    table.add({"mistake", "largest difference of a weight", "cells off by more than 5e-6"});
    for (std::string const name :
         {"", "unscaled", "divide-by-sqrt-d-model", "raw-row", "no-bias", "wrong-slice"}) {
        if (name == "raw-row" && !run.head.residual_is_exact)
            continue;  // an inexact excerpt does not have that row
        Matrix const pattern = trace(run, name)[terms::softmax];
        table.add({name.empty() ? "none" : name, fmt::format("{:.2g}", compare(right, pattern).largest),
                   fmt::format("{} of {}", count_apart(right, pattern, tolerance), right.size())});
    }
    return table.text();
}

}  // namespace onehead
