#include "onehead/model/run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "onehead/attention/experiments.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/error.hpp"
#include "onehead/io/system.hpp"
#include "onehead/model/model.hpp"

namespace onehead {

namespace {

void expect_below(std::size_t value, std::size_t limit, std::string_view option, std::string_view what) {
    if (value < limit) return;
    throw UsageError(
        fmt::format("{} {}: there is no such {}; choose one from 0 to {}", option, value, what, limit - 1));
}

// A text that no tokens could make short enough is not encoded first.
std::vector<int> encode(Model const& model, std::string const& text) {
    std::size_t const n_ctx = model.config().n_ctx;
    if (text.size() > n_ctx && text.size() / n_ctx >= model.tokenizer().longest())
        throw UsageError(
            fmt::format("the text has {} bytes, {} takes at most {} tokens of at most {} bytes: shorten it",
                        text.size(), model.name(), n_ctx, model.tokenizer().longest()));
    return model.tokenizer().encode(text);
}

std::string why_left_out(Rows rows) {
    if (rows == Rows::exact) return "";
    return fmt::format(
        "01, 02, 03 and 16 are left out: the rows that this excerpt holds are right only up to {} each, "
        "which LayerNorm removes, so that everything from 04 to 15 is right",
        rows == Rows::shifted ? "a constant added to" : "a factor on");
}

Case make_case(Model const& model, std::vector<int> const& ids, Request const& request) {
    bool const exact = model.rows() == Rows::exact;
    if (request.layer > 0 || model.has_hidden_states(0)) {
        Case c = make_case(arriving_rows(model, ids, request.layer, request.progress),
                           model.attention(request.layer), request.head);
        c.residual_is_exact = exact;
        return c;
    }
    Embedding embedding = model.embed(ids);
    Case c = make_case(first_rows(embedding), model.attention(0), request.head);
    c.residual_is_exact = exact;
    if (!exact) return c;
    c.token_embedding = std::move(embedding.token);
    c.position_embedding = std::move(embedding.position);
    return c;
}

Facts describe(Model const& model, Request const& request, Case const& c, std::vector<int> const& ids) {
    Facts facts;
    facts.model = model.name();
    facts.weights_sha256 = weights_sha256(c.block.ln_1, c.w, c.block.c_proj_bias);
    facts.layer = request.layer;
    facts.head = request.head;
    facts.n_layer = model.config().n_layer;
    facts.n_head = model.config().n_head;
    facts.d_model = model.config().d_model;
    facts.d_head = model.config().d_head();
    facts.layer_norm_epsilon = c.block.ln_1.epsilon;
    facts.text = model.tokenizer().decode(ids);
    facts.row = request.row.value_or(ids.size() > 1 ? ids.size() - 2 : 0);
    facts.left_out = why_left_out(model.rows());
    return facts;
}

void note_experiment(Trace& trace, Experiment const& experiment) {
    trace.facts.experiment = experiment.name;
    trace.facts.experiment_says = experiment.changes;
    for (auto const& [term, text] : experiment.formulas) trace.set_formula(term, std::string{text});
}

Trace trace(Run const& run, Case const& c) {
    Trace trace = trace_head(c);
    trace.tokens = run.tokens;
    trace.facts = run.facts;
    trace.facts.divisor = c.divisor;
    if (run.facts.layer > 0)
        trace.set_formula(terms::residual,
                          fmt::format("residual_after of layer {} + its MLP", run.facts.layer - 1));
    return trace;
}

}  // namespace

std::vector<int> tokens_of(Model const& model, Request const& request) {
    std::vector<int> ids;
    if (request.token_ids)
        ids = *request.token_ids;
    else if (request.text)
        ids = encode(model, *request.text);
    else if (ids = model.own_tokens(); ids.empty())
        ids = model.tokenizer().encode(default_text);
    if (ids.empty())
        throw UsageError("--text: it is empty, expected at least one character; a head needs a row to read");
    return ids;
}

Run prepare(Model const& model, Request const& request) {
    model.check_layer(request.layer);
    expect_below(request.head, model.config().n_head, "--head", "head");
    std::vector<int> const ids = tokens_of(model, request);
    model.check_tokens(ids);
    expect_memory(model.config(), ids.size());
    if (request.row) expect_below(*request.row, ids.size(), "--row", "row in this text");
    Run run{make_case(model, ids, request), {}, {}};
    run.facts = describe(model, request, run.head, ids);
    run.tokens = describe_tokens(model, ids);
    return run;
}

Case changed_case(Run const& run, std::string const& experiment) {
    Case c = run.head;
    if (experiment.empty()) return c;
    Experiment const& change = find_experiment(experiment);
    if (change.needs_exact_rows && !c.residual_is_exact)
        throw UsageError(
            fmt::format("--experiment {}: needs the raw rows, which this excerpt does not have; {}",
                        experiment, run.facts.left_out));
    change.apply(c);
    return c;
}

Trace trace(Run const& run, std::string const& experiment) {
    if (experiment.empty()) return trace(run, run.head);
    Trace changed = trace(run, changed_case(run, experiment));
    note_experiment(changed, find_experiment(experiment));
    return changed;
}

Trace trace(Model const& model, Request const& request) {
    return trace(prepare(model, request), request.experiment);
}

Matrix first_rows(Embedding const& embedding) {
    Matrix rows = embedding.token;  // [pos, d_model]
    for (std::size_t at = 0; at < rows.size(); ++at) rows.data()[at] += embedding.position.data()[at];
    return rows;
}

Matrix first_rows(Model const& model, std::vector<int> const& ids) {
    return first_rows(model.embed(ids));
}

Matrix arriving_rows(Model const& model, std::vector<int> const& ids, std::size_t layer,
                     std::function<void(std::size_t)> const& progress) {
    if (model.has_hidden_states(layer)) return model.hidden_states(layer);
    return residual_before(layer, first_rows(model, ids), blocks_of(model, progress));
}

Tokens describe_tokens(Model const& model, std::vector<int> const& ids) {
    Tokens tokens;
    for (int const id : ids) tokens.push_back({id, model.tokenizer().bytes(id)});
    return tokens;
}

Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress) {
    auto const attention = [&model, progress](std::size_t layer) {
        if (progress) progress(layer);
        return model.attention(layer);
    };
    return {attention, [&model](std::size_t layer) { return model.mlp(layer); }};
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t megabyte = 1'000'000;

// The number at the beginning of a small file; no limit where there is none ("max").
std::uint64_t number_in(fs::path const& path) {
    std::ifstream file{path};
    std::uint64_t number = 0;
    return file >> number ? number : no_limit;
}

// MemAvailable in /proc/meminfo, which is in kB.
std::uint64_t of_the_machine() {
    std::ifstream file{"/proc/meminfo"};
    for (std::string word; file >> word;)
        if (std::uint64_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes)
            return 1024 * kilobytes;
    return no_limit;
}

// The least of the limits of this process's control group and those around it.
std::uint64_t of_the_group() {
    std::ifstream file{"/proc/self/cgroup"};
    std::uint64_t least = no_limit;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("0::/")) continue;
        for (fs::path group = line.substr(4);; group = group.parent_path()) {
            least = std::min(least, number_in("/sys/fs/cgroup" / group / "memory.max"));
            if (group.empty()) break;
        }
    }
    return least;
}

}  // namespace

