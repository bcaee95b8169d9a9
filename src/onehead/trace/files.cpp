#include "onehead/trace/files.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "onehead/error.hpp"
#include "onehead/io/csv.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/io/text.hpp"
#include "onehead/trace/terms.hpp"

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

namespace {

constexpr std::size_t largest_tokens = std::size_t{1} << 24;
constexpr std::size_t first_number = 3;  // after pos, token_id and token

void expect_all(CsvReader const& csv, std::vector<std::string> const& texts) {
    csv.expect_count(texts.size());
    for (std::size_t column = 0; column < texts.size(); ++column) csv.expect(column, texts[column]);
}

std::vector<std::string> header(Term const& term, Tokens const& tokens, std::size_t columns) {
    std::vector<std::string> names{"pos", "token_id", "token"};
    for (std::size_t j = 0; j < columns; ++j)
        names.push_back(pairs_positions(term) ? fmt::format("key{} {}", j, label(tokens[j].bytes))
                                              : fmt::format("d{}", j));
    return names;
}

void expect_position(CsvReader const& csv, std::size_t pos, int id) {
    csv.expect(0, std::to_string(pos));
    csv.expect(1, std::to_string(id));
}

// The first three fields of row i.
void expect_row_name(CsvReader const& csv, Term const& term, Tokens const& tokens, std::size_t i) {
    if (term.rows == "1") {
        for (std::size_t column = 0; column < first_number; ++column) csv.expect(column, "");
        return;
    }
    expect_position(csv, i, tokens[i].id);
    csv.expect(2, label(tokens[i].bytes));
}

std::string parse_hex(CsvReader const& csv, std::size_t column) {
    std::string const& hex = csv.fields()[column];
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
        unsigned char byte = 0;
        auto const [end, error] = std::from_chars(&hex[at], &hex[at] + 2, byte, 16);
        if (error != std::errc{} || end != &hex[at] + 2) break;
        bytes += static_cast<char>(byte);
    }
    if (bytes.empty() || 2 * bytes.size() != hex.size())
        csv.refuse(column, "bytes in hex, two digits each", quote(hex));
    return bytes;
}

// The bytes that the table can have: at most 32 for a number and what separates it, and each label, with its
// quotes doubled, in a row's and in a column's name.
std::size_t most_bytes(Tokens const& tokens, std::size_t rows, std::size_t columns) {
    std::size_t names = 64 * (rows + columns + 1);
    for (Token const& token : tokens) names += 4 * label(token.bytes).size();
    return names + 32 * rows * columns;
}

}  // namespace

Matrix read_step_csv(std::filesystem::path const& path, Term const& term, Tokens const& tokens,
                     std::size_t rows, std::size_t columns) {
    std::string text = read_text(path, most_bytes(tokens, rows, columns));
    std::size_t const least = 2 * rows * columns;  // a digit and a separator for each number
    if (text.size() < least)
        throw Error(
            fmt::format("{}: expected at least {} bytes for shape [{}, {}], found {}: write the "
                        "trace again",
                        path.string(), least, rows, columns, text.size()));
    CsvReader csv{std::move(text), path.string()};
    csv.expect_next("the names of the columns");
    expect_all(csv, header(term, tokens, columns));
    Matrix values = make_matrix(rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        csv.expect_next(fmt::format("row {}", i));
        csv.expect_count(first_number + columns);
        expect_row_name(csv, term, tokens, i);
        for (std::size_t j = 0; j < columns; ++j)
            values(i, j) = csv.number(first_number + j, term == terms::masked_scores);
    }
    csv.expect_end();
    return values;
}

Tokens read_tokens_csv(std::filesystem::path const& path, std::vector<int> const& ids) {
    CsvReader csv{read_text(path, largest_tokens), path.string()};
    csv.expect_next("the names of the columns");
    expect_all(csv, {"pos", "token_id", "token", "bytes"});
    Tokens tokens;
    for (int const id : ids) {
        csv.expect_next(fmt::format("token {}", tokens.size()));
        csv.expect_count(4);
        expect_position(csv, tokens.size(), id);
        tokens.push_back({id, parse_hex(csv, 3)});
        csv.expect(2, label(tokens.back().bytes));
    }
    csv.expect_end();
    return tokens;
}

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
        {"fingerprint", trace.fingerprint()},
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

namespace {

void add_column_names(std::string& csv, Step const& step, Tokens const& tokens) {
    auto const out = std::back_inserter(csv);
    for (std::size_t j = 0; j < column_count(step.values); ++j)
        if (pairs_positions(step.term))
            fmt::format_to(out, ",{}", csv_field(fmt::format("key{} {}", j, label(tokens[j].bytes))));
        else
            fmt::format_to(out, ",d{}", j);
}

void add_position(std::string& csv, std::size_t pos, Token const& token) {
    fmt::format_to(std::back_inserter(csv), "{},{},{}", pos, token.id, csv_field(label(token.bytes)));
}

constexpr std::size_t longest_number = std::string_view(",-1234567900000000").size();

// Writes ",1,2.5" and the like from `place` on, where there is room, and returns the end.
char* add_numbers(char* place, std::span<float const> values) {
    for (float const value : values) place = fmt::format_to(place, FMT_COMPILE(",{}"), value);
    return place;
}

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string quoted = "\"";
    for (char const c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out) {
    constexpr std::size_t piece = std::size_t{1} << 18;  // bytes: small enough to stay in the cache
    std::string csv = "pos,token_id,token";
    add_column_names(csv, step, tokens);
    csv += "\n";
    std::vector<char> numbers(column_count(step.values) * longest_number);
    for (std::size_t i = 0; i < row_count(step.values); ++i) {
        if (step.term.rows == "1")
            csv += ",,";  // a row that belongs to no position
        else
            add_position(csv, i, tokens[i]);
        csv.append(numbers.data(), add_numbers(numbers.data(), row(step.values, i)));
        csv += "\n";
        if (csv.size() < piece) continue;
        out(csv);
        csv.clear();
    }
    out(csv);
}

std::string tidy_csv(Step const& step, Tokens const& tokens) {
    std::vector<std::string> labels;
    for (Token const& token : tokens) labels.push_back(csv_field(label(token.bytes)));
    std::string csv = "query_pos,query,key_pos,key,value\n";
    for (std::size_t i = 0; i < row_count(step.values); ++i)
        for (std::size_t j = 0; j < column_count(step.values); ++j)
            fmt::format_to(std::back_inserter(csv), FMT_COMPILE("{},{},{},{},{}\n"), i, labels[i], j,
                           labels[j], step.values(i, j));
    return csv;
}

std::string tokens_csv(Tokens const& tokens) {
    std::string csv = "pos,token_id,token,bytes\n";
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        add_position(csv, i, tokens[i]);
        csv += ",";
        for (char const byte : tokens[i].bytes)
            fmt::format_to(std::back_inserter(csv), "{:02x}", static_cast<unsigned char>(byte));
        csv += "\n";
    }
    return csv;
}

namespace {

std::set<std::string> names_of_a_trace() {
    std::set<std::string> names{"tokens.csv", "trace.txt", "trace.html", "trace.json", "pattern.svg"};
    for (Term const& term : terms::all)
        for (char const* const ending : {".csv", ".npy", ".tidy.csv"}) names.insert(file_stem(term) + ending);
    return names;
}

}  // namespace

bool is_trace_file(std::string const& name) {
    static auto const names = names_of_a_trace();
    return names.contains(name);
}

}  // namespace onehead
