// Two runs on the same tokens, A and B: how far apart each step is, and how differently each row spreads its
// attention.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/compare.hpp"
#include "study/pattern.hpp"
#include "trace/trace.hpp"

namespace onehead {

struct StepDifference {
    Term term;
    Difference difference;
};

// A row of the attention pattern in both runs.
struct RowDifference {
    PatternRow a, b;

    // The Kullback-Leibler divergence of B from A in nats: the sum of a ln(a / b), what it costs to take B
    // for A. Infinite where B gives nothing to a key that A reads. Nothing if the row is not comparable.
    std::optional<double> divergence;

    // Whether both rows sum to 1. Only then are they shares, and entropy, effective rows and divergence mean
    // something.
    bool comparable() const { return divergence.has_value(); }
};

struct Comparison {
    std::string a, b;                   // what the two are called
    std::vector<StepDifference> steps;  // that both have
    std::vector<Term> only_in_a, only_in_b;
    std::vector<RowDifference> pattern;  // [query_pos]; empty unless both have the pattern

    bool same() const;  // every value bit-identical, and the same steps
};

// `name_a` and `name_b` are what the two are called. Throws a UsageError that says what differs if the tokens
// or the shapes do.
Comparison compare(Trace const& a, Trace const& b, std::string const& name_a = "A",
                   std::string const& name_b = "B");

// What came out, in a sentence without a full stop.
std::string verdict(Comparison const& comparison);

}  // namespace onehead
