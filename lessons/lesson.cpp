#include "lesson.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <exception>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <utility>

#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/worked.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

Options make_options() {
    Options options{"options"};
    add_run_options(options);
    auto add = options.add_options();
    add("out", po::value<std::string>()->value_name("DIR")->default_value("traces"),
        "where the lessons' traces go");
    add("no-answers", po::bool_switch(), "ask, leave room, and do not answer: a handout for a class");
    add("help", "this");
    return options;
}

int run_lesson(std::string_view program, Arguments const& arguments, std::string_view name,
               std::string_view title, void (*lesson)(Lesson&)) {
    Options const options = make_options();
    Given const given = parse(arguments, options);
    if (given.count("help") != 0) {
        std::cout << "usage: " << name << " [options]\nLesson " << title << "\n\n" << options;
        return 0;
    }
    auto const model = open_model(given);
    Lesson lecture{std::string{name},
                   std::string{title},
                   *model,
                   prepare(*model, make_request(given, *model)),
                   Commands{program, given},
                   fmt::format("{}/{}", value(given, "out"), name),
                   !given["no-answers"].as<bool>()};
    lecture.open();
    lesson(lecture);
    write_index(value(given, "out"));
    if (!(std::cout << std::flush)) throw Error("the page cannot be written");
    return 0;
}

std::string room_for_an_answer() {
    std::string lines;
    for (int line = 0; line < 3; ++line) lines += fmt::format("\n    {:_<96}\n", "");
    return lines;
}

int report(std::string_view name, char const* message, int exit_code) {
    fmt::print(stderr, "{}: {}\n", name, printable(message));
    return exit_code;
}

}  // namespace

Lesson::Lesson(std::string name, std::string title, Model const& model, Run run, Commands commands,
               std::string out, bool with_answers)
    : name_(std::move(name)),
      title_(std::move(title)),
      model_(model),
      run_(std::move(run)),
      trace_(onehead::trace(run_, "")),
      commands_(std::move(commands)),
      out_(std::move(out)),
      with_answers_(with_answers) {}

void Lesson::write(Trace const& trace, std::string const& below) const {
    write_trace(below.empty() ? out_ : fmt::format("{}/{}", out_, below), trace,
                find_formats("text,csv,html"));
}

void Lesson::open() const {
    show(heading(title_, '='));
    show(run_table(trace_));
}

void Lesson::tell(std::string_view text) const {
    page_ << "\n" << paragraph(text);
}

void Lesson::show(std::string_view block) const {
    page_ << "\n" << block;
}

void Lesson::ask(std::string_view question) {
    page_ << "\n" << paragraph(fmt::format("Question {}. {}", ++questions_, question), "  ");
    if (!with_answers_) page_ << room_for_an_answer();
}

void Lesson::answer(std::string_view text) const {
    if (with_answers_) page_ << "\n" << paragraph(text, "    ");
}

void Lesson::answer_with(std::string_view block) const {
    if (with_answers_) page_ << "\n" << block;
}

void Lesson::check_with(std::string const& command) {
    if (with_answers_)
        page_ << "\n    Check: " << command << "\n";
    else
        checks_ += fmt::format("  {}  {}\n", questions_, command);
}

void Lesson::compare_with_experiment(std::string_view experiment) {
    std::string const changed = fmt::format("{}.{}", out_, experiment);
    check_with(commands_.on_this_run(
                   fmt::format("trace --experiment {} --quiet --out {}", experiment, shell_word(changed))) +
               " && " + commands_.onehead(fmt::format("compare {} {}", folder(), shell_word(changed))));
}

void Lesson::answer_worked(Term const& term, std::size_t row, std::size_t column) {
    constexpr std::size_t shown_lines = 10;
    answer_with(working_text(work_out(run_.head, trace_, term, row, column), shown_lines));
    check_with(commands_.on_this_run(fmt::format("worked {} {} {}", term.name, row, column)));
}

void Lesson::close(std::vector<Term> const& steps) const {
    if (!checks_.empty())
        page_ << "\nTo check an answer, run the command with its question's number:\n\n" << checks_;
    std::string files;
    for (Term const& term : steps)
        if (trace_.find(term) != nullptr)
            files += fmt::format("{}{}.csv", files.empty() ? "" : ", ", file_stem(term));
    tell(
        fmt::format("In {}: trace.html (for a browser) and trace.txt tell this row's whole story; {} hold "
                    "the steps of this lesson for every row.",
                    printable(out_), files));
}

