// One number of a trace worked out as on paper: its terms in order, the running sum, and at the end the same
// number to the bit. Nothing here calls the head's own functions: it starts from the weights and from the
// steps before, so that it is also a check of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "onehead/attention/head.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// All in double, as the head computes until it rounds.
struct Line {
    std::string what;            // "q[3] * k[3]", "mean: sum / 12"
    std::optional<double> left;  // what goes into it, as in the order of `what`
    std::optional<double> right;
    double value = 0;
    std::optional<double> running;  // the sum so far, if this is a term of one
};

struct Worked {
    Term term;
    std::size_t row = 0;
    std::size_t column = 0;
    std::string says;         // what is computed, in sentences
    std::vector<Line> lines;  // the last one's value is the result
    float result = 0;
    float in_trace = 0;

    bool agrees() const;  // to the bit
};

// `c` is the case that was traced, with its experiment applied. Throws a UsageError if the trace leaves the
// step out or has no such row or column.
Worked work_out(Case const& c, Trace const& trace, Term const& term, std::size_t row, std::size_t column);

}  // namespace onehead
