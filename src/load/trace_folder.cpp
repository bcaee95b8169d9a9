#include "load/trace_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "error.hpp"
#include "load/npy.hpp"
#include "load/step_csv.hpp"
#include "load/trace_json.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

void expect_trace_folder(fs::path const& folder) {
    if (!fs::is_directory(folder))
        throw Error(
            fmt::format("{}: expected the folder of a trace, found {}; make one with "
                        "\"onehead trace --out {}\"",
                        folder.string(), fs::exists(folder) ? "a file" : "nothing", folder.string()));
    if (!fs::exists(folder / "trace.json"))
        throw Error(
            fmt::format("{}: expected the folder of a trace, found no trace.json in it; name a "
                        "folder that \"onehead trace --out\" has written",
                        folder.string()));
}

void expect_numbers(fs::path const& folder, TraceJson const& trace) {
    for (StepFile const& step : trace.steps)
        if (step.file.empty())
            throw Error(
                fmt::format("{}: expected a file with the exact numbers of step {}, found none; "
                            "write the trace again with --format csv",
                            folder.string(), file_stem(step.term)));
}

Tokens without_bytes(std::vector<int> const& ids) {
    Tokens tokens;
    for (int const id : ids) tokens.push_back({id, ""});
    return tokens;
}

Tokens read_tokens(fs::path const& folder, TraceJson const& trace) {
    bool const has_tables = std::any_of(trace.steps.begin(), trace.steps.end(),
                                        [](StepFile const& step) { return step.file.ends_with(".csv"); });
    fs::path const table = folder / "tokens.csv";
    return has_tables || fs::exists(table) ? read_tokens_csv(table, trace.token_ids)
                                           : without_bytes(trace.token_ids);
}

void expect_finite(std::string const& file, StepFile const& step, std::size_t at, float value) {
    bool const masked = step.term == terms::masked_scores && value == -std::numeric_limits<float>::infinity();
    if (std::isfinite(value) || masked) return;
    throw Error(
        fmt::format("{}: row {}, column {}: expected a finite number, found {}: write the trace "
                    "again",
                    file, at / step.columns, at % step.columns, value));
}

Matrix read_step_npy(fs::path const& path, StepFile const& step) {
    Array const array = read_npy(path, step.rows * step.columns * sizeof(double));
    if (!array.is_float32)
        throw Error(fmt::format("{}: expected float32, as a trace has, found float64: write the trace again",
                                path.string()));
    if (array.shape != std::vector{step.rows, step.columns})
        throw Error(
            fmt::format("{}: expected shape [{}, {}], as trace.json says, found another: write the "
                        "trace again",
                        path.string(), step.rows, step.columns));
    Matrix values = make_matrix(step.rows, step.columns);
    for (std::size_t at = 0; at < array.values.size(); ++at) {
        values.data()[at] = static_cast<float>(array.values[at]);
        expect_finite(path.string(), step, at, values.data()[at]);
    }
    return values;
}

Matrix read_step(fs::path const& path, StepFile const& step, Tokens const& tokens) {
    return step.file.ends_with(".csv") ? read_step_csv(path, step.term, tokens, step.rows, step.columns)
                                       : read_step_npy(path, step);
}

}  // namespace

Trace read_trace(fs::path const& folder) {
    expect_trace_folder(folder);
    TraceJson const json = read_trace_json(folder / "trace.json");
    expect_numbers(folder, json);
    Trace trace;
    trace.facts = json.facts;
    trace.tokens = read_tokens(folder, json);
    for (StepFile const& step : json.steps) {
        trace.add(step.term, read_step(folder / step.file, step, trace.tokens));
        trace.set_formula(step.term, step.formula);
    }
    return trace;
}

}  // namespace onehead
