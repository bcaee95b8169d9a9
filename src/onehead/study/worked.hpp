// One number of a trace worked out as on paper: its terms in order, the running sum, and at the end the same
// number to the bit. Nothing here calls the head's own functions: it starts from the weights and from the
// steps before, so that it is also a check of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
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

// The sheet of paper on which one number is worked out, and the pieces of work that fill it, one a step.

class Sheet {
public:
    std::string says;

    // A line that is no term of a sum. Returns its value.
    double note(std::string what, std::optional<double> left, std::optional<double> right, double value) {
        lines_.push_back({std::move(what), left, right, value, {}});
        return value;
    }
    double note(std::string what, double value) { return note(std::move(what), {}, {}, value); }

    // A sum: what it starts from, and one term after the other.
    void start_sum() { sum_ = 0; }
    void start_sum(std::string what, double first) {
        sum_ = first;
        lines_.push_back({std::move(what), {}, {}, first, sum_});
    }
    void add(std::string what, std::optional<double> left, std::optional<double> right, double value) {
        sum_ += value;
        lines_.push_back({std::move(what), left, right, value, sum_});
    }
    void add(std::string what, double value) { add(std::move(what), {}, {}, value); }
    void add_product(std::string what, double left, double right) {
        add(std::move(what), left, right, left * right);
    }
    double sum() const { return sum_; }

    std::vector<Line> const& lines() const { return lines_; }

private:
    double sum_ = 0;
    std::vector<Line> lines_;
};

// Which number of which run.
struct Cell {
    Case const& c;
    Trace const& trace;
    std::size_t row;
    std::size_t column;
};

// Each writes its lines and returns the number before it is rounded to float32.
double work_token_embedding(Cell const& cell, Sheet& sheet);
double work_position_embedding(Cell const& cell, Sheet& sheet);
double work_residual(Cell const& cell, Sheet& sheet);
double work_normalized(Cell const& cell, Sheet& sheet);
double work_q(Cell const& cell, Sheet& sheet);
double work_k(Cell const& cell, Sheet& sheet);
double work_v(Cell const& cell, Sheet& sheet);
double work_scores(Cell const& cell, Sheet& sheet);
double work_scaled_scores(Cell const& cell, Sheet& sheet);
double work_masked_scores(Cell const& cell, Sheet& sheet);
double work_softmax(Cell const& cell, Sheet& sheet);
double work_blend(Cell const& cell, Sheet& sheet);
double work_output_projection(Cell const& cell, Sheet& sheet);
double work_other_heads(Cell const& cell, Sheet& sheet);
double work_projection_bias(Cell const& cell, Sheet& sheet);
double work_residual_after(Cell const& cell, Sheet& sheet);

}  // namespace onehead
