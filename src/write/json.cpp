#include "write/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace onehead {
namespace {

using Json = nlohmann::ordered_json;

Json name_or_null(std::string_view name, std::size_t layer) {
    return name.empty() ? Json(nullptr) : Json(in_layer(name, std::to_string(layer)));
}

// The file that holds a step exactly: its table if there is one, else its array.
Json file_of(Step const& step, std::vector<std::string> const& files) {
    for (char const* const ending : {".csv", ".npy"}) {
        std::string const name = file_stem(step.term) + ending;
        if (std::find(files.begin(), files.end(), name) != files.end()) return name;
    }
    return nullptr;
}

Json describe(Step const& step, std::size_t layer, std::vector<std::string> const& files) {
    return {
        {"number", step.term.number},
        {"name", step.term.name},
        {"file", file_of(step, files)},
        {"shape", {row_count(step.values), column_count(step.values)}},
        {"axes", {step.term.rows, step.term.columns}},
        {"formula", step.formula},
        {"meaning", step.term.meaning},
        {"transformer_lens", name_or_null(step.term.transformer_lens, layer)},
        {"hugging_face", name_or_null(step.term.hugging_face, layer)},
    };
}

Json experiment(Facts const& facts) {
    if (facts.experiment.empty()) return nullptr;
    return {{"name", facts.experiment}, {"changes", facts.experiment_says}};
}

}  // namespace

std::string trace_json(Trace const& trace, std::vector<std::string> const& files) {
    Facts const& facts = trace.facts;
    Json json = {
        {"schema", trace_schema},
        {"schema_version", trace_schema_version},
        {"onehead_version", ONEHEAD_VERSION},
        {"model", facts.model},
        {"weights_sha256", facts.weights_sha256},
        {"layer", facts.layer},
        {"head", facts.head},
        {"n_layer", facts.n_layer},
        {"n_head", facts.n_head},
        {"d_model", facts.d_model},
        {"d_head", facts.d_head},
        {"layer_norm_epsilon", facts.layer_norm_epsilon},
        {"divisor", facts.divisor},
        {"text", facts.text},
        {"token_ids", token_ids(trace)},
        {"experiment", experiment(facts)},
        {"row", facts.row},
        {"left_out", facts.left_out.empty() ? Json(nullptr) : Json(facts.left_out)},
    };
    for (Step const& step : trace.steps()) json["steps"].push_back(describe(step, facts.layer, files));
    // Tokens that are given by their ids may break off in the middle of a character; tokens.csv has their
    // bytes.
    return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace onehead
