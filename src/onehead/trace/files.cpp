#include "onehead/trace/files.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
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

// What the writer and the reader of each file agree on.

namespace {

constexpr auto schema = "onehead-trace";
constexpr int schema_version = 1;

constexpr auto tokens_columns = "pos,token_id,token,bytes";
constexpr std::size_t first_number = 3;  // after pos, token_id and token

std::string column_name(Term const& term, Tokens const& tokens, std::size_t column) {
    return pairs_positions(term) ? fmt::format("key{} {}", column, label(tokens[column]))
                                 : fmt::format("d{}", column);
}

// What is before the numbers of row i.
std::array<std::string, first_number> row_name(Term const& term, Tokens const& tokens, std::size_t i) {
    if (term.rows == "1") return {};  // a row that belongs to no position
    return {std::to_string(i), std::to_string(tokens[i].id), label(tokens[i])};
}

std::vector<std::string> const& names_of_a_trace() {
    static std::vector<std::string> const all = [] {
        std::vector<std::string> names{"tokens.csv", "trace.txt", "trace.html", "trace.json", "pattern.svg"};
        for (Term const& term : terms::all)
            for (char const* const ending : {".csv", ".npy", ".tidy.csv"})
                names.push_back(file_stem(term) + ending);
        return names;
    }();
    return all;
}

bool is_trace_json(std::string const& text) {
    auto const values = nlohmann::json::parse(text, nullptr, false);
    return values.is_object() && values.value("schema", nlohmann::json{}) == schema;
}

}  // namespace

FolderKind const trace_folder{"an earlier trace", names_of_a_trace, "trace.json", is_trace_json};

