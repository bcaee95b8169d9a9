#include "cli/options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/system.hpp"
#include "onehead/io/text.hpp"
#include "onehead/math/large_pages.hpp"
#include "onehead/math/parallel.hpp"

namespace onehead {

// What a run is of.

void add_text_options(Options& options, RunOptions& run) {
    options.add("text", "T", run.text, "the text (default: \"The cat sat on the mat\", or an excerpt's own)");
    options.add(
        "text-file", "F", run.text_file,
        "a file with the text, or - for standard input; one newline at its end is not part of the text");
    options.add("tokens", "464,3797", run.tokens, "the text as token ids");
    options.add("model", "M", run.model,
                "a checkpoint folder, an excerpt file, or a folder in data (default: $ONEHEAD_MODEL, else "
                "gpt2-mini)");
    options.add("threads", "N", run.threads,
                "how many threads to use; the numbers stay bit-identical (default: one per processor)");
}

void add_run_options(Options& options, RunOptions& run) {
    add_text_options(options, run);
    options.add("layer", "L", run.layer, "the layer, from 0 (default: 0, or the one that an excerpt holds)");
    options.add("head", "H", run.head, "the head, from 0 (default: 0)");
    options.add("row", "R", run.row, "the row that the pages follow, from 0 (default: the last but one)");
}

void add_experiment_option(Options& options, RunOptions& run) {
    options.add("experiment", "E", run.experiment,
                "change the head in one way; `onehead experiments` lists them");
}

namespace {

// No output goes over a file of the model, also one that this run does not need to read.
void protect_model(std::filesystem::path const& model) {
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator{model, error}; !error && entry != end(entry);
         entry.increment(error)) {
        auto const kind = entry->path().extension();
        if (kind == ".json" || kind == ".txt" || kind == ".safetensors" || kind == ".bin")
            protect_input(entry->path());
    }
}

// On a terminal, for whoever waits longer than a second.
class Progress {
public:
    explicit Progress(std::size_t n_layer) : n_layer_(n_layer) {}

    void operator()(std::size_t layer) const {
        if (std::chrono::steady_clock::now() - start_ < std::chrono::seconds{1}) return;
        std::fputs(fmt::format("\rlayer {} of {}\x1b[K\r", layer, n_layer_).c_str(), stderr);
    }

private:
    std::size_t n_layer_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string read_text_of(std::string const& file) {
    constexpr std::size_t longest_text = std::size_t{16} << 20;  // bytes, far beyond any model's n_ctx
    std::string text = text_of_file(read_stream(file, longest_text));
    if (text.empty())
        throw UsageError(
            "text-file",
            {.where = file, .expected = "a text of at least one character", .found = "an empty file"});
    return text;
}

// What somebody may not expect of the request's tokens. Not in the page: that stays as it is.
void print_notes(Model const& model, Request const& request) {
    constexpr std::size_t most_ids = 1000;
    for (auto const& [says, ids] : notes_on(model, request)) {
        bool const offers = !ids.empty() && ids.size() <= most_ids;
        note(offers ? fmt::format("{}: --tokens {}", says, fmt::join(ids, ",")) : says);
    }
}

}  // namespace

std::unique_ptr<Model> open_model(RunOptions const& run) {
    if (run.threads) set_thread_count(*run.threads);
    if (!run.model) return open_default_model();
    protect_model(*run.model);
    return open_model(std::filesystem::path{*run.model});
}

Request make_request(RunOptions const& run, Model const& model) {
    if (std::array const given{run.text.has_value(), run.text_file.has_value(), run.tokens.has_value()};
        std::ranges::count(given, true) > 1)
        throw UsageError({.where = "--text, --text-file, --tokens",
                          .expected = "one of the three",
                          .found = "several",
                          .advice = "leave the others out"});
    Request request;
    request.layer = run.layer.value_or(model.layers().front());
    request.text = run.text_file ? read_text_of(*run.text_file) : run.text;
    if (run.tokens) request.token_ids = run.tokens->ids;
    request.head = run.head.value_or(0);
    request.row = run.row;
    request.experiment = run.experiment.value_or("");
    print_notes(model, request);
    if (isatty(STDERR_FILENO) != 0) request.progress = Progress{model.config().n_layer};
    return request;
}

// How a word is read as a value.

namespace {

namespace po = boost::program_options;

// A word as a message repeats it: it may be endless.
std::string found(std::string_view word) {
    return label(word.substr(0, 200));
}

// A word is not what was expected. Boost adds to it which option the word is of.
struct NotExpected : po::error_with_option_name {
    NotExpected(std::string what, std::string_view instead)
        : po::error_with_option_name(""), expected(std::move(what)), word(instead) {}

