#include "tables.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "onehead/attention/experiments.hpp"
#include "onehead/error.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

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

Table width_table() {
    constexpr std::size_t samples = 2000;
    Table table;
    table.columns = {{"d_head", Align::right},
                     {"spread of q.k", Align::right},
                     {"of a gap", Align::right},
                     {"scaled: q.k", Align::right},
                     {"gap", Align::right}};
    for (std::size_t const width : {4U, 16U, 64U, 256U, 1024U}) {
        WidthDeviations const raw = measure_width(width, samples);
        double const root = std::sqrt(static_cast<double>(width));
        table.rows.push_back({{std::to_string(width)},
                              {score(raw.score)},
                              {score(raw.gap)},
                              {score(raw.score / root)},
                              {score(raw.gap / root)}});
    }
    return table;
}

Table slope_table(Trace const& divided, Trace const& undivided) {
    Table table;
    table.columns = {{"row"},
                     {"reads most"},
                     {"scaled", Align::right},
                     {"p(1-p)", Align::right},
                     {"rows", Align::right},
                     {"unscaled", Align::right},
                     {"p(1-p)", Align::right},
                     {"rows", Align::right}};
    auto const slope = [](double p) { return change(p * (1 - p)); };
    for (std::size_t const i : shown_keys(divided, divided.facts.row)) {
        PatternRow const soft = describe_pattern_row(row(divided[terms::softmax], i));
        PatternRow const sharp = describe_pattern_row(row(undivided[terms::softmax], i));
        double const p = divided[terms::softmax](i, sharp.favourite);
        table.rows.push_back({{token(divided, i)},
                              {token(divided, sharp.favourite)},
                              {weight(p)},
                              {slope(p)},
                              {effective_rows(soft.effective_rows)},
                              {weight(sharp.largest)},
                              {slope(sharp.largest)},
                              {effective_rows(sharp.effective_rows)}});
    }
    return table;
}

Table mask_table(Run const& run, std::size_t row_asked) {
    Table table;
    table.columns = {{"mask"}, {"weights add up to", Align::right}, {"of it on later rows", Align::right}};
    for (std::string const name :
         {"", "unmasked", "masked-after-softmax", "masked-by-zero", "masked-by-10000"}) {
        Trace const changed = trace(run, name);
        auto const weights = row(changed[terms::softmax], row_asked);
        table.rows.push_back({{name.empty() ? "-inf before the softmax (GPT-2)" : name},
                              {fixed(sum(weights), 6)},
                              {weight(sum(weights.subspan(row_asked + 1)))}});
    }
    return table;
}

Table block_table(std::vector<HeadSurvey> const& heads, std::vector<Matrix const*> const& outputs,
                  std::size_t row_asked) {
    Table table;
    table.columns = {{"head"},
                     {"norm that it adds", Align::right},
                     {"rows", Align::right},
                     {"weight on itself", Align::right},
                     {"on the row before", Align::right},
                     {"on row 0", Align::right}};
    for (HeadSurvey const& head : heads)
        table.rows.push_back({{head_number(head)},
                              {component(norm(row(*outputs[head.head], row_asked)))},
                              {effective_rows(head.effective_rows)},
                              {weight(head.self)},
                              {weight(head.previous)},
                              {weight(head.first)}});
    return table;
}

Table kinds_table(std::vector<HeadSurvey> const& heads) {
    Table table;
    table.columns = {{"head"},
                     {"of all heads of this model the one that most"},
                     {"rows", Align::right},
                     {"weight on the row before", Align::right},
                     {"on what followed last time", Align::right}};
    auto const add = [&](char const* kind, double HeadSurvey::*figure) {
        HeadSurvey const& head = best(heads, figure);
        table.rows.push_back({{head_number(head)},
                              {kind},
                              {effective_rows(head.effective_rows)},
                              {weight(head.previous)},
                              {weight(head.induction)}});
    };
    add("blends many rows", &HeadSurvey::effective_rows);
    add("reads the token before", &HeadSurvey::previous);
    add("finds what came after the last time", &HeadSurvey::induction);
    return table;
}

Table mistakes_table(Run const& run) {
    constexpr double tolerance = 5e-6;
    Matrix const right = trace(run, "")[terms::softmax];
    Table table;
    table.columns = {{"mistake"},
                     {"largest difference of a weight", Align::right},
                     {"cells off by more than 5e-6", Align::right},
                     {"of", Align::right}};
    for (std::string const name :
         {"", "unscaled", "divide-by-sqrt-d-model", "raw-row", "no-bias", "wrong-slice"}) {
        if (!name.empty() && find_experiment(name).needs_exact_rows && !run.head.residual_is_exact)
            continue;  // an inexact excerpt does not have that row
        Matrix const pattern = trace(run, name)[terms::softmax];
        table.rows.push_back({{name.empty() ? "none" : name},
                              {change(compare(right, pattern).largest)},
                              {count_apart(right, pattern, tolerance)},
                              {right.size()}});
    }
    return table;
}

}  // namespace onehead
