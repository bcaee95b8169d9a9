// What all lessons share. A lesson is one small program for one step of a head: it computes its step visibly,
// tells about it, shows it, asks, and answers. What it says goes into one Document, which is printed on the
// terminal and kept in the lesson's folder (lesson.txt, lesson.html), beside the CSVs of its steps and its
// pictures.
//
// clang-format off
//     void lesson(Lesson& l) {
//         Matrix const scores = dot_rows(l.trace()[terms::q], l.trace()[terms::k]);  // the step, computed here
//         l.keep({terms::q, terms::k, terms::scores});                   // their CSVs go into the lesson's folder
//         l.tell(say("Row {} asks.", l.token(l.row())));                 // a paragraph; see pages/document.hpp
//         l.show(score_table(l.trace(), l.row(), steps));                // any block: a table, a formula, code
//         l.show_and_keep("pattern", pattern_picture(l.trace()));        // a picture, also kept as pattern.svg
//         l.ask("Does row 1 give row 4 the same score?");                // questions are numbered
//         l.answer(say("{} Here: {} and {}.", a == b ? "Yes." : "No.", score(a), score(b)));
//         l.answer_with(table);                                          // more of the answer, as blocks
//         l.check_worked(terms::scores, 1, 4);                           // a command, and what it shows
//         l.answer_worked(terms::scores, l.row(), 1);                    // how one number comes about, and its check
//     }
// clang-format on
//
// No sentence states a number or a comparison that this run did not compute. In a handout (--no-answers) a
// question is printed with room for an answer and without answers and checks, so it has to make sense alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options.hpp"
#include "onehead/io/folder.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/document.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// The commands with which a reader checks what a lesson says: with the lesson's own options filled in, ready
// to be pasted into a shell.
class Commands {
public:
    // `lesson` is the program as it was called, from which `onehead` is found.
    Commands(std::string_view lesson, RunOptions const& run);

    std::string onehead(std::string_view arguments) const;      // without options of a run
    std::string on_this_run(std::string_view arguments) const;  // with the model, text, head and row
    std::string at_row(std::string_view arguments, std::size_t row) const;  // also if no row was given
    std::string on_tokens(std::string_view arguments,
                          std::vector<int> const& ids) const;  // another text, all heads
    std::string on_these_tokens(std::string_view arguments,
                                std::vector<int> const& ids) const;  // another text, this head and row
    std::string on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const;

private:
    std::string program_, model_, text_, head_, row_;
};

// A word of a command, in quotes if a shell would take it for something else.
std::string shell_word(std::string_view text);

// With answers; with room for them, for a class; only the answers, for its teacher.
enum class Answers { given, left_out, alone };

class Lesson;

// What the contents page says of a lesson, and the lesson.
struct Subject {
    std::string_view name;      // of its folder: "2_scores"
    std::string_view title;     // "2: score the query against every key"
    std::string_view question;  // what it answers
    void (*teach)(Lesson&);
};

class Lesson {
public:
    Lesson(Subject const& subject, Model const& model, Run run, Commands commands,
           std::filesystem::path const& out, Answers answers);

    Model const& model() const { return model_; }
    Run const& run() const { return run_; }
    Trace const& trace() const { return trace_; }  // the head as GPT-2 computes it
    std::size_t row() const { return trace_.facts.row; }
    Label token(std::size_t pos) const { return onehead::token(trace_, pos); }  // 4 ' the'
    Commands const& commands() const { return commands_; }
    std::string folder() const {
        return shell_word(folder_.string());
    }  // of this lesson, as a word of a command

    // What it says.
    void tell(Inline text) { add({Paragraph{std::move(text), false}}); }
    void part(Inline title) { add({Heading{2, std::move(title), ""}}); }
    template <typename B>
    void show(B block) {
        add(block_of(std::move(block)));
    }
    void show_and_keep(std::string const& name, Picture picture);  // and name.svg
    // Something to play with, on the page for a browser (see pages/panels.js), and the step that it begins
    // with.
    void play(std::string_view panel, Term const& step = terms::scores);

    // Numbers that the next question needs and its answer shows: only a handout prints them before it.
    template <typename B>
    void give(B block) {
        if (answers_ == Answers::left_out) add(block_of(std::move(block)));
    }

    // A question, for the reader to think about; `room` is how many lines a handout leaves for its answer.
    void ask(Inline question, std::size_t room = 2);
    void answer(Inline text) { answer_with(Paragraph{std::move(text), false}); }
    template <typename B>
    void answer_with(B block) {
        add_to_answer(block_of(std::move(block)));
    }
    void answer_with_all(Contents blocks);

    // A command that shows whether the answer is right, and what is to be seen in what it prints.
    void check_with(std::string command, Inline shows = {});

    // The same for one number of this trace, which `onehead worked` works out; it shows at least that number.
    void check_worked(Term const& term, std::size_t row, std::size_t column, Inline const& more = {});

    // A command that makes the trace of an experiment on this run, and the folder it goes to, as a word of a
    // command.
    std::string make_experiment(std::string_view experiment) const;
    std::string folder_of(std::string_view experiment) const;

    // The same for an answer about an experiment: makes its trace, and compares it with this one.
    void check_with_experiment(std::string_view experiment, Inline shows = {});

    // How one number of this trace comes about, term by term.
    void answer_worked(Term const& term, std::size_t row, std::size_t column);

    // What it keeps in its folder: the CSVs of steps; a file of its own; a whole trace with its pages, in a
    // folder below or, without a name, in the lesson's own.
    void keep(std::vector<Term> const& steps);
    void keep_file(std::string name, std::string bytes);
    void keep_page(std::string name, std::string says, Document const& page);
    void keep_trace(Trace const& trace, std::string const& below = "");

    // Afterwards: the document, whole; and everything on disk.
    Document document(bool names_files = true) const;
    void write(Document const& page) const;

private:
    static Block block_of(Block block) { return block; }
    template <typename B>
    static Block block_of(B content) {
        return {std::move(content)};
    }
    void add(Block block);
    void add_to_answer(Block block);

    Subject subject_;
    Model const& model_;
    Run run_;
    Trace trace_;
    Commands commands_;
    std::filesystem::path folder_;
    Answers answers_;
    Contents blocks_;
    std::optional<Term> played_;  // the step that panels begin with, if there are panels
    int questions_ = 0;
    std::vector<std::pair<int, std::string>> checks_;  // of a handout: the question's number, and the command
    std::vector<OutputFile> files_;
    std::vector<Term> kept_;
    std::vector<std::pair<std::string, std::string>> pages_;  // for "in this folder": a name and what it is
};

// The main of every lesson: reads the options, runs the head, lets the lesson speak, prints and keeps what it
// says, and turns errors into one line and an exit code. 0 done; 1 bad data or a failed write; 2 wrong use.
int teach(int argc, char** argv, Subject const& subject);

}  // namespace onehead
