#include "lesson.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iostream>
#include <set>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/explore.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/markdown.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/worked.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace fs = std::filesystem;

constexpr auto index_name = "trace.json";

// What a lesson's folder can hold: what a trace can, whole traces below, and what is a lesson's own.
std::vector<std::string> const& names_of_a_lesson() {
    static std::vector<std::string> const all = [] {
        std::vector<std::string> names = trace_folder.names();
        for (char const* const below : {"scaled", "unscaled", "head_0.2", "head_3.2"})
            for (std::string const& name : trace_folder.names())
                names.push_back(fmt::format("{}/{}", below, name));
        for (char const* const own : {"lesson.txt", "lesson.html", "compare.html", "pytorch.safetensors"})
            names.emplace_back(own);
        return names;
    }();
    return all;
}

FolderKind const lesson_folder{"a lesson's folder", names_of_a_lesson, index_name,
                               [](std::string const& index) { return trace_folder.is_ours(index); }};

// Pages of the course.

constexpr auto course_title = "One attention head: the lessons";

void expect_course(fs::path const& index) {
    constexpr std::size_t most = 4096;
    if (fs::exists(index) && beginning_of(index, most).find("content=\"onehead ") == std::string::npos)
        throw Error(fmt::format("{}: is not a list of traces, so it is not replaced; choose another --out",
                                index.string()));
}

// The contents of a small course: what each lesson answers, the sentence, the pattern, and where to go on.
Document course(fs::path const& folder, Trace const& trace) {
    std::set<fs::path> lessons;
    for (auto const& entry : fs::directory_iterator{folder})
        if (entry.is_directory()) lessons.insert(entry.path());
    std::vector<Inline> further;
    Document page{course_title};
    page.heading(course_title);
    page.paragraph(
        "What one attention head of GPT-2 computes, from the row that arrives to the row that leaves. Seven "
        "lessons, one page each, follow one row of one text through one head; every number in them is "
        "computed from that run.");
    page.add(sentence(trace));
    page.add(run_facts(trace));
    Document list, beside;
    list.chapter("The lessons");
    for (fs::path const& lesson : lessons) {
        auto const about = lesson_in_trace_json(beginning_of(lesson / index_name));
        if (!about) continue;
        std::string const name = lesson.filename().string();
        list.part(Link{"Lesson " + about->title, name + "/lesson.html"});
        list.paragraph(about->question);
        for (auto const& [file, says] : about->pages)
            further.push_back(say("Lesson {}: {}", name.substr(0, 1), Link{says, name + "/" + file}));
    }
    beside.chapter("The pattern that they lead to");
    beside.blocks.push_back({pattern_picture(trace)});
    beside.paragraph(pattern_sentence(trace, trace.facts.row));
    page.add(Pair{std::move(list.blocks), std::move(beside.blocks)});
    page.chapter("Where to go on");
    if (!further.empty()) page.add(Bullets{further});
    page.paragraph(
        say("With options the lessons take another text, head or row: {} follows row 1 of a text of your own "
            "through head 2. {} makes handouts, {} the key to them.",
            Code{"lessons/run --text \"Dogs chase cats\" --head 2 --row 1"}, Code{"lessons/run --no-answers"},
            Code{"lessons/run --answers"}));
    return page;
}