    std::string expected;
    std::string word;
};

[[noreturn]] void refuse(std::string const& where, NotExpected const& error) {
    throw UsageError({.where = where, .expected = error.expected, .found = found(error.word)});
}

template <typename Number>
std::optional<Number> whole_number(std::string_view word) {
    Number value{};
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return {};
    return value;
}

void read_value(std::string const& word, std::string& value) {
    value = word;
}

void read_value(std::string const& word, std::size_t& value) {
    auto const given = whole_number<std::size_t>(word);
    if (!given) throw NotExpected("a whole number from 0, such as 3", word);
    value = *given;
}

void read_value(std::string const& word, double& value) {
    auto const given = read_double(word);
    if (!given || !(*given >= 0)) throw NotExpected("a number from 0, such as 1e-6", word);
    value = *given;
}

void read_value(std::string const& word, Term& value) {
    auto const* const term = find_term(word);
    if (term == nullptr) {
        std::string names;
        for (Term const& one : terms::all) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
        throw NotExpected("a step, one of " + names, word);
    }
    value = *term;
}

void read_value(std::string const& word, std::vector<Format>& value) {
    value = find_formats(word);
}

// Numbers with commas between them, in brackets or not, as people and Python write them.
void read_value(std::string const& word, TokenIds& value) {
    std::string_view list = word;
    if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
    value.ids.clear();
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
        comma = list.find(',');
        std::string_view id = list.substr(0, comma);
        while (id.starts_with(' ')) id.remove_prefix(1);
        while (id.ends_with(' ')) id.remove_suffix(1);
        auto const given = whole_number<int>(id);
        if (!given || *given < 0)
            throw NotExpected("token ids with commas between them, such as 464,3797", word);
        value.ids.push_back(*given);
        if (comma != std::string_view::npos) list.remove_prefix(comma + 1);
    }
}

void read_value(std::string const& word, ChangedWord& value) {
    std::size_t const equals = word.find('=');
    auto const pos = whole_number<std::size_t>(std::string_view{word}.substr(0, equals));
    if (equals == std::string::npos || equals + 1 == word.size() || !pos)
        throw NotExpected("POS=WORD, such as 1=dog", word);
    value = {*pos, word.substr(equals + 1)};
}

void read_value(std::string const& word, Columns& value) {
    std::string_view const range = word;
    std::size_t const colon = std::min(range.find(':'), range.size() - 1);
    auto const first = whole_number<std::size_t>(range.substr(0, colon));
    auto const last = whole_number<std::size_t>(range.substr(colon + 1));
    if (!first || !last || *first >= *last)
        throw NotExpected("columns A:B with A below B, such as 0:64", word);
    value = {*first, *last};
}

[[noreturn]] void refuse_empty(std::string const& where) {
    throw UsageError({.where = where,
                      .expected = "a value",
                      .found = "an empty one",
                      .advice = "give one, or leave the option out (is a shell variable unset?)"});
}

// `where` is what a message begins with, such as "ROW".
template <typename T>
T read_as(std::string const& where, std::string const& word) {
    if (word.empty()) refuse_empty(where);
    try {
        T value{};
        read_value(word, value);
        return value;
    } catch (NotExpected const& error) {
        refuse(where, error);
    }
}

}  // namespace

std::size_t read_count(std::string const& where, std::string const& word) {
    return read_as<std::size_t>(where, word);
}

Term read_step(std::string const& where, std::string const& word) {
    return read_as<Term>(where, word);
}

// Options are Boost's; the words by themselves are ours, because Boost does not say which one is too many.

