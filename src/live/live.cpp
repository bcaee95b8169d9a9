// onehead in a browser: a question goes in, files come out. The question is JSON, {"ask": "trace", "text":
// "The cat sat", "layer": 3, "head": 2}, with the names that the command's options have; the answer is files,
// each a name and bytes: a page for the reader, JSON for the script, or all that `onehead trace --out`
// writes. What is computed, and every page, comes from the same functions as the command's.
//
// What goes wrong is an answer too: error.json, with the one line that the command would say.

#include <emscripten/em_js.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/attention/experiments.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/explore.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/causality.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/next.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/study/worked.hpp"

// How far a long answer is: `done` of `all` layers. The page shows it.
// clang-format off
EM_JS(void, tell_progress, (int done, int all), { if (Module["progress"]) Module["progress"](done, all); })
// clang-format on

namespace onehead {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Answer {
    struct File {
        std::string name;
        std::string bytes;
    };
    std::vector<File> files;

    void add(std::string name, std::string bytes) { files.push_back({std::move(name), std::move(bytes)}); }
    // Labels are UTF-8 always; a name that somebody gave a folder need not be.
    void add(std::string name, json const& value) {
        add(std::move(name), value.dump(-1, ' ', false, json::error_handler_t::replace));
    }
};

void tell(std::size_t done, std::size_t all) {
    tell_progress(static_cast<int>(done), static_cast<int>(all));
}

// ---------------------------------------------------------------------------------------------------------
// What is asked

// The model stays open from one question to the next.
Model const& model_of(json const& question) {
    static std::unique_ptr<Model> model;
    static std::string opened;
    std::string const path = question.value("model", "gpt2-mini");
    if (!model || path != opened) {
        model.reset();  // two of them may not fit into memory
        model = open_model(fs::path{path});
        opened = path;
    }
    return *model;
}

std::optional<std::size_t> number(json const& question, char const* name) {
    if (!question.contains(name)) return {};
    return question[name].get<std::size_t>();
}

Request request_of(json const& question, Model const& model) {
    Request request;
    if (question.contains("tokens")) request.token_ids = question["tokens"].get<std::vector<int>>();
    if (question.contains("text")) request.text = question["text"].get<std::string>();
    request.layer = number(question, "layer").value_or(model.layers().front());
    request.head = number(question, "head").value_or(0);
    request.row = number(question, "row");
    request.experiment = question.value("experiment", "");
    request.progress = [n = request.layer](std::size_t layer) { tell(layer, n); };
    return request;
}

// ---------------------------------------------------------------------------------------------------------
// What is answered

// What there is to choose from.
void about(Model const& model, Answer& answer) {
    json choices{{"model", model.name()},
                 {"version", ONEHEAD_VERSION},
                 {"layers", model.layers()},
                 {"n_head", model.config().n_head},
                 {"own_text", model.own_text()}};
    for (Experiment const& one : experiments())
        choices["experiments"].push_back(
            {{"name", one.name}, {"changes", one.changes}, {"question", one.question}});
    for (Term const& term : terms::all)
        choices["steps"].push_back(fmt::format("{:02} {}", term.number, term.name));
    answer.add("about.json", choices);
}

// The text as tokens: quick, for every key that is pressed.
void tokens(Model const& model, json const& question, Answer& answer) {
    Request const request = request_of(question, model);
    std::vector<int> const ids = tokens_for_run(model, request);
    json list = json::array();
    for (Token const& token : model.tokens(ids)) list.push_back({{"id", token.id}, {"label", label(token)}});
    json notes = json::array();
    for (TextNote const& note : notes_on(model, request)) notes.push_back(note.says);
    answer.add("tokens.json", json{{"tokens", list}, {"notes", notes}});
}

void add_facts(Trace const& trace, Answer& answer) {
    answer.add("facts.json", json{{"fingerprint", trace.fingerprint()}, {"row", trace.facts.row}});
}

void whole_trace(Model const& model, json const& question, Answer& answer) {
    Trace const result = trace(model, request_of(question, model));
    add_facts(result, answer);
    answer.add("page.html", html(trace_page(result, {})));
}

// The folder that `onehead trace --out` would make.
void trace_files(Model const& model, json const& question, Answer& answer) {
    Trace const result = trace(model, request_of(question, model));
    add_facts(result, answer);
    fs::path const folder = "/trace";
    write_trace(folder, result, find_formats(question.value("format", "text,csv")));
    std::vector<fs::path> paths;
    for (auto const& entry : fs::directory_iterator{folder}) paths.push_back(entry.path());
    std::ranges::sort(paths);
    for (fs::path const& path : paths) {
        answer.add(path.filename().string(), read_text(path, static_cast<std::size_t>(fs::file_size(path))));
        fs::remove(path);
    }
}

// Two runs of the text: as asked, and with another layer, head or experiment.
void compare_page(Model const& model, json const& question, Answer& answer) {
    json other = question;
    other.erase("experiment");
    other.update(question.value("with", json::object()));
    Trace const a = trace(model, request_of(question, model));
    Trace const b = trace(model, request_of(other, model));
    add_facts(a, answer);
    answer.add("page.html", html(compare_report(a, b, compare(a, b))));
}

void causality_page(Model const& model, json const& question, Answer& answer) {
    Request const request = request_of(question, model);
    Trace const before = trace(model, request);
    Request changed = request;
    changed.text.reset();
    std::string const word = question.value("word", "");
    auto const position = number(question, "change");
    changed.token_ids = position ? with_changed_word(model, token_ids(before), *position, word)
                                 : with_appended_words(model, token_ids(before), word);
    Trace const after = trace(model, changed);
    add_facts(before, answer);
    answer.add("page.html", html(causality_report(before, after, check_causality(before, after))));
}

void next_page(Model const& model, json const& question, Answer& answer) {
    Request request = request_of(question, model);
    request.progress = [n = model.config().n_layer](std::size_t layer) { tell(layer, n); };
    constexpr std::size_t top = 10;
    auto const [prepared, next, likely] = next_tokens(model, request, top);
    answer.add("facts.json",
               json{{"fingerprint", trace(prepared, request.experiment).fingerprint()}, {"row", next.row}});
    answer.add("page.html",
               html(next_report(prepared.facts, prepared.tokens, request.experiment, next, likely)));
}

void worked_page(Model const& model, json const& question, Answer& answer) {
    Request const request = request_of(question, model);
    auto const* const step = find_term(question.value("step", "softmax"));
    if (step == nullptr)
        throw UsageError("step", {.expected = "a step", .found = label(question.value("step", ""))});
    Run const prepared = prepare(model, request);
    Trace const result = trace(prepared, request.experiment);
    Worked const worked =
        work_out(changed_case(prepared, request.experiment), result, *step,
                 number(question, "row").value_or(result.facts.row), number(question, "column").value_or(0));
    constexpr std::size_t all_lines = 1'000'000;
    add_facts(result, answer);
    answer.add("page.html", html(worked_report(worked, all_lines)));
}

// A pattern [query_pos, key_pos] as a small picture: for each of its squares the shade of the largest weight
// in it; `later` where nothing may be read.
constexpr std::size_t largest_picture = 48;  // squares along a side
constexpr std::uint8_t later = 255;

std::string small_picture(Matrix const& pattern) {
    std::size_t const n = row_count(pattern);
    std::size_t const side = std::min(n, largest_picture);
    std::string picture(side * side, static_cast<char>(later));
    auto const square = [&](std::size_t pos) { return pos * side / n; };
    Scale const scale = Scale::weights();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            auto& cell = reinterpret_cast<std::uint8_t&>(picture[square(i) * side + square(j)]);
            auto const shade = static_cast<std::uint8_t>(scale.shade(static_cast<double>(pattern(i, j))));
            cell = cell == later ? shade : std::max(cell, shade);
        }
    return picture;
}

