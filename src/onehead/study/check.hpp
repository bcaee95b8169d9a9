// One step of a trace, held against what another implementation computed. A value passes by the rule of
// numpy.allclose: |value - reference| <= absolute + relative * |reference|.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "onehead/io/npy.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

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
    CheckedValue worst;  // the one that takes up most of its tolerance; the first of equals

    bool passed() const { return out_of_tolerance == 0; }
};

// The reference has the step's shape; dimensions of 1 in front (a batch, a head) do not count. Throws a
// UsageError that says both shapes if it has not.
Check check(Step const& step, Array const& reference, Tolerance const& tolerance);

// "PASS: ..." or "FAIL: ..." with the worst value and its place, without a full stop.
std::string verdict(Check const& check);

}  // namespace onehead
