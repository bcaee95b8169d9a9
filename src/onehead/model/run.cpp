#include "onehead/model/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onehead/attention/experiments.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/error.hpp"
#include "onehead/io/system.hpp"
#include "onehead/model/model.hpp"

namespace onehead {

namespace {

void expect_below(std::size_t value, std::size_t limit, std::string const& field, std::string_view what) {
    if (value < limit) return;
    throw UsageError(field, {"", fmt::format("one from 0 to {}", limit - 1),
                             fmt::format("{}, and there is no such {}", value, what)});
}

std::string why_left_out(Rows rows) {
    if (rows == Rows::exact) return "";
    std::vector<std::string> raw;
    std::vector<std::string> right;
    for (Term const& term : terms::all)
        (term.is_raw ? raw : right).push_back(fmt::format("{:02}", term.number));
    std::string const last = raw.back();
    raw.pop_back();
    return fmt::format(
        "{} and {} are left out: the rows that this excerpt holds are right only up to {} each, "
        "which LayerNorm removes, so everything from {} to {} is right",
        fmt::join(raw, ", "), last, rows == Rows::shifted ? "a constant added to" : "a factor on",
        right.front(), right.back());
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
    facts.model_file = model.file_name();
    facts.weights_sha256 = weights_sha256(c);
    facts.layer = request.layer;
    facts.head = request.head;
    facts.n_layer = model.config().n_layer;
    facts.n_head = model.config().n_head;
    facts.d_model = model.config().d_model;
    facts.d_head = model.config().d_head();
    facts.layer_norm_epsilon = c.ln_1.epsilon;
    facts.text = text_of(model.tokens(ids));
    facts.row = request.row.value_or(ids.size() > 1 ? ids.size() - 2 : 0);
    facts.left_out = why_left_out(model.rows());
    return facts;
}

void note_experiment(Trace& trace, Experiment const& experiment) {
    trace.facts.experiment = experiment.name;
    trace.facts.experiment_says = experiment.changes;
    for (auto const& [term, text] : experiment.formulas) trace.set_formula(term, std::string{text});
}

Trace trace(Tokens const& tokens, Facts const& facts, std::shared_ptr<Case const> c) {
    Trace trace = trace_head(*c, tokens);
    trace.facts = facts;
    trace.facts.divisor = c->divisor;
    trace.made_by = std::move(c);
    if (facts.layer > 0)
        trace.set_formula(terms::residual,
                          fmt::format("residual_after of layer {} + its MLP", facts.layer - 1));
    return trace;
}

}  // namespace

std::vector<int> tokens_of(Model const& model, Request const& request) {
    std::vector<int> ids;
    if (request.token_ids)
        ids = *request.token_ids;
    else if (request.text)
        ids = model.encode(*request.text);
    else if (ids = model.own_tokens(); ids.empty())
        ids = model.encode(default_text);
    if (ids.empty())
        throw UsageError(request.token_ids ? "token_ids" : "text",
                         {"", "at least one token, for a head needs a row to read", "none"});
    return ids;
}

std::vector<int> tokens_for_run(Model const& model, Request const& request) {
    std::vector<int> ids = tokens_of(model, request);
    model.check_tokens(ids);
    expect_memory(model.config(), ids.size());
    return ids;
}

namespace {

void expect_row(Request const& request, std::size_t n_seq) {
    if (request.row) expect_below(*request.row, n_seq, "row", "row in this text");
}

}  // namespace

std::size_t row_before_next(Request const& request, std::size_t n_seq) {
    expect_row(request, n_seq);
    return request.row.value_or(n_seq - 1);
}

Run prepare(Model const& model, Request const& request) {
    model.check_layer(request.layer);
    expect_below(request.head, model.config().n_head, "head", "head");
    std::vector<int> const ids = tokens_for_run(model, request);
    expect_row(request, ids.size());
    Run run{make_case(model, ids, request), {}, {}};
    run.facts = describe(model, request, run.head, ids);
    run.tokens = model.tokens(ids);
    return run;
}

Case changed_case(Run const& run, std::string const& experiment) {
    Case c = run.head;
    if (experiment.empty()) return c;
    Experiment const& change = find_experiment(experiment);
    if (change.needs_exact_rows && !c.residual_is_exact)
        throw UsageError("experiment", {experiment, "the raw rows, which it needs", "an excerpt without them",
                                        run.facts.left_out});
    change.apply(c);
    return c;
}

Trace trace(Run const& run, std::string const& experiment) {
    Trace result = trace(run.tokens, run.facts, std::make_shared<Case const>(changed_case(run, experiment)));
    if (!experiment.empty()) note_experiment(result, find_experiment(experiment));
    return result;
}

Trace trace(Model const& model, Request const& request) {
    Run run = prepare(model, request);
    if (!request.experiment.empty()) return trace(run, request.experiment);
    return trace(run.tokens, run.facts, std::make_shared<Case const>(std::move(run.head)));
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

Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress) {
    auto const attention = [&model, progress](std::size_t layer) {
        if (progress) progress(layer);
        return model.attention(layer);
    };
    return {.attention = attention,
            .mlp = [&model](std::size_t layer) { return model.mlp(layer); },
            .n_layer = model.config().n_layer,
            .vocab_size = model.config().vocab_size,
            .final_norm = [&model] { return model.final_norm(); },
            .unembedding = [&model](std::size_t first,
                                    std::size_t last) { return model.unembedding(first, last); }};
}

// What somebody may not expect.

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view end_of_text = "<|endoftext|>";

// The ids of a text in which each <|endoftext|> is the special token.
std::vector<int> with_special_tokens(Model const& model, std::string_view text, int end) {
    std::vector<int> ids;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const next = std::min(text.find(end_of_text, at), text.size());
        for (int const id : model.encode(text.substr(at, next - at))) ids.push_back(id);
        if (next < text.size()) ids.push_back(end);
        at = std::min(next + end_of_text.size(), text.size());
    }
    return ids;
}