// Every head: its figures as `onehead heads` has them, its pattern as a small picture.
void heads(Model const& model, json const& question, Answer& answer) {
    std::vector<int> const ids = tokens_for_run(model, request_of(question, model));
    std::vector<std::size_t> const layers = model.layers();
    std::string pictures;
    json figures = json::array();
    survey_heads(model, ids, {}, [&](HeadSurvey const& head, Matrix const& pattern) {
        tell(head.layer - layers.front() + 1, layers.size());
        pictures += small_picture(pattern);
        figures.push_back({{"layer", head.layer},
                           {"head", head.head},
                           {"previous", head.previous},
                           {"first", head.first},
                           {"induction", head.induction},
                           {"effective_rows", head.effective_rows}});
    });
    answer.add("heads.json", json{{"heads", figures}, {"side", std::min(ids.size(), largest_picture)}});
    answer.add("pictures", std::move(pictures));
}

// What each head is worth to the token after a row.
void worth(Model const& model, json const& question, Answer& answer) {
    Request const request = request_of(question, model);
    Worth const result = worth_of_heads(model, request, {}, tell);
    json list = json::array();
    for (HeadWorth const& one : result.heads)
        list.push_back({{"layer", one.layer}, {"head", one.head}, {"worth", one.worth}});
    Tokens const tokens = model.tokens(tokens_of(model, request));
    Inline const says = worth_sentence(result, model.tokens({result.top}).front(), tokens);
    answer.add("worth.json", json{{"heads", list}, {"says", wrapped(says)}});
}

