#include "lesson.hpp"

#include <fmt/format.h>
#include <exception>
#include <iostream>
#include <utility>

#include "cli/run_options.hpp"
#include "cli/start.hpp"
#include "error.hpp"
#include "index.hpp"
#include "study/worked.hpp"
#include "trace/printable.hpp"
#include "write/formats.hpp"
#include "write/prose.hpp"
#include "write/text.hpp"
#include "write/working.hpp"

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

}  // namespace onehead
