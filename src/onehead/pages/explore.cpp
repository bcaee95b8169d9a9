#include "onehead/pages/explore.hpp"

#include <fmt/format.h>
#include <nettle/base64.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "onehead/attention/experiments.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"

namespace onehead {

namespace {

using Json = nlohmann::ordered_json;

// The rows of a long text that one can follow: each brings its story and all its numbers along.
constexpr std::size_t most_rows = 32;

Window followed_rows(Trace const& trace) {
    return window_around(trace.facts.row, trace.tokens.size(), most_rows);
}

// Little-endian float32 in base64: a third of the bytes that shortest decimals take, and exact.
std::string base64(std::span<float const> values) {
    auto const bytes = std::as_bytes(values);
    std::string out(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '=');
    base64_encode_raw(out.data(), bytes.size(), reinterpret_cast<std::uint8_t const*>(bytes.data()));
    return out;
}

// Rows first to end - 1 of a matrix.
Json numbers(Matrix const& matrix, Window const& shown) {
    std::size_t const columns = column_count(matrix);
    return {{"first", shown.first},
            {"rows", shown.size()},
            {"columns", columns},
            {"float32", base64({matrix.data() + shown.first * columns, shown.size() * columns})}};
}

Json numbers(Matrix const& matrix) {
    return numbers(matrix, {0, row_count(matrix)});
}

Json numbers(Vector const& vector) {
    return {{"first", 0},
            {"rows", 1},
            {"columns", vector.size()},
            {"float32", base64({vector.data(), vector.size()})}};
}

// The lines of attention/head.cpp that compute the steps, from its own text.
Json lines_of_code() {
    constexpr std::array steps{terms::normalized,
                               terms::q,
                               terms::k,
                               terms::v,
                               terms::scores,
                               terms::scaled_scores,
                               terms::masked_scores,
                               terms::softmax,
                               terms::blend,
                               terms::output_projection};
    Json lines;
    std::string_view const code = head_cpp();
    std::size_t at = code.find("\nSteps attend(");
    for (Term const& term : steps) {
        at = code.find("Matrix ", code.find('\n', at + 1));
        std::size_t const end = code.find(';', at) + 1;
        lines[std::string{term.name}] = code.substr(at, end - at);
    }
    at = code.find("t.add(terms::residual_after");
    lines[std::string{terms::residual_after.name}] = code.substr(at, code.find(';', at) + 1 - at);
    return lines;
}

Json vocabulary(Trace const& trace, Window const& shown) {
    Json all = Json::array();
    Json const lines = lines_of_code();
    for (Step const& step : trace.steps()) {
        std::string const name{step.term.name};
        bool const is_one = step.term.rows == "1";
        // Every row is a key, and asks when the page looks at a score from the other side.
        bool const is_view = step.term == terms::q || step.term == terms::k || step.term == terms::v;
        Json entry{{"number", step.term.number},
                   {"name", name},
                   {"formula", step.formula},
                   {"symbols", step.formula == step.term.formula ? step.term.symbols : ""},
                   {"meaning", step.term.meaning},
                   {"pairs", pairs_positions(step.term)}};
        if (lines.contains(name)) entry["code"] = lines[name];
        entry["values"] = is_one || is_view ? numbers(step.values) : numbers(step.values, shown);
        all.push_back(std::move(entry));
    }
    return all;
}

// How this head was run, in the words of explore.js; nothing where it knows no word for it.
std::string layer_norm_of(Case const& c) {
    if (c.normalize == normalize) return "gpt2";
    if (c.normalize == leave_raw) return "raw";
    return c.normalize == normalize_unbiased ? "unbiased" : "";
}

std::string mask_of(Case const& c) {
    std::size_t const n_seq = row_count(c.residual);
    if (c.softmax == softmax && c.visible == causal(n_seq)) {
        if (c.masked_value == minus_infinity) return "-inf";
        return fmt::format("{}", c.masked_value);
    }
    if (c.visible != everything(n_seq)) return "";
    if (c.softmax == softmax) return "none";
    return c.softmax == softmax_then_mask ? "after" : "";
}

// What the head has learned, and what the other heads of the layer add to the rows that one can follow.
Json learned(Case const& c, Window const& shown) {
    Json others = Json::array();
    for (Matrix const& output : c.other_outputs) others.push_back(numbers(output, shown));
    return {{"epsilon", c.ln_1.epsilon},
            {"gain", numbers(c.ln_1.gain)},
            {"bias", numbers(c.ln_1.bias)},
            {"w_q", numbers(c.w_q)},
            {"w_k", numbers(c.w_k)},
            {"w_v", numbers(c.w_v)},
            {"b_q", numbers(c.b_q)},
            {"b_k", numbers(c.b_k)},
            {"b_v", numbers(c.b_v)},
            {"w_o", numbers(c.w_o)},
            {"head", c.head},
            {"others", std::move(others)}};
}

// The options with which `onehead worked` runs this head again, ready for a shell.
std::string options_of(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::string ids;
    for (int const id : token_ids(trace)) ids += fmt::format("{}{}", ids.empty() ? "" : ",", id);
    std::string options = fmt::format(" --tokens {}", ids);
    if (facts.layer != 0) options += fmt::format(" --layer {}", facts.layer);
    if (facts.head != 0) options += fmt::format(" --head {}", facts.head);
    if (!facts.experiment.empty()) options += " --experiment " + facts.experiment;
    std::string const& model = facts.model_file.empty() ? facts.model : facts.model_file;
    if (model != "gpt2-mini") options += " --model " + shell_quoted(model);
    return options;
}

std::string data_of(Trace const& trace) {
    Facts const& facts = trace.facts;
    Window const shown = followed_rows(trace);
    Json tokens = Json::array();
    for (Token const& token : trace.tokens) tokens.push_back(label(token));
    Json data{{"tokens", std::move(tokens)},
              {"ids", token_ids(trace)},
              {"row", facts.row},
              {"first", shown.first},
              {"end", shown.end},
              {"d_model", facts.d_model},
              {"d_head", facts.d_head},
              {"experiment", facts.experiment},
              {"options", options_of(trace)},
              {"steps", vocabulary(trace, shown)}};
    if (trace.made_by != nullptr) {
        data["divisor"] = trace.made_by->divisor;
        data["mask"] = mask_of(*trace.made_by);
        data["layer_norm"] = layer_norm_of(*trace.made_by);
        data["learned"] = learned(*trace.made_by, shown);
    }
    return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Program explorer(Trace const& trace) {
    return {page_script(), "numbers", data_of(trace)};
}

Document trace_page(Trace const& trace, std::vector<std::string> const& files) {
    Document page = trace_story(trace, files);
    Window const shown = followed_rows(trace);
    Trace other = trace;
    for (std::size_t row = shown.first; row < shown.end; ++row) {
        if (row == trace.facts.row) continue;
        other.facts.row = row;
        page.add(OtherRow{row, row_parts(other, files)});
    }
    page.add(explorer(trace));
    return page;
}

}  // namespace onehead