std::uint64_t memory_of_run(Config const& config, std::size_t n_seq) {
    std::uint64_t const n = n_seq;
    std::uint64_t const d = config.d_model;
    std::uint64_t const rows = n * d * (config.n_head + 16);         // steps, outputs of heads, q, k and v
    std::uint64_t const hidden = n * config.d_mlp * 2;               // of an MLP below
    std::uint64_t const pairs = n * n * 5;                           // scores to softmax
    std::uint64_t const weights = 8 * d * d + 2 * d * config.d_mlp;  // of a block, and its heads' share
    std::uint64_t const text = std::max(n, d) * n * 16;              // one table as CSV, in bytes
    return sizeof(float) * (rows + hidden + pairs + weights) + text;
}

std::uint64_t available_memory() {
    return std::min({of_the_machine(), of_the_group(), address_space_left().value_or(no_limit)});
}

void expect_memory(Config const& config, std::size_t n_seq) {
    std::uint64_t const needed = memory_of_run(config, n_seq);
    std::uint64_t const available = available_memory();
    if (needed <= available) return;
    throw Error(
        fmt::format("a text of {} tokens at d_model {} and {} heads: expected to need {} MB of memory, found "
                    "{} MB available: "
                    "take a shorter text, or a machine with more memory",
                    n_seq, config.d_model, config.n_head, needed / megabyte + 1, available / megabyte));
}

}  // namespace onehead
