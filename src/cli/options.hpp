// The options that say what a run is of, declared once for every command and every lesson.
#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/model/run.hpp"

namespace onehead {

using Options = boost::program_options::options_description;
using Given = boost::program_options::variables_map;
using Arguments = std::vector<std::string>;

void add_text_options(Options& options);  // --text, --text-file, --tokens, --model, --threads
void add_run_options(Options& options);   // these and --layer, --head, --row
void add_experiment_option(Options& options);

// What a command line gives. Words without an option go to `positional`, one each. Throws a UsageError for an
// option that is not described, one given twice, a missing value, or a word too many.
Given parse(Arguments const& arguments, Options const& options,
            std::vector<std::string> const& positional = {});

// The value of an option, or "" if it was not given.
std::string value(Given const& given, std::string const& option);

// Opens the model that is asked for, or the default one, and sets the number of threads.
std::unique_ptr<Model> open_model(Given const& given);

// Throws a UsageError for a number that is none, and for two texts at once.
Request make_request(Given const& given, Model const& model);

// A whole number from 0. Throws a UsageError that names the option.
std::size_t parse_count(std::string_view option, std::string_view text);

// A number from 0, such as a tolerance.
double parse_number(std::string_view option, std::string const& text);

// A step by its name. Throws a UsageError that lists the steps.
Term const& parse_step(std::string_view option, std::string const& name);

// What the command and every lesson do before anything else.

void start_program();

// What standard output is: a person's terminal, or a pipe or file, where output is plain text.

// The columns of the terminal; nothing if standard output is none.
std::optional<std::size_t> terminal_width();

// Whether the terminal has colours and its user wants them (https://no-color.org).
bool wants_colour();

}  // namespace onehead