// ---------------------------------------------------------------------------------------------------------
// The table of questions

struct Question {
    std::string_view name;
    void (*give)(Model const& model, json const& question, Answer& answer);
};

constexpr std::array questions{
    Question{"about", [](Model const& model, json const&, Answer& answer) { about(model, answer); }},
    Question{"tokens", tokens},
    Question{"trace", whole_trace},
    Question{"files", trace_files},
    Question{"compare", compare_page},
    Question{"causality", causality_page},
    Question{"next", next_page},
    Question{"worked", worked_page},
    Question{"heads", heads},
    Question{"worth", worth},
};

Answer wrong(std::string const& message, std::string const& field = "") {
    Answer answer;
    answer.add("error.json", json{{"message", printable(message)}, {"field", field}});
    return answer;
}

Answer answer_to(std::string_view text) {
    try {
        json const question = json::parse(text);
        std::string const asked = question.at("ask");
        auto const* const found = std::ranges::find(questions, asked, &Question::name);
        if (found == questions.end()) throw UsageError("ask", {.found = "there is no such question"});
        Answer answer;
        found->give(model_of(question), question, answer);
        return answer;
    } catch (UsageError const& error) {
        return wrong(error.what(), error.field());
    } catch (std::bad_alloc const&) {
        return wrong("out of memory; a shorter text needs less");
    } catch (fs::filesystem_error const& error) {
        return wrong(sentence(
            {.where = error.path1().string(), .found = "cannot be used: " + error.code().message()}));
    } catch (std::exception const& error) {
        return wrong(error.what());
    }
}

Answer& last_answer() {
    static Answer answer;
    return answer;
}

}  // namespace

}  // namespace onehead

// What JavaScript calls. The files of an answer stay until the next question.
extern "C" {

// The number of files in the answer.
int onehead_ask(char const* question) {
    onehead::last_answer() = {};
    onehead::last_answer() = onehead::answer_to(question);
    return static_cast<int>(onehead::last_answer().files.size());
}

char const* onehead_file_name(int number) {
    return onehead::last_answer().files[static_cast<std::size_t>(number)].name.c_str();
}

char const* onehead_file_bytes(int number) {
    return onehead::last_answer().files[static_cast<std::size_t>(number)].bytes.data();
}

std::size_t onehead_file_size(int number) {
    return onehead::last_answer().files[static_cast<std::size_t>(number)].bytes.size();
}
}
