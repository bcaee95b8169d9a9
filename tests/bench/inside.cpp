// What the parts cost, with Google Benchmark: the product against the processor's peak, a CSV's text against
// fprintf, the exponential, the vocabulary, and a block's weights against their whole file.
#include <benchmark/benchmark.h>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "onehead/math/exp.hpp"
#include "onehead/math/kernel.hpp"
#include "onehead/math/large_pages.hpp"
#include "onehead/math/parallel.hpp"
#include "onehead/model/model.hpp"
#include "onehead/trace/files.hpp"

namespace onehead::bench {
namespace {

std::string gpt2_small() {
    char const* const folder = std::getenv("ONEHEAD_BENCH_MODEL");
    if (folder == nullptr) throw std::runtime_error("ONEHEAD_BENCH_MODEL: expected a checkpoint's folder");
    return folder;
}

Matrix random_matrix(std::size_t rows, std::size_t columns) {
    std::mt19937 random{1};
    std::normal_distribution<float> normal;
    Matrix values = make_matrix(rows, columns);
    for (float& value : values) value = normal(random);
    return values;
}

// Sums that wait for no other, as many as it takes to keep the processor's multiply-adders busy.
template <std::size_t lanes>
[[gnu::always_inline]] inline void multiply_add(double* sums, double factor) {
    using Doubles [[gnu::vector_size(8 * lanes)]] = double;
    constexpr std::size_t independent = 12;
    Doubles sum[independent];
    std::memcpy(sum, sums, sizeof sum);
    for (int step = 0; step < 1000; ++step)
#pragma GCC unroll 12
        for (std::size_t i = 0; i < independent; ++i) sum[i] = sum[i] * factor + factor;
    std::memcpy(sums, sum, sizeof sum);
}

struct Peak {
    void (*run)(double* sums);
    std::size_t lanes;
};

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void multiply_add_8(double* sums) {
    multiply_add<8>(sums, 0.5);
}
[[gnu::target("avx2,fma")]] void multiply_add_4(double* sums) {
    multiply_add<4>(sums, 0.5);
}
Peak peak() {
    return __builtin_cpu_supports("avx512f") != 0 ? Peak{multiply_add_8, 8} : Peak{multiply_add_4, 4};
}
#else
Peak peak() {
    return {[](double* sums) { multiply_add<2>(sums, 0.5); }, 2};
}
#endif

void fma_peak(benchmark::State& state) {
    auto const [run, lanes] = peak();
    std::array<double, 12 * 8> sums{};
    for (auto _ : state) {
        run(sums.data());
        benchmark::DoNotOptimize(sums);
    }
    state.counters["flop"] = benchmark::Counter(2.0 * 12 * 1000 * static_cast<double>(lanes),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(fma_peak);

// Of all threads together, which is no more where two of them share the parts of one core.
void fma_peak_of_all(benchmark::State& state) {
    std::size_t const threads = std::thread::hardware_concurrency();
    set_thread_count(threads);
    auto const [run, lanes] = peak();
    constexpr int turns = 1000;
    for (auto _ : state)
        for_ranges(threads, 1, [run = run](std::size_t, std::size_t) {
            std::array<double, 12 * 8> sums{};
            for (int turn = 0; turn < turns; ++turn) run(sums.data());
            benchmark::DoNotOptimize(sums);
        });
    state.counters["flop"] =
        benchmark::Counter(2.0 * 12 * 1000 * turns * static_cast<double>(lanes * threads),
                           benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(fma_peak_of_all)->UseRealTime();

// The product that makes all queries, keys and values of a block, on one thread.
void product(benchmark::State& state) {
    set_thread_count(1);
    Matrix const a = random_matrix(static_cast<std::size_t>(state.range(0)), 768);
    Matrix const b = random_matrix(768, 2304);
    for (auto _ : state) benchmark::DoNotOptimize(multiply({a, b}));
    state.counters["flop"] = benchmark::Counter(2.0 * 768 * 2304 * static_cast<double>(state.range(0)),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(product)->Arg(6)->Arg(64)->Arg(1024);

// Where a row of a is all that a number of b is used for, memory is the limit: as many matrices in turn as a
// model has blocks, so that none is in a cache when it is used, on all threads.
std::vector<Matrix> const& weights_in_memory() {
    static std::vector<Matrix> const weights(24, random_matrix(768, 2304));
    return weights;
}

void count_weights(benchmark::State& state) {
    double const bytes = 24.0 * 768 * 2304 * sizeof(float);
    state.counters["bytes"] = benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

void product_from_memory(benchmark::State& state) {
    set_thread_count(std::thread::hardware_concurrency());
    Matrix const a = random_matrix(static_cast<std::size_t>(state.range(0)), 768);
    auto const& weights = weights_in_memory();
    for (auto _ : state)
        for (Matrix const& b : weights) benchmark::DoNotOptimize(multiply({a, b}));
    count_weights(state);
}
BENCHMARK(product_from_memory)->Arg(6)->Arg(8)->UseRealTime();

// The least that such a product does: reads every number once.
void read_memory(benchmark::State& state) {
    set_thread_count(std::thread::hardware_concurrency());
    auto const& weights = weights_in_memory();
    for (auto _ : state)
        for (Matrix const& b : weights)
            for_ranges(b.size(), 1, [&](std::size_t first, std::size_t last) {
                std::uint32_t bits = 0;
                for (std::size_t i = first; i < last; ++i) bits |= std::bit_cast<std::uint32_t>(b.data()[i]);
                benchmark::DoNotOptimize(bits);
            });
    count_weights(state);
}
BENCHMARK(read_memory)->UseRealTime();

void count_values(benchmark::State& state, Matrix const& values) {
    state.counters["value"] =
        benchmark::Counter(static_cast<double>(values.size()),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

Matrix const& numbers() {
    static Matrix const values = random_matrix(256, 768);
    return values;
}

void csv_ours(benchmark::State& state) {
    Tokens const tokens(row_count(numbers()), Token{464, "The"});
    Step const step{terms::residual, "", numbers()};
    for (auto _ : state)
        write_step_csv(step, tokens, [](std::string_view piece) { benchmark::DoNotOptimize(piece); });
    count_values(state, numbers());
}
BENCHMARK(csv_ours);

void csv_fprintf(benchmark::State& state) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file{std::fopen("/dev/null", "w"), std::fclose};
    for (auto _ : state)
        for (float const value : numbers()) std::fprintf(file.get(), ",%.9g", static_cast<double>(value));
    count_values(state, numbers());
}
BENCHMARK(csv_fprintf);

void exponentials_ours(benchmark::State& state) {
    std::vector<double> values(numbers().size());
    for (auto _ : state) {
        std::ranges::copy(numbers(), values.begin());
        exponentials(values);
        benchmark::DoNotOptimize(values.data());
    }
    count_values(state, numbers());
}
BENCHMARK(exponentials_ours);

void vocabulary(benchmark::State& state) {
    for (auto _ : state) {
        Tokenizer const tokenizer{gpt2_small()};
        benchmark::DoNotOptimize(tokenizer.encode("The cat sat on the mat"));
    }
}
BENCHMARK(vocabulary)->Unit(benchmark::kMillisecond);

void weights_of_block_0(benchmark::State& state) {
    set_thread_count(std::thread::hardware_concurrency());
    Checkpoint const checkpoint{gpt2_small()};
    for (auto _ : state) benchmark::DoNotOptimize(checkpoint.attention(0));
}
BENCHMARK(weights_of_block_0)->Unit(benchmark::kMillisecond)->UseRealTime();

void whole_file(benchmark::State& state) {
    std::string const path = gpt2_small() + "/model.safetensors";
    for (auto _ : state) {
        std::ifstream file{path, std::ios::binary};
        std::vector<char> bytes(std::filesystem::file_size(path));
        file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        benchmark::DoNotOptimize(bytes.data());
    }
}
BENCHMARK(whole_file)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace onehead::bench

int main(int argc, char** argv) {
    onehead::use_large_pages();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