namespace {

// A value of the command line, of any type for which there is a read_value.
template <typename T>
struct Typed {
    T value{};
};

// Boost finds it by the type of its values.
template <typename T>
void validate(boost::any& store, std::vector<std::string> const& words, Typed<T>* /*type*/, int /*rank*/) {
    po::validators::check_first_occurrence(store);
    Typed<T> typed;
    if (words.front().empty()) throw NotExpected("", "");
    read_value(words.front(), typed.value);
    store = typed;
}

template <typename T>
struct ValueOf {
    using type = T;
};
template <typename T>
struct ValueOf<std::optional<T>> {
    using type = T;
};

struct Word {
    std::string name;
    std::string help;
    std::function<void(std::string const&)> read;
    bool optional = false;
    bool repeats = false;
};

template <typename T>
constexpr bool is_optional = !std::is_same_v<T, typename ValueOf<T>::type>;

}  // namespace

struct Options::Described {
    std::string usage;
    std::string about;
    po::options_description options;
    std::vector<Word> words;

    void print() const;
    void read_words(std::vector<std::string> const& given) const;
};

Options::Options(std::string usage, std::string about)
    : described_(std::make_unique<Described>(Described{std::move(usage), std::move(about), {}, {}})) {}

Options::~Options() = default;

template <typename Target>
void Options::add(std::string const& name, std::string const& value, Target& target,
                  std::string const& help) {
    using T = typename ValueOf<Target>::type;
    auto const store = [&target](Typed<T> const& given) { target = given.value; };
    described_->options.add_options()(name.c_str(), po::value<Typed<T>>()->value_name(value)->notifier(store),
                                      help.c_str());
}

void Options::add_flag(std::string const& name, bool& target, std::string const& help) {
    described_->options.add_options()(name.c_str(), po::bool_switch(&target), help.c_str());
}

template <typename Target>
void Options::add_word(std::string const& name, Target& target, std::string const& help) {
    described_->words.push_back({name, help,
                                 [name, &target](std::string const& word) {
                                     target = read_as<typename ValueOf<Target>::type>(name, word);
                                 },
                                 is_optional<Target>});
}

void Options::add_words(std::string const& names, std::vector<std::string>& target, std::string const& help) {
    described_->words.push_back(
        {names, help,
         [names, &target](std::string const& word) { target.push_back(read_as<std::string>(names, word)); },
         false, true});
}

template void Options::add(std::string const&, std::string const&, std::string&, std::string const&);
template void Options::add(std::string const&, std::string const&, std::size_t&, std::string const&);
template void Options::add(std::string const&, std::string const&, double&, std::string const&);
template void Options::add(std::string const&, std::string const&, Term&, std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<std::string>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<std::size_t>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<double>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<Term>&, std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<std::vector<Format>>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<TokenIds>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<ChangedWord>&,
                           std::string const&);
template void Options::add(std::string const&, std::string const&, std::optional<Columns>&,
                           std::string const&);
template void Options::add_word(std::string const&, std::string&, std::string const&);
template void Options::add_word(std::string const&, std::optional<std::string>&, std::string const&);
template void Options::add_word(std::string const&, std::size_t&, std::string const&);
template void Options::add_word(std::string const&, Term&, std::string const&);

namespace {

std::vector<std::string> given_options;  // for messages

}  // namespace

bool Options::read(Arguments const& arguments) {
    auto const end = std::find(arguments.begin(), arguments.end(), "--");
    bool const wants_help = std::any_of(arguments.begin(), end,
                                        [](auto const& word) { return word == "--help" || word == "-h"; });
    described_->options.add_options()("help,h", "print this help");
    if (wants_help) {
        described_->print();
        return false;
    }
    po::variables_map given;
    std::vector<std::string> words;
    try {
        int const style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
        auto const parsed =
            po::command_line_parser(arguments).options(described_->options).style(style).run();
        po::store(parsed, given);
        for (auto const& option : parsed.options) {
            if (option.position_key < 0)
                given_options.push_back(option.string_key);
            else
                words.insert(words.end(), option.value.begin(), option.value.end());
        }
        po::notify(given);
    } catch (NotExpected const& error) {
        if (error.word.empty()) refuse_empty(error.get_option_name());
        refuse(error.get_option_name(), error);
    } catch (po::unknown_option const& error) {
        throw UsageError({.where = found(error.get_option_name()),
                          .found = "there is no such option",
                          .advice = "--help lists them"});
    } catch (po::multiple_occurrences const& error) {
        throw UsageError({.where = error.get_option_name(), .expected = "it once", .found = "it again"});
    } catch (po::error_with_option_name const& error) {
        // Never error.what(): Boost puts words of the command line into it, and does not come to an end with
        // a word that holds one of its own placeholders.
        throw UsageError({.where = found(error.get_option_name()),
                          .expected = "the option as --help shows it",
                          .found = "it without its value, or with one that it does not take"});
    }
    described_->read_words(words);
    return true;
}

