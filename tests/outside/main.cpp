// Three rows of width two, small enough to be worked out by hand: builds a Case, traces it, and prints what
// came out.
#include <fmt/format.h>
#include <cmath>
#include <onehead/attention/head.hpp>

using onehead::Matrix;
using onehead::Vector;

namespace {

// The rows are the unit vectors, so that the weights are the queries, keys and values.
onehead::Case three_rows() {
    onehead::Case c;
    c.residual = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    c.w = {.w_q = {{1, 0}, {0, 1}, {1, 1}},
           .w_k = {{1, 0}, {0, 2}, {1, 1}},
           .w_v = {{1, 0}, {0, 1}, {2, 2}},
           .b_q = {0, 0},
           .b_k = {0, 0},
           .b_v = {0, 0},
           .w_o = {{1, 0, 0}, {0, 1, 0}}};
    c.block.c_proj_bias = Vector{0, 0, 0};
    c.visible = onehead::causal(3);
    c.divisor = std::sqrt(2.0);
    c.normalize = [](Matrix const& rows, onehead::LayerNorm const&) { return rows; };
    c.mask = onehead::mask;
    c.softmax = onehead::softmax;
    return c;
}

}  // namespace

int main() {
    onehead::Trace const trace = onehead::trace_head(three_rows());
    for (onehead::Step const& step : trace.steps()) {
        fmt::print("{}", step.term.name);
        for (float const value : step.values) fmt::print(" {}", value);
        fmt::print("\n");
    }
}
