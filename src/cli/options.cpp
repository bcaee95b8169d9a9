#include "cli/options.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/system.hpp"
#include "onehead/io/text.hpp"
#include "onehead/math/large_pages.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr std::size_t longest_text = std::size_t{16} << 20;  // bytes, far beyond any model's n_ctx

std::vector<int> parse_tokens(std::string const& list) {
    std::vector<int> ids;
    std::istringstream words{list};
    for (std::string word; std::getline(words, word, ',');) {
        std::size_t const id = parse_count("--tokens", word);
        if (id > 1'000'000'000)
            throw UsageError(fmt::format("--tokens: {} is no token id; no vocabulary is that large", id));
        ids.push_back(static_cast<int>(id));
    }
    return ids;
}

void expect_one_text(Given const& given) {
    if (given.count("text") + given.count("text-file") + given.count("tokens") > 1)
        throw UsageError(
            "--text, --text-file, --tokens: expected one of the three, found several; leave the others out");
}

// On a terminal, for whoever waits longer than a second.
class Progress {
public:
    explicit Progress(std::size_t n_layer) : n_layer_(n_layer) {}

    void operator()(std::size_t layer) const {
        if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds{1}) return;
        fmt::print(stderr, "\rlayer {} of {}\x1b[K\r", layer, n_layer_);
    }

private:
    std::size_t n_layer_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void add_text_options(Options& options) {
    auto add = options.add_options();
    add("text", po::value<std::string>()->value_name("T"),
        "the text (default: \"The cat sat on the mat\", or an excerpt's own)");
    add("text-file", po::value<std::string>()->value_name("F"),
        "a file with the text, taken byte by byte, the final newline too");
    add("tokens", po::value<std::string>()->value_name("464,3797"), "the text as token ids");
    add("model", po::value<std::string>()->value_name("M"),
        "a checkpoint folder or an excerpt file (default: $ONEHEAD_MODEL, else data/gpt2, else "
        "data/gpt2-mini)");
    add("threads", po::value<std::string>()->value_name("N"),
        "how many threads compute; changes no bit (default: as many as the machine has processors)");
}

void add_run_options(Options& options) {
    add_text_options(options);
    auto add = options.add_options();
    add("layer", po::value<std::string>()->value_name("L"),
        "the block, from 0 (default: 0, or the one that an excerpt holds)");
    add("head", po::value<std::string>()->value_name("H"), "the head, from 0 (default: 0)");
    add("row", po::value<std::string>()->value_name("R"),
        "the row whose view the pages take, from 0 (default: the last but one)");
}

void add_experiment_option(Options& options) {
    options.add_options()("experiment", po::value<std::string>()->value_name("E"),
                          "change the head in one way; `onehead experiments` lists them");
}

std::string value(Given const& given, std::string const& option) {
    return given.count(option) != 0 ? given[option].as<std::string>() : "";
}

std::unique_ptr<Model> open_model(Given const& given) {
    if (given.count("threads") != 0) set_thread_count(parse_count("--threads", value(given, "threads")));
    std::string const name = value(given, "model");
    return open_model(name.empty() ? default_model() : std::filesystem::path{name});
}

Request make_request(Given const& given, Model const& model) {
    expect_one_text(given);
    Request request;
    request.layer = model.layers().front();
    if (given.count("text") != 0) request.text = value(given, "text");
    if (given.count("text-file") != 0) request.text = read_text(value(given, "text-file"), longest_text);
    if (given.count("tokens") != 0) request.token_ids = parse_tokens(value(given, "tokens"));
    if (given.count("layer") != 0) request.layer = parse_count("--layer", value(given, "layer"));
    if (given.count("head") != 0) request.head = parse_count("--head", value(given, "head"));
    if (given.count("row") != 0) request.row = parse_count("--row", value(given, "row"));
    request.experiment = value(given, "experiment");
    if (isatty(STDERR_FILENO) != 0) request.progress = Progress{model.config().n_layer};
    return request;
}

// The words of a command line: options and their values, by the names that are described, and what is wrong
// with them.

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
    if (auto const number = read_double(text); number && *number >= 0) return *number;
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

void start_program() {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond a limit is an error like a full disk
    use_large_pages();
}

namespace {

std::string_view environment(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::size_t> terminal_width() {
    constexpr std::size_t usual = 80;
    if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;  // NOLINT(*-vararg)
    return size.ws_col;
}

bool wants_colour() {
    return environment("NO_COLOR").empty() && !environment("TERM").empty() && environment("TERM") != "dumb";
}

}  // namespace onehead
