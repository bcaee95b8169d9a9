// What if? Each experiment is a named change of a Case: other data, or another step function. The arithmetic
// of the head does not know that it is in an experiment, and the other heads of the block stay as they are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/attention/head.hpp"
#include "onehead/trace/terms.hpp"

namespace onehead {

struct Experiment {
    std::string_view name;      // "unscaled"
    std::string_view changes;   // what it does, a phrase that continues "this run ..."
    std::string_view question;  // what it answers

    void (*apply)(Case& c);  // may throw std::invalid_argument for a case that lacks what it changes

    // The formulas that hold instead of the terms' own.
    struct Formula {
        Term term;
        std::string_view text;
    };
    std::vector<Formula> formulas;

    bool needs_exact_rows = false;  // feeds rows to the head that an inexact excerpt does not have
};

std::span<Experiment const> experiments();

// The experiment of that name. Throws a UsageError that lists the names if there is none.
Experiment const& find_experiment(std::string_view name);

// What experiments are made of: functions that a head could have for a step instead of its own, and changes
// of its data. Whoever explains a Case asks it which of these it has.

// Instead of `normalize`; [pos, d_model].
Matrix leave_raw(Matrix const& residual, LayerNorm const& ln);
Matrix normalize_unbiased(Matrix const& residual, LayerNorm const& ln);  // squares divided by d_model - 1

// Instead of `softmax`, for scores that nobody masked: [query_pos, key_pos].
Matrix softmax_then_mask(Matrix const& scores);

void see_everything(Case& c);
void drop_biases(Case& c);
void cut_as_head_major(Case& c);  // c_attn's columns taken as [head, 3, d_head] instead of [3, head, d_head]
void transpose_output(Case& c);
void silence_other_heads(Case& c);

}  // namespace onehead
