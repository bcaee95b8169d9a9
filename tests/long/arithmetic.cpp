// The arithmetic alone: traces of seeded random heads, every number as its four bytes, to be hashed. Each
// instruction set of the kernel and one or two threads must give the same; what differs is an error.
#include <fmt/format.h>
#include <cstdio>
#include <string>

#include "onehead/attention/gpt2.hpp"
#include "onehead/math/parallel.hpp"
#include "support/each_kernel.hpp"
#include "support/random_case.hpp"

namespace onehead::test {
namespace {

void add(Matrix const& values, std::string& bytes) {
    bytes.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float));
}

void add(Trace const& trace, std::string& bytes) {
    for (Step const& step : trace.steps()) add(step.values, bytes);
}

// A head and an MLP as wide as GPT-2's.
void add_wide(std::string& bytes) {
    Random random{7};
    std::size_t const d = 768;
    AttentionWeights const attention{.n_head = 12,
                                     .ln_1 = {random.vector(d), random.vector(d), 1e-5},
                                     .c_attn = random.matrix(d, 3 * d),
                                     .c_attn_bias = random.vector(3 * d),
                                     .c_proj = random.matrix(d, d),
                                     .c_proj_bias = random.vector(d)};
    MlpWeights const mlp{.ln_2 = {random.vector(d), random.vector(d), 1e-5},
                         .c_fc = random.matrix(d, 4 * d),
                         .c_fc_bias = random.vector(4 * d),
                         .c_proj = random.matrix(4 * d, d),
                         .c_proj_bias = random.vector(d)};
    Matrix const rows = random.matrix(40, d);
    add(trace_of(make_case(rows, attention, 3)), bytes);
    add(after_mlp(rows, mlp), bytes);
}

std::string all_bytes() {
    std::string bytes;
    for (std::size_t const n_seq : {1U, 5U, 100U, 512U}) {
        add(trace_of(deeper_case(1, n_seq)), bytes);
        for (Experiment const& experiment : experiments())
            if (experiment.name != "silent" &&
                experiment.name != "no-key-bias")  // not in the committed sha256
                add(trace_of(with_experiment(random_case(2, n_seq), experiment.name)), bytes);
    }
    add_wide(bytes);
    return bytes;
}

int run() {
    std::string const expected = all_bytes();
    bool same = true;
    with_each_kernel([&](Kernel const& kernel) {
        for (std::size_t const threads : {1U, 2U}) {
            set_thread_count(threads);
            if (all_bytes() == expected) continue;
            fmt::print(stderr, "kernel {}, threads: {}: other bytes\n", kernel.name, threads);
            same = false;
        }
    });
    std::fwrite(expected.data(), 1, expected.size(), stdout);
    return same ? 0 : 1;
}

}  // namespace
}  // namespace onehead::test

int main() {
    return onehead::test::run();
}