std::vector<TextNote> notes_on_text(Model const& model, std::string const& text) {
    std::vector<TextNote> notes;
    Tokenizer const& vocabulary = model.tokenizer();
    if (text.starts_with(byte_order_mark))
        notes.push_back(
            {"the text begins with a byte order mark (U+FEFF), which is a part of it here: save it without, "
             "or give the ids without it",
             model.encode(text.substr(byte_order_mark.size()))});
    if (std::size_t const found = text.find(end_of_text); found != text.npos) {
        std::size_t const n = model.encode(end_of_text).size();
        TextNote note{fmt::format("<|endoftext|> in a text is plain text, {} tokens", n), {}};
        if (auto const end = vocabulary.id_of_end()) {
            note.says += fmt::format("; the special token is id {}, which only ids can give", *end);
            note.ids = with_special_tokens(model, text, *end);
        }
        notes.push_back(std::move(note));
    }
    if (vocabulary.adds_space() && !text.starts_with(' '))
        notes.push_back(
            {"the model's tokenizer_config.json has add_prefix_space: its own tokenizer would put a space "
             "before the text; here it is taken as it is: begin it with a space, or give the ids with one",
             model.encode(" " + text)});
    return notes;
}

}  // namespace

std::vector<TextNote> notes_on(Model const& model, Request const& request) {
    if (request.text && !request.text->empty()) {
        try {
            return notes_on_text(model, *request.text);
        } catch (Error const&) {
            return {};  // the run itself says what is wrong
        }
    }
    if (!request.token_ids) return {};
    Tokens const tokens = model.tokens(*request.token_ids);
    bool const none_known =
        std::ranges::all_of(tokens, [](Token const& token) { return token.bytes.empty(); });
    if (!none_known || tokens.empty()) return {};
    try {
        model.tokenizer();
    } catch (Error const& error) {
        return {{fmt::format("the tokens are shown by their ids, since the vocabulary cannot be read: {}",
                             error.what())}};
    }
    return {};
}