int run_lesson(std::string_view program, Arguments const& arguments, Subject const& subject) {
    RunOptions run;
    std::string folder = "traces";
    bool no_answers = false;
    bool answers = false;
    bool as_markdown = false;
    Options options{fmt::format("{} [options]\nLesson {}", subject.name, subject.title), ""};
    add_run_options(options, run);
    options.add("out", "DIR", folder, "the folder above the lessons' folders (default: traces)");
    options.add_flag("no-answers", no_answers, "ask, leave room, and do not answer: a handout for a class");
    options.add_flag("answers", answers, "the answers alone: the key to the handout");
    options.add_flag("markdown", as_markdown, "print it as Markdown");
    if (!options.read(arguments)) return 0;
    if (answers && no_answers)
        throw UsageError({.where = "--answers",
                          .expected = "it without --no-answers",
                          .found = "both",
                          .advice = "choose one of the two"});
    fs::path const out = folder;
    expect_course(out / "index.html");
    expect_replaceable(out / subject.name, lesson_folder);
    auto const model = open_model(run);
    Lesson lesson{subject,
                  *model,
                  prepare(*model, make_request(run, *model)),
                  Commands{program, run},
                  out,
                  no_answers ? Answers::left_out
                  : answers  ? Answers::alone
                             : Answers::given};
    subject.teach(lesson);
    Document const page = lesson.document();
    lesson.write(page);
    write_file_in_place(out / "index.html", html(course(out, lesson.trace())));
    fmt::print("{}", as_markdown ? markdown(lesson.document(false)) : text(page));
    return 0;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------
// What a lesson says

Lesson::Lesson(Subject const& subject, Model const& model, Run run, Commands commands, fs::path const& out,
               Answers answers)
    : subject_(subject),
      model_(model),
      run_(std::move(run)),
      trace_(onehead::trace(run_, "")),
      commands_(std::move(commands)),
      folder_(out / subject.name),
      answers_(answers) {}

void Lesson::add(Block block) {
    if (answers_ != Answers::alone) blocks_.push_back(std::move(block));
}

void Lesson::play(std::string_view panel, Term const& step) {
    if (answers_ != Answers::given) return;  // a handout is for paper, and would give its answers away
    add({Panel{panel}});
    if (!played_) played_ = step;
}

void Lesson::show_and_keep(std::string const& name, Picture picture) {
    keep_file(name + ".svg", svg_file(picture));
    add({std::move(picture)});
}

void Lesson::ask(Inline question, std::size_t room) {
    Question block;
    block.number = ++questions_;
    block.text = std::move(question);
    block.room = answers_ == Answers::left_out ? room : 0;
    block.is_open = answers_ == Answers::alone;
    blocks_.push_back({std::move(block)});
}

void Lesson::add_to_answer(Block block) {
    if (answers_ == Answers::left_out) return;
    auto* const question = blocks_.empty() ? nullptr : std::get_if<Question>(&blocks_.back().content);
    if (question == nullptr) throw std::logic_error("an answer follows its question");
    question->answer.push_back(std::move(block));
}

void Lesson::answer_with_all(Contents blocks) {
    for (Block& block : blocks) add_to_answer(std::move(block));
}

void Lesson::check_with(std::string command, Inline shows) {
    if (answers_ == Answers::left_out)
        checks_.emplace_back(questions_, std::move(command));
    else
        add_to_answer({Command{std::move(command), std::move(shows)}});
}

std::string Lesson::folder_of(std::string_view experiment) const {
    return shell_word((folder_.parent_path() / experiment).string());
}

std::string Lesson::make_experiment(std::string_view experiment) const {
    return commands_.on_this_run(
        fmt::format("trace --experiment {} --quiet --out {}", experiment, folder_of(experiment)));
}

void Lesson::check_with_experiment(std::string_view experiment, Inline shows) {
    std::string const own = folder_of("as_it_is");
    check_with(commands_.on_this_run(fmt::format("trace --quiet --out {}", own)) + " && " +
                   make_experiment(experiment) + " && " +
                   commands_.onehead(fmt::format("compare {} {}", own, folder_of(experiment))),
               std::move(shows));
}

void Lesson::check_worked(Term const& term, std::size_t row, std::size_t column, Inline const& more) {
    check_with(commands_.at_row(fmt::format("worked {} {} {}", term.name, row, column), trace_.facts.row),
               say("{}{}The last line: In the trace: {}.", more, more.empty() ? "" : " ",
                   fmt::format("{}", trace_[term](row, column))));
}

void Lesson::answer_worked(Term const& term, std::size_t row, std::size_t column) {
    constexpr std::size_t shown_lines = 10;
    answer_with_all(worked_report(work_out(run_.head, trace_, term, row, column), shown_lines).blocks);
    check_worked(term, row, column, "All its lines.");
}

Document Lesson::document(bool names_files) const {
    Document page{fmt::format("Lesson {}", subject_.title)};
    page.heading(
        fmt::format("Lesson {}{}", subject_.title, answers_ == Answers::alone ? ": the answers" : ""));
    page.add(sentence(trace_));
    page.add(run_facts(trace_));
    if (played_) page.add(Panel{"controls", played_->name});
    page.add_all(blocks_);
    if (!checks_.empty()) {
        page.chapter("To check an answer");
        page.paragraph("Run the command with its question's number:");
        for (auto const& [number, command] : checks_)
            page.add(Command{command, {}, fmt::format("Question {}", number)});
    }
    if (!names_files) return page;
    std::vector<Inline> steps;
    for (Term const& term : kept_)
        steps.emplace_back(Link{file_stem(term) + ".csv", file_stem(term) + ".csv"});
    for (auto const& [file, says] : pages_) page.aside(say("{}: {}", Link{file, file}, says));
    if (!steps.empty()) page.aside(say("The steps of this lesson, for every row: {}.", list(steps)));
    page.aside(say("All lessons: {}", Link{"../index.html", "../index.html"}));
    if (played_) page.add(explorer(trace_));
    return page;
}

// ---------------------------------------------------------------------------------------------------------
// What it keeps

void Lesson::keep(std::vector<Term> const& steps) {
    for (Term const& term : steps)
        if (trace_.find(term) != nullptr && std::ranges::find(kept_, term) == kept_.end())
            kept_.push_back(term);
}

void Lesson::keep_file(std::string name, std::string bytes) {
    files_.push_back({std::move(name), [bytes = std::move(bytes)](Sink const& out) { out(bytes); }});
}

void Lesson::keep_page(std::string name, std::string says, Document const& page) {
    keep_file(name, html(page));
    pages_.emplace_back(std::move(name), std::move(says));
}

void Lesson::keep_trace(Trace const& trace, std::string const& below) {
    if (!below.empty()) {
        std::vector<OutputFile> files;
        std::vector<std::string> names;
        for (Format const& format : find_formats("text,csv,html"))
            for (OutputFile& file : format.files(trace, names)) files.push_back(std::move(file));
        for (OutputFile const& file : files) names.push_back(file.name);
        for (OutputFile const& file : files) {
            std::string bytes;
            file.give([&](std::string_view piece) { bytes += piece; });
            keep_file(below + "/" + file.name, std::move(bytes));
        }
        keep_file(below + "/trace.json", trace_json(trace, names));
        pages_.emplace_back(
            below + "/trace.html",
            trace.facts.text == trace_.facts.text
                ? fmt::format(
                      "{}, {}: every step with its picture", head_name(trace.facts),
                      trace.facts.experiment.empty() ? "as GPT-2 computes it" : trace.facts.experiment)
                : fmt::format("another head, {}, on {}", head_name(trace.facts), label(trace.facts.text)));
        return;
    }
    std::vector<Term> all;
    for (Step const& step : trace.steps()) all.push_back(step.term);
    keep(all);
    std::vector<std::string> files{"trace.txt", "trace.html", "tokens.csv"};
    for (Term const& term : kept_) files.push_back(file_stem(term) + ".csv");
    keep_file("trace.txt", text(trace_story(trace, files)));
    keep_file("trace.html", html(trace_page(trace, files)));
    pages_.emplace_back("trace.html", "the whole head for this row, with every step and its picture");
}

void Lesson::write(Document const& page) const {
    Trace kept;
    kept.tokens = trace_.tokens;
    kept.facts = trace_.facts;
    std::vector<OutputFile> files = files_;
    files.push_back({"lesson.txt", [&](Sink const& out) { out(text(page)); }});
    files.push_back({"lesson.html", [&](Sink const& out) { out(html(page)); }});
    files.push_back({"tokens.csv", [&](Sink const& out) { out(tokens_csv(trace_.tokens)); }});
    for (Step const& step : trace_.steps()) {
        if (std::ranges::find(kept_, step.term) == kept_.end()) continue;
        kept.add(step.term, step.values);
        kept.set_formula(step.term, step.formula);
        files.push_back({file_stem(step.term) + ".csv",
                         [&](Sink const& out) { write_step_csv(step, trace_.tokens, out); }});
    }
    std::vector<std::string> names;
    names.reserve(files.size());
    for (OutputFile const& file : files) names.push_back(file.name);
    LessonFacts const about{std::string{subject_.name}, std::string{subject_.title},
                            std::string{subject_.question}, pages_};
    std::string const index = trace_json(kept, names, about);
    files.push_back({index_name, [&](Sink const& out) { out(index); }});
    write_folder(folder_, files, lesson_folder);
}

int teach(int argc, char** argv, Subject const& subject) {
    return run_program(subject.name, [&](int& /*trouble*/) {
        return run_lesson(argv[0], {argv + 1, argv + argc}, subject);
    });
}

namespace {

// " --text 'The cat'": an option that was given, ready for a shell; nothing if it was not.
std::string repeat(std::string_view option, std::optional<std::string> const& text) {
    if (!text) return "";
    return fmt::format(" {}{}{}", option, text->starts_with('-') ? "=" : " ", shell_word(*text));
}

std::string repeat(std::string_view option, std::optional<std::size_t> number) {
    return number ? fmt::format(" {} {}", option, *number) : "";
}

// As a reader would write it: from the folder where the lesson was called, if it is below that.
fs::path from_here(fs::path const& path) {
    std::error_code error;
    fs::path const relative = path.lexically_normal().lexically_relative(fs::current_path(error));
    return path.is_relative() || error || relative.empty() || *relative.begin() == ".." ? path : relative;
}

// Beside the lesson as built, in bin as installed; else the shell has to find it.
std::string find_onehead(std::string_view lesson) {
    auto const folder = std::filesystem::path{lesson}.parent_path();
    for (auto const& place : {folder / "onehead", folder / "../../bin/onehead"})
        if (!folder.empty() && fs::is_regular_file(place)) return from_here(place).string();
    return "onehead";
}

}  // namespace

Commands::Commands(std::string_view lesson, RunOptions const& run)
    : program_(shell_word(find_onehead(lesson))),
      model_(repeat("--model", run.model)),
      text_(repeat("--text", run.text) + repeat("--text-file", run.text_file)),
      head_(repeat("--layer", run.layer) + repeat("--head", run.head)),
      row_(repeat("--row", run.row)) {
    if (run.tokens) text_ += fmt::format(" --tokens {}", fmt::join(run.tokens->ids, ","));
}

std::string Commands::onehead(std::string_view arguments) const {
    return fmt::format("{} {}", program_, arguments);
}

std::string Commands::on_this_run(std::string_view arguments) const {
    return onehead(arguments) + model_ + text_ + head_ + row_;
}

std::string Commands::at_row(std::string_view arguments, std::size_t row) const {
    return on_this_run(arguments) + (row_.empty() ? fmt::format(" --row {}", row) : "");
}

std::string Commands::on_tokens(std::string_view arguments, std::vector<int> const& ids) const {
    return fmt::format("{}{} --tokens {}", onehead(arguments), model_, fmt::join(ids, ","));
}

std::string Commands::on_these_tokens(std::string_view arguments, std::vector<int> const& ids) const {
    return on_tokens(arguments, ids) + head_ + row_;
}

std::string Commands::on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const {
    if (from.starts_with(' ') && to.starts_with(' ')) to.remove_prefix(1);  // the word keeps that space
    return on_this_run("causality --change " + shell_word(fmt::format("{}={}", pos, to)));
}

std::string shell_word(std::string_view text) {
    constexpr auto harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-";
    if (!text.empty() && text.find_first_not_of(harmless) == std::string_view::npos) return std::string{text};
    return shell_quoted(text);
}

}  // namespace onehead
