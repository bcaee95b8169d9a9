#include "onehead/study/causality.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "onehead/error.hpp"

namespace onehead {

namespace {

// What a step has where the shorter text has no column: a key that is not there is not read.
float absent(Term const& term) {
    return term.may_be_masked ? -std::numeric_limits<float>::infinity() : 0.0F;
}

bool holds(Matrix const& values, std::size_t i, std::size_t j) {
    return i < row_count(values) && j < column_count(values);
}

// Row i of a step. A cell that was not there before has nothing to change from, unless it should say that
// nothing is there.
RowVerdict check_row(Step const& before, Matrix const& after, std::size_t layer, Change const& change,
                     std::size_t i) {
    RowVerdict verdict{.allowed = {}, .forbidden = {}, .is_new = i >= row_count(before.values)};
    for (std::size_t j = 0; j < column_count(after); ++j) {
        bool const was_there = holds(before.values, i, j);
        float const value = was_there ? before.values(i, j) : absent(before.term);
        if (!may_change(before.term, layer, change, i, j))
            verdict.forbidden.add(value, after(i, j), i, j);
        else if (was_there)
            verdict.allowed.add(value, after(i, j), i, j);
    }
    return verdict;
}

StepVerdict check_step(Step const& before, Matrix const& after, std::size_t layer, Change const& change) {
    StepVerdict verdict{before.term, {}};
    for (std::size_t i = 0; i < row_count(after); ++i)
        verdict.rows.push_back(check_row(before, after, layer, change, i));
    return verdict;
}

std::string describe(Facts const& facts) {
    return fmt::format("{} of {}{}{}", head_name(facts), facts.model,
                       facts.experiment.empty() ? "" : ", experiment ", facts.experiment);
}

void expect_one_head(Facts const& a, Facts const& b) {
    auto const identity = [](Facts const& f) {
        return std::tie(f.weights_sha256, f.layer, f.head, f.d_model, f.d_head, f.experiment);
    };
    if (identity(a) == identity(b)) return;
    throw UsageError(
        fmt::format("causality: expected two runs of one head, found {} and {}: change nothing "
                    "but the text",
                    describe(a), describe(b)));
}

}  // namespace

std::size_t Change::first() const {
    return static_cast<std::size_t>(std::find(at.begin(), at.end(), true) - at.begin());
}

Change find_change(Tokens const& before, Tokens const& after) {
    auto const same = [](Token const& a, Token const& b) { return a.id == b.id; };
    bool const appended =
        after.size() > before.size() && std::equal(before.begin(), before.end(), after.begin(), same);
    if (after.size() != before.size() && !appended)
        throw UsageError(
            fmt::format("causality: the text has {} tokens before the change and {} after it, so "
                        "that positions shift and no row corresponds to another; replace a word "
                        "by one of as many tokens, or append words",
                        before.size(), after.size()));
    Change change{.at = {}, .before = before.size()};
    for (std::size_t pos = 0; pos < after.size(); ++pos)
        change.at.push_back(pos >= before.size() || !same(before[pos], after[pos]));
    return change;
}

bool may_change(Term const& term, std::size_t layer, Change const& change, std::size_t row,
                std::size_t column) {
    std::size_t const first = change.first();
    switch (layer == 0 ? term.reach : term.reach_deeper) {
        case Reach::nothing:
            return false;
        case Reach::appended_rows:
            return row >= change.before;
        case Reach::changed_rows:
            return change.at[row];
        case Reach::rows_from_first:
            return row >= first;
        case Reach::changed_rows_and_columns:
            return change.at[row] || change.at[column];
        case Reach::changed_rows_and_columns_below:
            return change.at[row] || (change.at[column] && row >= column);
        case Reach::rows_and_columns_from_first:
            return row >= first || column >= first;
    }
    return false;
}

bool Causality::holds() const {
    auto const row_holds = [](RowVerdict const& row) { return !row.broken(); };
    return std::all_of(steps.begin(), steps.end(), [&](StepVerdict const& step) {
        return std::all_of(step.rows.begin(), step.rows.end(), row_holds);
    });
}

Causality check_causality(Trace const& before, Trace const& after) {
    expect_tokens(before);
    expect_tokens(after);
    expect_one_head(before.facts, after.facts);
    Causality result{.change = find_change(before.tokens, after.tokens), .steps = {}};
    for (Step const& step : before.steps())
        result.steps.push_back(check_step(step, after[step.term], before.facts.layer, result.change));
    return result;
}

}  // namespace onehead