// The tables.

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string quoted = "\"";
    for (char const c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

namespace {

void add_row_name(std::string& csv, Term const& term, Tokens const& tokens, std::size_t i) {
    auto const [pos, id, token] = row_name(term, tokens, i);
    fmt::format_to(std::back_inserter(csv), "{},{},{}", pos, id, csv_field(token));
}

constexpr std::size_t longest_number = std::string_view(",-1234567900000000").size();

// Writes ",1,2.5" and the like from `place` on, where there is room, and returns the end.
char* add_numbers(char* place, std::span<float const> values) {
    for (float const value : values) place = fmt::format_to(place, FMT_COMPILE(",{}"), value);
    return place;
}

}  // namespace

void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out) {
    constexpr std::size_t piece = std::size_t{1} << 18;  // bytes: small enough to stay in the cache
    std::string csv = "pos,token_id,token";
    for (std::size_t j = 0; j < column_count(step.values); ++j)
        csv += "," + csv_field(column_name(step.term, tokens, j));
    csv += "\n";
    std::vector<char> numbers(column_count(step.values) * longest_number);
    for (std::size_t i = 0; i < row_count(step.values); ++i) {
        add_row_name(csv, step.term, tokens, i);
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
    for (Token const& token : tokens) labels.push_back(csv_field(label(token)));
    std::string csv = "query_pos,query,key_pos,key,value\n";
    for (std::size_t i = 0; i < row_count(step.values); ++i)
        for (std::size_t j = 0; j < column_count(step.values); ++j)
            fmt::format_to(std::back_inserter(csv), FMT_COMPILE("{},{},{},{},{}\n"), i, labels[i], j,
                           labels[j], step.values(i, j));
    return csv;
}

std::string escaped_bytes(std::string_view bytes) {
    std::string text;
    for (char const byte : bytes)
        fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::string tokens_csv(Tokens const& tokens) {
    std::string csv = std::string{tokens_columns} + "\n";
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        add_row_name(csv, terms::q, tokens, i);
        csv += "," + escaped_bytes(tokens[i].bytes) + "\n";
    }
    return csv;
}

namespace {

constexpr std::size_t largest_tokens = std::size_t{1} << 24;

void expect_all(CsvReader const& csv, std::span<std::string const> texts) {
    for (std::size_t column = 0; column < texts.size(); ++column) csv.expect(column, texts[column]);
}

std::string in_hex(std::string_view bytes) {
    std::string text;
    for (char const byte : bytes)
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// The bytes that the table can have: at most 32 for a number and what separates it, and each label, with its
// quotes doubled, in a row's and in a column's name.
std::size_t most_bytes(Tokens const& tokens, std::size_t rows, std::size_t columns) {
    std::size_t names = 64 * (rows + columns + 1);
    for (Token const& token : tokens) names += 4 * label(token).size();
    return names + 32 * rows * columns;
}

}  // namespace

Matrix parse_step_csv(std::string text, std::string const& name, Term const& term, Tokens const& tokens,
                      std::size_t rows, std::size_t columns) {
    std::size_t const least = 2 * rows * columns;  // a digit and a separator for each number
    if (text.size() < least)
        throw Error({.where = name,
                     .expected = fmt::format("at least {} bytes for shape [{}, {}]", least, rows, columns),
                     .found = std::to_string(text.size()),
                     .advice = "write the trace again"});
    CsvReader csv{std::move(text), name};
    csv.expect_next("the names of the columns");
    std::vector<std::string> names{"pos", "token_id", "token"};
    for (std::size_t j = 0; j < columns; ++j) names.push_back(column_name(term, tokens, j));
    csv.expect_count(names.size());
    expect_all(csv, names);
    bool const may_be_masked = may_hold(term, -std::numeric_limits<float>::infinity());
    Matrix values = make_matrix(rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        csv.expect_next(fmt::format("row {}", i));
        csv.expect_count(first_number + columns);
        expect_all(csv, row_name(term, tokens, i));
        for (std::size_t j = 0; j < columns; ++j) values(i, j) = csv.number(first_number + j, may_be_masked);
    }
    csv.expect_end();
    return values;
}

Tokens parse_tokens_csv(std::string text, std::string const& name, std::vector<int> const& ids) {
    CsvReader csv{std::move(text), name};
    csv.expect_next("the names of the columns");
    csv.expect_count(first_number + 1);
    expect_all(csv, std::array<std::string, first_number + 1>{"pos", "token_id", "token", "bytes"});
    Tokens tokens;
    for (int const id : ids) {
        csv.expect_next(fmt::format("token {}", tokens.size()));
        csv.expect_count(first_number + 1);
        auto const token = token_of_label(id, csv.fields()[2]);
        if (!token) csv.refuse(2, "the label of a token", quote(csv.fields()[2]));
        tokens.push_back(*token);
        expect_all(csv, row_name(terms::q, tokens, tokens.size() - 1));
        if (csv.fields()[first_number] != in_hex(token->bytes))  // as version 0.1.0 wrote it
            csv.expect(first_number, escaped_bytes(token->bytes));
    }
    csv.expect_end();
    return tokens;
}

// trace.json.

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

Json describe(LessonFacts const& lesson, std::vector<std::string> const& files) {
    Json pages = Json::array();
    for (auto const& [file, says] : lesson.pages) pages.push_back({{"file", file}, {"says", says}});
    return {{"name", lesson.name},
            {"title", lesson.title},
            {"question", lesson.question},
            {"pages", pages},
            {"files", files}};
}

Json labels(Tokens const& tokens) {
    Json all = Json::array();
    for (Token const& token : tokens) all.push_back(label(token));
    return all;
}

}  // namespace

std::string trace_json(Trace const& trace, std::vector<std::string> const& files,
                       std::optional<LessonFacts> const& lesson) {
    Facts const& facts = trace.facts;
    Json described = {
        {"schema", schema},
        {"schema_version", schema_version},
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
        {"tokens", labels(trace.tokens)},
        {"experiment", experiment(facts)},
        {"row", facts.row},
        {"left_out", facts.left_out.empty() ? Json(nullptr) : Json(facts.left_out)},
    };
    for (Step const& step : trace.steps()) described["steps"].push_back(describe(step, facts.layer, files));
    if (lesson) described["lesson"] = describe(*lesson, files);
    // Tokens that are given by their ids may break off in the middle of a character; tokens.csv has their
    // bytes.
    return described.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::optional<LessonFacts> lesson_in_trace_json(std::string const& text) {
    Json const values = Json::parse(text, nullptr, false);
    Json const lesson = values.is_object() ? values.value("lesson", Json()) : Json();
    if (!lesson.is_object()) return {};
    try {
        LessonFacts facts{
            lesson.value("name", ""), lesson.value("title", ""), lesson.value("question", ""), {}};
        for (Json const& page : lesson.value("pages", Json::array()))
            facts.pages.emplace_back(page.value("file", ""), page.value("says", ""));
        return facts;
    } catch (Json::exception const&) {  // a text was something else
        return {};
    }
}

namespace {

using nlohmann::json;

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

// The tokens by their labels, from which their bytes come back. Version 0.1.0 did not write them.
Tokens read_labels(JsonObject const& trace, std::vector<int> const& ids) {
    Tokens tokens;
    for (int const id : ids) tokens.push_back({id});
    if (!trace.has("tokens")) return tokens;
    json const& all = trace.list("tokens", longest_text);
    if (all.size() != ids.size())
        trace.refuse("tokens", fmt::format("{} labels, one for each token", ids.size()));
    for (std::size_t pos = 0; pos < ids.size(); ++pos) {
        if (!all[pos].is_string()) trace.refuse("tokens", "labels");
        auto const token = token_of_label(ids[pos], all[pos].get<std::string>());
        if (!token) trace.refuse("tokens", "labels as this program writes them");
        tokens[pos] = *token;
    }
    return tokens;
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

TraceJson parse_trace_json(std::string const& text, std::string const& name) {
    json const values = parse_json(text, name);
    JsonObject const trace{values, name};
    expect_schema(trace);
    TraceJson result;
    std::vector<int> const ids = read_ids(trace);
    result.tokens = read_labels(trace, ids);
    result.facts = read_facts(trace, ids.size());
    for (json const& step : trace.list("steps", terms::all.size())) {
        JsonObject const entry{step, fmt::format("{}: steps[{}]", name, result.steps.size())};
        result.steps.push_back(read_step(entry, result.facts, ids.size()));
        if (result.steps.size() > 1 &&
            result.steps.back().term.number <= result.steps[result.steps.size() - 2].term.number)
            entry.refuse("name", "a step that comes after the one before it");
    }
    return result;
}

// A whole trace.

namespace {

Matrix matrix_of(Array const& array, StepFile const& step, std::string const& name) {
    if (array.dtype != "F32")
        throw Error({.where = name,
                     .expected = "float32, as a trace has",
                     .found = array.dtype,
                     .advice = "write the trace again"});
    if (array.shape != std::vector{step.rows, step.columns})
        throw Error({.where = name,
                     .expected = fmt::format("shape [{}, {}], as trace.json says", step.rows, step.columns),
                     .found = "another",
                     .advice = "write the trace again"});
    Matrix values = make_matrix(step.rows, step.columns);
    for (std::size_t at = 0; at < array.values.size(); ++at) {
        auto const value = static_cast<float>(array.values[at]);
        if (!may_hold(step.term, value))
            throw Error(
                {.where = fmt::format("{}: row {}, column {}", name, at / step.columns, at % step.columns),
                 .expected = "a finite number",
                 .found = fmt::format("{}", value),
                 .advice = "write the trace again"});
        values.data()[at] = value;
    }
    return values;
}

Matrix read_step(OpenFolder const& folder, StepFile const& step, Tokens const& tokens) {
    File const file{folder, step.file};
    if (step.file.ends_with(".csv"))
        return parse_step_csv(read_text(file, most_bytes(tokens, step.rows, step.columns)), file.name(),
                              step.term, tokens, step.rows, step.columns);
    return matrix_of(read_npy(file, step.rows * step.columns * sizeof(double)), step, file.name());
}

Tokens read_tokens(OpenFolder const& folder, TraceJson const& described) {
    bool const has_tables = std::ranges::any_of(
        described.steps, [](StepFile const& step) { return step.file.ends_with(".csv"); });
    if (!has_tables && !folder.has("tokens.csv")) return described.tokens;
    std::vector<int> ids;
    for (Token const& token : described.tokens) ids.push_back(token.id);
    File const file{folder, "tokens.csv"};
    return parse_tokens_csv(read_text(file, largest_tokens), file.name(), ids);
}

Trace read(OpenFolder const& folder) {
    if (!folder.has("trace.json"))
        throw Error({.where = folder.path().string(),
                     .expected = "the folder of a trace",
                     .found = "no trace.json in it",
                     .advice = "name a folder that \"onehead trace\" has written"});
    File const file{folder, "trace.json"};
    TraceJson const described = parse_trace_json(read_text(file, largest_file), file.name());
    for (std::string const& name : names_of_a_trace()) protect_input(folder.path() / name);
    Trace trace;
    trace.facts = described.facts;
    trace.tokens = read_tokens(folder, described);
    for (StepFile const& step : described.steps) {
        if (step.file.empty())
            throw Error({.where = folder.path().string(),
                         .expected = "a file with the exact numbers of step " + file_stem(step.term),
                         .found = "none",
                         .advice = "write the trace again with the format csv or npy"});
        trace.add(step.term, read_step(folder, step, trace.tokens));
        trace.set_formula(step.term, step.formula);
    }
    return trace;
}

}  // namespace

Trace read_trace(std::filesystem::path const& folder) {
    Trace trace;
    read_folder(folder, "the folder of a trace", [&](OpenFolder const& opened) { trace = read(opened); });
    return trace;
}

}  // namespace onehead
