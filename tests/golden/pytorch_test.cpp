// Every step of every head against PyTorch in float64. Each test prints the largest difference that it saw
// for each step, ours and that of PyTorch's own float32 run, side by side.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "support/reference.hpp"

namespace onehead::test {
namespace {

namespace fs = std::filesystem;

fs::path const source{ONEHEAD_SOURCE_DIR};
fs::path const shared = source / ".." / "shared";

// |ours - reference| may be this large: design tolerances, twice what float32 storage with double sums needs.
double tolerance(Term const& term, std::size_t layer, double reference) {
    if (term == terms::softmax) return 5e-6;
    return layer == 0 ? 2e-5 + 1e-5 * std::fabs(reference) : 5e-5 + 2e-5 * std::fabs(reference);
}

double difference(double a, double b) {
    return a == b ? 0 : std::fabs(a - b);  // -inf and -inf are equal
}

struct Worst {
    double ours = 0;
    double theirs = 0;
    std::size_t outside = 0;  // how many of our values are out of tolerance
    std::size_t values = 0;
};
using WorstBySteps = std::map<int, Worst>;  // by number of the step

void hold_against(Trace const& trace, Reference const& f64, Reference const& f32,
                  AttentionWeights const& block, WorstBySteps& worst) {
    std::size_t const layer = trace.facts.layer;
    auto const right = f64.steps(layer, trace.facts.head, block);
    auto const rounded = f32.steps(layer, trace.facts.head, block);
    for (Step const& step : trace.steps()) {
        auto const found = right.find(std::string{step.term.name});
        if (found == right.end()) continue;
        Values const& reference = found->second;
        REQUIRE(step.values.size() == reference.size());
        for (std::size_t at = 0; at < reference.size(); ++at) {
            Worst& so_far = worst[step.term.number];
            double const ours = difference(step.values.data()[at], reference[at]);
            so_far.ours = std::max(so_far.ours, ours);
            so_far.theirs = std::max(so_far.theirs, difference(rounded.at(found->first)[at], reference[at]));
            if (ours > tolerance(step.term, layer, reference[at])) ++so_far.outside;
            ++so_far.values;
        }
    }
}

void report(std::string const& title, WorstBySteps const& worst) {
    fmt::print("{}\n  {:<22}{:>10}{:>14}{:>20}\n", title, "step", "values", "ours", "float32 PyTorch");
    for (auto const& [number, seen] : worst) {
        Term const& term = terms::all.at(static_cast<std::size_t>(number) - 1);
        fmt::print("  {:<22}{:>10}{:>14.2e}{:>20.2e}\n", file_stem(term), seen.values, seen.ours,
                   seen.theirs);
        CHECK(seen.outside == 0);
    }
}

// All heads of the layers that the reference has, on its tokens.
void hold_model_against(Model const& model, std::string const& title, fs::path const& f64_path,
                        fs::path const& f32_path) {
    Reference const f64{f64_path};
    Reference const f32{f32_path};
    for (std::size_t const layer : model.layers()) {
        if (!f64.has(fmt::format("{}.pattern", layer))) continue;
        AttentionWeights const block = model.attention(layer);
        WorstBySteps worst;
        for (std::size_t head = 0; head < model.config().n_head; ++head) {
            Request request{.token_ids = f64.token_ids(), .layer = layer, .head = head};
            hold_against(trace(model, request), f64, f32, block, worst);
        }
        report(fmt::format("{}, layer {}, {} heads", title, layer, model.config().n_head), worst);
    }
}

}  // namespace

TEST_CASE("gpt2-mini: every step of every head agrees with PyTorch in float64", "[golden]") {
    int const text = GENERATE(0, 1, 2);
    auto const model = open_model(source / "data" / "gpt2-mini");
    auto const file = [&](char const* type) {
        return source / "tests" / "reference" / fmt::format("mini-{}-{}.safetensors", text, type);
    };
    hold_model_against(*model, fmt::format("gpt2-mini, text {}", text), file("f64"), file("f32"));
}

TEST_CASE("GPT-2 small: every step of every head of block 0 agrees with PyTorch in float64", "[golden]") {
    if (!fs::exists(shared / "gpt2-small")) {
        WARN("SKIPPED: the excerpts of GPT-2 small are not beside this checkout");
        return;
    }
    auto const model = open_model(shared / "gpt2-small" / "block0.safetensors");
    auto const file = [&](char const* type) {
        return shared / "reference" / fmt::format("gpt2-small-block0-{}.safetensors", type);
    };
    hold_model_against(*model, "GPT-2 small", file("f64"), file("f32"));
}

TEST_CASE("GPT-2 small: patterns of blocks 0, 4 and 5 agree with those published in 2019", "[golden]") {
    if (!fs::exists(shared / "gpt2-small")) {
        WARN("SKIPPED: the excerpts of GPT-2 small are not beside this checkout");
        return;
    }
    Safetensors const published{shared / "gpt2-small" / "reference.safetensors"};
    Values const patterns = published.read_doubles("attentions");  // [layer, head, query_pos, key_pos]
    auto const layer = GENERATE(std::size_t{0}, std::size_t{4}, std::size_t{5});
    auto const model = open_model(shared / "gpt2-small" / fmt::format("block{}.safetensors", layer));
    double worst = 0;
    for (std::size_t head = 0; head < 12; ++head) {
        Trace const t = trace(*model, {.layer = layer, .head = head});
        Matrix const& pattern = t[terms::softmax];
        REQUIRE(pattern.size() == 81);
        for (std::size_t at = 0; at < 81; ++at)
            worst = std::max(worst, difference(pattern.data()[at], patterns[(layer * 12 + head) * 81 + at]));
    }
    fmt::print("GPT-2 small, layer {}, 12 heads: pattern within {:.1e} of the published one\n", layer, worst);
    CHECK(worst < 1e-5);
}

}  // namespace onehead::test