std::string text_of_file(std::string content) {
    if (content.ends_with('\n')) content.erase(content.size() - (content.ends_with("\r\n") ? 2 : 1));
    return content;
}

namespace {

void expect_word(std::string const& word) {
    if (word.empty()) throw UsageError("word", {"", "at least one character", "none"});
    expect_utf8("word", word);
}

}  // namespace

std::vector<int> with_changed_word(Model const& model, std::vector<int> ids, std::size_t pos,
                                   std::string word) {
    expect_word(word);
    expect_below(pos, ids.size(), "position", "position");
    std::string const replaced = model.tokens(ids)[pos].bytes;
    if (replaced.starts_with(' ') && !word.starts_with(' ')) word.insert(0, " ");
    auto const at = ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(pos));
    std::vector<int> const changed = model.encode(word);
    ids.insert(at, changed.begin(), changed.end());
    return ids;
}

std::vector<int> with_appended_words(Model const& model, std::vector<int> ids, std::string words) {
    expect_word(words);
    auto const first = static_cast<unsigned char>(words.front());
    if (std::isalnum(first) != 0 || first >= 0x80) words.insert(0, " ");
    for (int const id : model.encode(words)) ids.push_back(id);
    return ids;
}

// Memory.

namespace {

constexpr std::uint64_t megabyte = 1'000'000;

// About what a run on so many tokens holds at its largest, in bytes: a little more than it takes, not less.
std::uint64_t memory_of_run(Config const& config, std::uint64_t n) {
    std::uint64_t const d = config.d_model;
    std::uint64_t const rows = n * d * (config.n_head + 16);         // steps, outputs of heads, q, k and v
    std::uint64_t const hidden = n * config.d_mlp * 2;               // of an MLP below
    std::uint64_t const pairs = n * n * 5;                           // scores to softmax
    std::uint64_t const weights = 8 * d * d + 2 * d * config.d_mlp;  // of a block, and its heads' share
    std::uint64_t const text = std::max(n, d) * n * 16;              // one table as CSV, in bytes
    return sizeof(float) * (rows + hidden + pairs + weights) + text;
}

// The number after a word of a small file; nothing where there is none ("max").
std::optional<std::uint64_t> number_in(std::filesystem::path const& path, std::string_view word = "") {
    std::ifstream file{path};
    std::string found;
    std::uint64_t number = 0;
    while (!word.empty() && found != word && file >> found) {
    }
    return file >> number ? std::optional{number} : std::nullopt;
}

// What this process may still take: of the machine's memory what is available, at most what its control group
// (a container's limit) and its own limit (ulimit -v) leave.
std::uint64_t available_memory() {
    std::uint64_t least = address_space_left().value_or(std::numeric_limits<std::uint64_t>::max());
    auto const limit = [&](std::optional<std::uint64_t> bytes) {
        least = std::min(least, bytes.value_or(least));
    };
    if (auto const kilobytes = number_in("/proc/meminfo", "MemAvailable:")) limit(1024 * *kilobytes);
    std::ifstream groups{"/proc/self/cgroup"};
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with("0::/")) continue;
        std::filesystem::path group = std::filesystem::path{"/sys/fs/cgroup"} / line.substr(4);
        for (; group != "/sys/fs" && group.has_relative_path(); group = group.parent_path())
            limit(number_in(group / "memory.max"));
    }
    return least;
}

}  // namespace

void expect_memory(Config const& config, std::size_t n_seq) {
    std::uint64_t const needed = memory_of_run(config, n_seq);
    std::uint64_t const available = available_memory();
    if (needed <= available) return;
    throw Error(
        {fmt::format("a text of {} tokens at d_model {} and {} heads", n_seq, config.d_model, config.n_head),
         fmt::format("to need {} MB of memory", needed / megabyte + 1),
         fmt::format("{} MB available", available / megabyte),
         "take a shorter text, or a machine with more memory"});
}

}  // namespace onehead