int teach(int argc, char** argv, std::string_view name, std::string_view title, void (*lesson)(Lesson&)) {
    start_program();
    try {
        return run_lesson(argv[0], {argv + 1, argv + argc}, name, title, lesson);
    } catch (UsageError const& error) {
        return report(name, error.what(), 2);
    } catch (std::exception const& error) {
        return report(name, error.what(), 1);
    }
}

namespace {

// " --head 2 --row 1": those of the options that were given.
std::string repeat(Given const& given, std::vector<std::string> const& names) {
    std::string options;
    for (std::string const& name : names) {
        if (given.count(name) == 0) continue;
        std::string const text = value(given, name);
        options += fmt::format(" --{}{}{}", name, text.starts_with('-') ? "=" : " ", shell_word(text));
    }
    return options;
}

// Beside the lesson as built, in bin as installed; else the shell has to find it.
std::string find_onehead(std::string_view lesson) {
    auto const folder = std::filesystem::path{lesson}.parent_path();
    for (auto const& place : {folder / "onehead", folder / "../../bin/onehead"})
        if (!folder.empty() && std::filesystem::is_regular_file(place)) return place.string();
    return "onehead";
}

}  // namespace

Commands::Commands(std::string_view lesson, Given const& given)
    : program_(shell_word(find_onehead(lesson))),
      model_(repeat(given, {"model"})),
      text_(repeat(given, {"text", "text-file", "tokens"})),
      head_(repeat(given, {"layer", "head"})),
      row_(repeat(given, {"row"})) {}

std::string Commands::onehead(std::string_view arguments) const {
    return fmt::format("{} {}", program_, arguments);
}

std::string Commands::on_this_run(std::string_view arguments) const {
    return onehead(arguments) + model_ + text_ + head_ + row_;
}

std::string Commands::on_this_text(std::string_view arguments) const {
    return onehead(arguments) + model_ + text_;
}

std::string Commands::on_tokens(std::string_view arguments, std::vector<int> const& ids) const {
    return fmt::format("{}{} --tokens {}", onehead(arguments), model_, fmt::join(ids, ","));
}

std::string Commands::on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const {
    if (from.starts_with(' ') && to.starts_with(' ')) to.remove_prefix(1);  // the word keeps that space
    return on_this_run("causality --change " + shell_word(fmt::format("{}={}", pos, to)));
}

std::string shell_word(std::string_view text) {
    constexpr auto harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-";
    if (!text.empty() && text.find_first_not_of(harmless) == std::string_view::npos) return std::string{text};
    std::string word = "'";
    for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

namespace {

namespace fs = std::filesystem;

// The folders at most two levels down that hold a page, in the order of their names.
std::set<fs::path> folders_with_pages(fs::path const& folder) {
    std::set<fs::path> found;
    for (auto entry = fs::recursive_directory_iterator{folder}; entry != fs::recursive_directory_iterator{};
         ++entry) {
        if (entry.depth() > 1) entry.disable_recursion_pending();
        if (entry->path().filename() == "trace.html") found.insert(entry->path().parent_path());
    }
    return found;
}

std::string line(fs::path const& folder, fs::path const& trace) {
    Facts const facts = read_trace_json(trace / "trace.json").facts;
    std::string const name = trace.lexically_relative(folder).generic_string();
    std::string const run = facts.experiment.empty() ? "" : fmt::format(", experiment {}", facts.experiment);
    return element("li",
                   fmt::format("<a href=\"{0}/trace.html\">{0}</a>: {1}, {2}, row {3}{4} "
                               "(<a href=\"{0}/trace.txt\">as text</a>)",
                               escaped(name), label_markup(facts.text), head_name(facts), facts.row, run));
}

void expect_ours(fs::path const& index) {
    constexpr std::size_t largest = 1U << 20U;
    if (fs::exists(index) && read_text(index, largest).find("content=\"onehead ") == std::string::npos)
        throw Error(fmt::format("{}: is not a list of traces, so it is not replaced; choose another --out",
                                index.string()));
}

}  // namespace

void write_index(fs::path const& folder) {
    fs::path const index = folder / "index.html";
    expect_ours(index);
    std::string list;
    for (fs::path const& trace : folders_with_pages(folder)) list += line(folder, trace);
    write_file_in_place(
        index, html_page("One attention head: the lessons",
                         element("h1", "One attention head: the lessons' traces") + element("ol", list)));
}

}  // namespace onehead
