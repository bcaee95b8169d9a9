// What if? Each experiment is a named change of a Case: other data, or another step function. The arithmetic
// of the head does not know that it is in an experiment, and the other heads of the block stay as they are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "head/case.hpp"
#include "trace/terms.hpp"

namespace onehead {

struct Experiment {
    std::string_view name;      // "unscaled"
    std::string_view changes;   // what it does, a phrase that continues "this run ..."
    std::string_view question;  // what it answers

    void (*apply)(Case& c);

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

}  // namespace onehead
