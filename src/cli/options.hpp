// The command line, for the command and for every lesson: options of a type each, the options that say what a
// run is of, and how a program begins and ends. What a library error calls a field of the request becomes the
// option here; no other file knows that.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/model/run.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/trace/terms.hpp"

namespace onehead {

using Arguments = std::vector<std::string>;

// The words of a command line, each read as the type of its target: a std::string as it is, a std::size_t as
// a whole number from 0, a double as a number from 0, a Term by its name, formats by theirs, and the types
// below. If the option is not given, a std::optional stays empty and any other target as it was.
class Options {
public:
    // usage: after "usage: ", such as "onehead trace [options]". about: what follows the options on the page
    // of
    // --help, which every program has.
    Options(std::string usage, std::string about);
    ~Options();
    Options(Options const&) = delete;
    Options(Options&&) = delete;
    Options& operator=(Options const&) = delete;
    Options& operator=(Options&&) = delete;

    // --name VALUE
    template <typename Target>
    void add(std::string const& name, std::string const& value, Target& target, std::string const& help);

    // --name
    void add_flag(std::string const& name, bool& target, std::string const& help);

    // A word by itself, in the order in which they are added.
    template <typename Target>
    void add_word(std::string const& name, Target& target, std::string const& help);

    // All words that follow.
    void add_words(std::string const& names, std::vector<std::string>& target, std::string const& help);

    // Reads the command line into the targets. Prints the page of --help instead and returns false if that is
    // asked for. Throws a UsageError that says which word is wrong: an option that there is not, one given
    // twice or without a value, an empty value, a value of another type, a word that is missing or one too
    // many.
    bool read(Arguments const& arguments);

private:
    struct Described;
    std::unique_ptr<Described> described_;
};

struct TokenIds {
    std::vector<int> ids;  // of "464,3797" or "[464, 3797]"
};

// "1=dog"
struct ChangedWord {
    std::size_t pos = 0;
    std::string word;
};

// Columns first to last - 1: "0:64"
struct Columns {
    std::size_t first = 0;
    std::size_t last = 0;
};

// A step, or a whole number, that is given as a word of a list. Throw a UsageError that begins with `where`.
Term read_step(std::string const& where, std::string const& word);
std::size_t read_count(std::string const& where, std::string const& word);

// What a run is of.
struct RunOptions {
    std::optional<std::string> text;
    std::optional<std::string> text_file;
    std::optional<TokenIds> tokens;
    std::optional<std::string> model;
    std::optional<std::size_t> threads;
    std::optional<std::size_t> layer;
    std::optional<std::size_t> head;
    std::optional<std::size_t> row;
    std::optional<std::string> experiment;
};

void add_text_options(Options& options,
                      RunOptions& run);                   // --text, --text-file, --tokens, --model, --threads
void add_run_options(Options& options, RunOptions& run);  // these and --layer, --head, --row
void add_experiment_option(Options& options, RunOptions& run);

// Opens the model that is asked for, or the default one, and sets the number of threads.
std::unique_ptr<Model> open_model(RunOptions const& run);

// Throws a UsageError for two texts at once. Notes on standard error what often surprises about a text.
Request make_request(RunOptions const& run, Model const& model);

// The main of every program: calls `body`, and turns what goes wrong into one line on standard error and an
// exit code: 0 or what `body` returns; 2 for wrong use; `trouble` for the rest, which `body` may set. A
// standard error that is closed or full changes no exit code.
int run_program(std::string_view name, std::function<int(int& trouble)> const& body);

// One line on standard error about something that is not wrong.
void note(std::string const& text);

// The columns of the terminal; nothing if standard output is none: then output is plain text.
std::optional<std::size_t> terminal_width();

// Whether the terminal has colours and its user wants them (https://no-color.org).
bool wants_colour();

}  // namespace onehead
