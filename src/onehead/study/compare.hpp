// Two results of one shape, held against each other. Every question of this kind (two runs, a changed word,
// a reference) is answered from here, so that "the same" means one thing: the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onehead/math/tensor.hpp"
#include "onehead/study/statistics.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

struct Difference {
    std::size_t cells = 0;      // that were compared
    std::size_t identical = 0;  // of these, those with the same bits
    double largest = 0;         // absolute
    std::size_t row = 0;        // where it is, the first of equals; unless all are identical
    std::size_t column = 0;

    bool same() const { return identical == cells; }
    void add(float a, float b, std::size_t at_row, std::size_t at_column);  // one more cell
};

// |a - b|: 0 for equal values, -inf too; infinite where only one of them is finite or one is not a number.
double distance(double a, double b);

using Cells = std::function<bool(std::size_t row, std::size_t column)>;

// a and b have the same shape; compared are those cells for which `which` holds.
Difference compare(Matrix const& a, Matrix const& b, Cells const& which);
Difference compare(Matrix const& a, Matrix const& b);  // all cells

// Two runs on the same tokens, A and B: how far apart each step is, and how differently each row spreads its
// attention.

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