void Options::Described::print() const {
    std::cout << "usage: " << usage << "\n\n";
    for (Word const& word : words) std::cout << fmt::format("  {:<10} {}\n", word.name, word.help);
    if (!words.empty()) std::cout << "\n";
    std::cout << "options:\n" << options << about;
}

void Options::Described::read_words(std::vector<std::string> const& given) const {
    std::size_t at = 0;
    for (Word const& word : words) {
        if (at == given.size() && word.optional) return;
        if (at == given.size())
            throw UsageError({.expected = word.name + ", " + word.help,
                              .found = "the end of the line",
                              .advice = "usage: " + usage});
        do {
            word.read(given[at++]);
        } while (word.repeats && at < given.size());
    }
    if (at < given.size())
        throw UsageError({.where = found(given[at]),
                          .expected = "an option, or the end of the line",
                          .found = "a word by itself",
                          .advice = "put a text of several words in quotes, and options after two dashes"});
}

// How a program begins and ends.

namespace {

std::string program = "onehead";

// A file that is opened must not become standard output or standard error because that is closed. What takes
// its place cannot be written to, so that a page that goes nowhere is an error still.
void take_closed_descriptors() {
    for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(descriptor, F_GETFD) == -1)
            ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // NOLINT(*-vararg)
}

// Nothing is done about a standard error that does not take the line.
void say(std::string const& text) {
    std::fputs((program + ": " + printable(text) + "\n").c_str(), stderr);
}

// What was printed may still wait in the program's memory, and its disk may be full.
void finish_page() {
    std::cout.flush();
    bool const written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
    if (!written)
        throw Error({.found = "the page cannot be written: " + std::generic_category().message(errno)});
}

// A library error names a field of the request; here it is the option that people gave, of those that fill
// the field.
std::string as_option(UsageError const& error) {
    constexpr std::array<std::array<std::string_view, 2>, 6> fillers{{{"text", "text"},
                                                                      {"text", "text-file"},
                                                                      {"token_ids", "tokens"},
                                                                      {"position", "change"},
                                                                      {"word", "change"},
                                                                      {"word", "append"}}};
    std::string const message = error.what();
    if (error.field().empty()) return message;
    auto const* const given = std::ranges::find_if(fillers, [&](auto const& pair) {
        return pair[0] == error.field() && std::ranges::find(given_options, pair[1]) != given_options.end();
    });
    std::string_view const option = given == fillers.end() ? error.field() : (*given)[1];
    return fmt::format("--{}{}", option, message.substr(error.field().size()));
}

std::string about_system(std::system_error const& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
        return sentence({.found = "no further thread can be started: " + error.code().message(),
                         .advice = "take fewer, such as --threads 1"});
    if (std::ferror(stdout) != 0) return "the page cannot be written: " + error.code().message();
    return error.what();
}

}  // namespace

int run_program(std::string_view name, std::function<int(int& trouble)> const& body) {
    program = name;
    take_closed_descriptors();
    protect_inputs();
    remove_unfinished_on_signals();
    std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond a limit is an error like a full disk
    use_large_pages();
    int trouble = 1;
    try {
        int const exit_code = body(trouble);
        finish_page();
        return exit_code;
    } catch (UsageError const& error) {
        say(as_option(error));
        return 2;
    } catch (std::bad_alloc const&) {
        say("out of memory; a shorter text needs less");
    } catch (std::filesystem::filesystem_error const& error) {
        say(sentence({.where = error.path1().string(),
                      .found = "cannot be used: " + error.code().message(),
                      .advice = "choose another place"}));
    } catch (std::system_error const& error) {
        say(about_system(error));
    } catch (std::exception const& error) {
        say(error.what());
    }
    return trouble;
}

void note(std::string const& text) {
    say("note: " + text);
}

// What standard output is: a person's terminal, or a pipe or file.

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
