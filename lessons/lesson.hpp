// The commands with which a reader checks what a lesson says: with the lesson's own options filled in, ready
// to be pasted into a shell.
#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "onehead/model/run.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

class Commands {
public:
    // `lesson` is the program as it was called, from which `onehead` is found.
    Commands(std::string_view lesson, Given const& given);

    std::string onehead(std::string_view arguments) const;       // without options of a run
    std::string on_this_run(std::string_view arguments) const;   // with the model, text, head and row
    std::string on_this_text(std::string_view arguments) const;  // with the model and the text, for all heads
    std::string on_tokens(std::string_view arguments,
                          std::vector<int> const& ids) const;  // another text, all heads
    std::string on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const;

private:
    std::string program_, model_, text_, head_, row_;
};

// A word of a command, in quotes if a shell would take it for something else.
std::string shell_word(std::string_view text);

// index.html in the folder of the lessons' traces: a list of the pages that are there.

// Throws an Error if a file of that name is there that is not such a list.
void write_index(std::filesystem::path const& folder);

// What all lessons share: the options of a run, one trace (or more) on disk, a way to tell things on the
// terminal, and what happens when something goes wrong. A lesson itself says what it shows, what it asks, and
// what it answers.

class Lesson {
public:
    Lesson(std::string name, std::string title, Model const& model, Run run, Commands commands,
           std::string out, bool with_answers);

    Model const& model() const { return model_; }
    Run const& run() const { return run_; }
    Trace const& trace() const { return trace_; }  // the head as GPT-2 computes it
    std::size_t row() const { return trace_.facts.row; }
    Commands const& commands() const { return commands_; }
    std::string folder() const { return shell_word(out_); }  // of its trace, as a word of a command

    // Writes a trace into this lesson's folder, or a folder below it.
    void write(Trace const& trace, std::string const& below = "") const;

    // On the terminal: a heading and the run; a paragraph; a block that is laid out already.
    void open() const;
    void tell(std::string_view text) const;
    void show(std::string_view block) const;

    // A question, for the reader to think about, and its answer. A handout for a class has room for an answer
    // instead.
    void ask(std::string_view question);
    void answer(std::string_view text) const;
    void answer_with(std::string_view block) const;

    // A command that shows whether the answer is right; in a handout it waits for the end.
    void check_with(std::string const& command);

    // The same for an answer about an experiment: makes its trace, and holds it against this one.
    void compare_with_experiment(std::string_view experiment);

    // How one number of this trace comes about, term by term.
    void answer_worked(Term const& term, std::size_t row, std::size_t column);

    // Where to read on.
    void close(std::vector<Term> const& steps) const;

private:
    std::string name_, title_;
    Model const& model_;
    Run run_;
    Trace trace_;
    Commands commands_;
    std::string out_;
    bool with_answers_;
    std::ostream& page_ = std::cout;
    int questions_ = 0;
    std::string checks_;  // of a handout
};

// The main of every lesson: reads the options, runs the head, writes its trace, lets the lesson speak, and
// turns errors into one line and an exit code. 0 done; 1 bad data or a failed write; 2 wrong use.
int teach(int argc, char** argv, std::string_view name, std::string_view title, void (*lesson)(Lesson&));

}  // namespace onehead
