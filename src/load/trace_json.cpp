#include "load/trace_json.hpp"

#include <fmt/format.h>
#include <limits>

#include "error.hpp"
#include "load/json.hpp"
#include "load/json_object.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

using nlohmann::json;

constexpr auto schema = "onehead-trace";
constexpr int schema_version = 1;
constexpr std::size_t largest_file = std::size_t{1} << 24;
constexpr std::size_t longest_text = 65536;  // tokens
constexpr std::size_t widest = 16384;

void expect_schema(JsonObject const& trace) {
    if (trace.get("schema") != schema) trace.refuse("schema", quote(schema) + ", as a trace has");
    if (trace.get("schema_version") != schema_version)
        trace.refuse("schema_version", fmt::format("{}; write the trace again with this program, or read it "
                                                   "with the one that wrote it",
                                                   schema_version));
}

std::vector<int> read_ids(JsonObject const& trace) {
    std::vector<int> ids;
    for (json const& id : trace.list("token_ids", longest_text)) {
        if (!id.is_number_unsigned() || id > std::numeric_limits<int>::max())
            trace.refuse("token_ids", "whole numbers");
        ids.push_back(id.get<int>());
    }
    return ids;
}

void read_experiment(JsonObject const& trace, Facts& facts) {
    if (trace.get("experiment").is_null()) return;
    JsonObject const experiment{trace.get("experiment"), trace.place() + ": experiment"};
    facts.experiment = experiment.line("name");
    facts.experiment_says = experiment.line("changes");
}

Facts read_facts(JsonObject const& trace, std::size_t n_seq) {
    Facts facts;
    facts.model = trace.line("model");
    facts.weights_sha256 = trace.line("weights_sha256");
    facts.n_layer = trace.count("n_layer", 1, widest);
    facts.n_head = trace.count("n_head", 1, widest);
    facts.layer = trace.count("layer", 0, facts.n_layer - 1);
    facts.head = trace.count("head", 0, facts.n_head - 1);
    facts.d_model = trace.count("d_model", 1, widest);
    facts.d_head = trace.count("d_head", 1, facts.d_model);
    facts.layer_norm_epsilon = trace.number("layer_norm_epsilon");
    facts.divisor = trace.number("divisor");
    facts.text = trace.text("text");
    facts.row = trace.count("row", 0, n_seq - 1);
    facts.left_out = trace.line_or_null("left_out");
    read_experiment(trace, facts);
    return facts;
}

std::size_t width(Term const& term, Facts const& facts, std::size_t n_seq) {
    if (pairs_positions(term)) return n_seq;
    return term.columns == "d_head" ? facts.d_head : facts.d_model;
}

StepFile read_step(JsonObject const& entry, Facts const& facts, std::size_t n_seq) {
    Term const* const term = find_term(entry.line("name"));
    if (term == nullptr) entry.refuse("name", "the name of a step");
    StepFile step{*term, entry.line("formula"), term->rows == "1" ? 1 : n_seq, width(*term, facts, n_seq),
                  entry.line_or_null("file")};
    if (entry.get("shape") != json{step.rows, step.columns})
        entry.refuse("shape",
                     fmt::format("[{}, {}], as the tokens and widths have it", step.rows, step.columns));
    std::string const stem = file_stem(*term);
    if (!step.file.empty() && step.file != stem + ".csv" && step.file != stem + ".npy")
        entry.refuse("file", fmt::format("{0}.csv or {0}.npy", stem));
    return step;
}

}  // namespace

TraceJson read_trace_json(std::filesystem::path const& path) {
    json const values = read_json(path, largest_file);
    JsonObject const trace{values, path.string()};
    expect_schema(trace);
    TraceJson result;
    result.token_ids = read_ids(trace);
    result.facts = read_facts(trace, result.token_ids.size());
    for (json const& step : trace.list("steps", terms::all.size())) {
        JsonObject const entry{step, fmt::format("{}: steps[{}]", path.string(), result.steps.size())};
        result.steps.push_back(read_step(entry, result.facts, result.token_ids.size()));
        if (result.steps.size() > 1 &&
            result.steps.back().term.number <= result.steps[result.steps.size() - 2].term.number)
            entry.refuse("name", "a step that comes after the one before it");
    }
    return result;
}

}  // namespace onehead
