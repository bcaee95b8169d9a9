// The words of a command line: options and their values, by the names that are described, and what is wrong
// with them.
#include <fmt/format.h>
#include <algorithm>
#include <charconv>

#include "cli/run_options.hpp"
#include "error.hpp"
#include "trace/printable.hpp"

namespace onehead {
namespace {

namespace po = boost::program_options;

// What a message repeats of a word that may be endless.
std::string beginning(std::string_view word) {
    return std::string{word.substr(0, 200)};
}

// Boost puts words of the command line into its messages, and never comes to an end with a word that holds
// one of its own placeholders, such as %original_token%.
std::string complaint(po::error const& error, Arguments const& arguments) {
    auto const odd = std::find_if(arguments.begin(), arguments.end(), [](std::string const& word) {
        return word.starts_with('-') && word.find('%') != std::string::npos;
    });
    return odd == arguments.end() ? printable(beginning(error.what()))
                                  : "there is no option " + label(beginning(*odd));
}

}  // namespace

Given parse(Arguments const& arguments, Options const& options, std::vector<std::string> const& positional) {
    po::positional_options_description places;
    for (std::string const& name : positional) places.add(name.c_str(), 1);
    int const style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    Given given;
    try {
        po::store(po::command_line_parser(arguments).options(options).positional(places).style(style).run(),
                  given);
    } catch (po::error const& error) {
        throw UsageError(complaint(error, arguments) + "; --help lists the options");
    }
    return given;
}

std::size_t parse_count(std::string_view option, std::string_view text) {
    std::size_t count = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc{} && end == text.data() + text.size()) return count;
    throw UsageError(
        fmt::format("{} {}: expected a whole number from 0, such as 3", option, label(beginning(text))));
}

double parse_number(std::string_view option, std::string const& text) {
    double number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number >= 0) return number;
    throw UsageError(
        fmt::format("{} {}: expected a number from 0, such as 1e-6", option, label(beginning(text))));
}

Term const& parse_step(std::string_view option, std::string const& name) {
    if (auto const* term = find_term(name)) return *term;
    std::string names;
    for (Term const& term : terms::all) names += fmt::format("{}{}", names.empty() ? "" : ", ", term.name);
    throw UsageError(
        fmt::format("{}: {} is no step; choose one of {}", option, label(beginning(name)), names));
}

}  // namespace onehead
