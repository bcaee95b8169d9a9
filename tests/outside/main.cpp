// Three rows of width two, small enough to be worked out by hand: builds a Case, traces it, and prints what
// came out.
#include <cstdio>
#include <onehead/attention/experiments.hpp>
#include <onehead/attention/head.hpp>

namespace {

// The rows are the unit vectors, so the weights are the queries, keys and values.
onehead::Case three_rows() {
    return {.residual = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
            .ln_1 = {.gain = {1, 1, 1}, .bias = {0, 0, 0}},
            .w_q = {{1, 0}, {0, 1}, {1, 1}},
            .w_k = {{1, 0}, {0, 2}, {1, 1}},
            .w_v = {{1, 0}, {0, 1}, {2, 2}},
            .b_q = {0, 0},
            .b_k = {0, 0},
            .b_v = {0, 0},
            .w_o = {{1, 0, 0}, {0, 1, 0}},
            .b_o = {0, 0, 0},
            .normalize = onehead::leave_raw};
}

}  // namespace

int main() {
    onehead::Tokens const tokens{{0, "a"}, {1, "b"}, {2, "c"}};
    onehead::Trace const trace = onehead::trace_head(three_rows(), tokens);
    for (onehead::Step const& step : trace.steps()) {
        std::printf("%s", step.term.name.data());
        for (float const value : step.values) std::printf(" %.9g", static_cast<double>(value));
        std::printf("\n");
    }
}
