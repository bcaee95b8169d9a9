// Two results of one shape, held against each other. Every question of this kind (two runs, a changed word,
// a reference) is answered from here, so that "the same" means one thing: the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/npy.hpp"
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

    // Whether both rows sum to 1. Only then do they share out the whole, and entropy, effective rows and
    // divergence mean something.
    bool comparable() const { return divergence.has_value(); }
};

struct Comparison {
    std::string a, b;                   // what the two are called
    std::string not_one_head;           // says so where they are not one head of one model; else empty
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

// One step of a trace, held against what another implementation computed. A value passes by the rule of
// numpy.allclose: |value - reference| <= absolute + relative * |reference|.

struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

// What a right implementation stays within, with a factor of two to spare on real GPT-2 and on gpt2-mini. A
// trace stores float32, so it is itself off the exact numbers; a reference that PyTorch computed in float32
// is off on its own account too, most of all in the patterns of deeper heads, where scores are large. The
// usual mistakes (no scaling, no bias, the raw row, the wrong columns) are far outside: they move the pattern
// of GPT-2's head 0.0 by 0.17 and more.
//
//     step              reference in float64        reference in float32
//     pattern           5e-6                        5e-5
//     others, layer 0   2e-5 + 1e-5 |reference|     4e-5 + 2e-5 |reference|
//     others, deeper    5e-5 + 2e-5 |reference|     1e-4 + 4e-5 |reference|
Tolerance default_tolerance(Term const& term, std::size_t layer, bool reference_is_float32);

// The same for a reference that was stored in fewer bits: half a step of its type more. Types as safetensors
// names them.
Tolerance stored_as(Tolerance tolerance, std::string_view dtype);

struct CheckedValue {
    std::size_t row = 0;
    std::size_t column = 0;
    double value = 0;  // in the trace
    double reference = 0;
    double difference = 0;  // absolute
    double tolerance = 0;   // what it may be here
};

struct Check {
    Term term;
    Tolerance tolerance;
    std::size_t cells = 0;
    std::size_t out_of_tolerance = 0;
    CheckedValue worst;            // the one that takes up most of its tolerance; the first of equals
    std::size_t finite_masks = 0;  // cells that are -inf in the trace and at or below -1e4 in the reference

    bool passed() const { return out_of_tolerance == 0; }
};

// The reference has the step's shape; dimensions of 1 in front (a batch, a head) do not count. Throws a
// UsageError that says both shapes if it has not.
Check check(Step const& step, Array const& reference, Tolerance const& tolerance);

// "PASS: ..." or "FAIL: ..." with the worst value and its place, without a full stop.
std::string verdict(Check const& check);

}  // namespace onehead
