// onehead causality: changes a word or appends some, runs both texts, and holds every cell of every step
// against what the change may reach. 0: nothing moved that must not; 1: something did; 2: trouble.

#include <fmt/format.h>
#include <cctype>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/causality.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead causality --change 1=dog                an early word: later rows move
  onehead causality --change 5=rug                the last word: only its own row moves
  onehead causality --append "and slept" --layer 3 --head 2
)";

std::string join(Tokens const& tokens) {
    std::string text;
    for (Token const& token : tokens) text += token.bytes;
    return text;
}

// change is "POS=WORD": the token at POS becomes WORD, with a space in front if the token has one.
std::string with_changed_word(Tokens const& tokens, std::string const& change) {
    std::size_t const equals = change.find('=');
    if (equals == std::string::npos || equals + 1 == change.size())
        throw UsageError(fmt::format("--change {}: expected POS=WORD, such as 1=dog", label(change)));
    std::size_t const pos = parse_count("--change", change.substr(0, equals));
    if (pos >= tokens.size())
        throw UsageError(fmt::format("--change {}: there is no such position; choose one from 0 to {}", pos,
                                     tokens.size() - 1));
    std::string word = change.substr(equals + 1);
    if (tokens[pos].bytes.starts_with(' ') && !word.starts_with(' ')) word.insert(0, " ");
    Tokens changed = tokens;
    changed[pos].bytes = word;
    return join(changed);
}

// The words follow after a space, unless they bring one or begin with punctuation.
std::string with_appended_words(Tokens const& tokens, std::string const& words) {
    if (words.empty()) throw UsageError("--append: expected words, found none; say what is to follow");
    bool const is_word = std::isalnum(static_cast<unsigned char>(words.front())) != 0 ||
                         static_cast<unsigned char>(words.front()) >= 0x80;
    return join(tokens) + (is_word ? " " : "") + words;
}

std::string changed_text(Given const& given, Tokens const& tokens) {
    if (given.count("change") + given.count("append") != 1)
        throw UsageError(
            "causality: expected one of --change POS=WORD and --append WORDS; see onehead causality --help");
    return given.count("change") != 0 ? with_changed_word(tokens, value(given, "change"))
                                      : with_appended_words(tokens, value(given, "append"));
}

std::string verdict(Causality const& causality) {
    if (causality.change.first() == causality.change.at.size())
        return "The change leaves every token as it is, and every value too.";
    if (!causality.holds())
        return "BROKEN: values moved that the change must not reach; they are marked with ! above.";
    std::size_t const first = causality.change.first();
    return first == 0 ? "As it should be. The first row changed, so that every row may move."
                      : fmt::format("As it should be. Every value that reads {} only kept its bits.",
                                    first == 1 ? "row 0" : fmt::format("rows 0 to {}", first - 1));
}

}  // namespace

int run_causality(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("change", po::value<std::string>()->value_name("POS=WORD"),
        "put another word at a position; it keeps the space before it");
    add("append", po::value<std::string>()->value_name("WORDS"), "let words follow");
    add_run_options(options);
    add_experiment_option(options);
    add("html", po::value<std::string>()->value_name("F"), "write a page to this file too");
    add("help", "this");
    if (shows_help(arguments, "causality --change POS=WORD [options]", options, examples)) return 0;
    Given const given = parse(arguments, options);

    auto const model = open_model(given);
    Request const request = make_request(given, *model);
    Trace const before = trace(*model, request);
    Request changed = request;
    changed.token_ids.reset();
    changed.text = changed_text(given, before.tokens);
    Trace const after = trace(*model, changed);
    Causality const causality = check_causality(before, after);
    std::string const says = verdict(causality);
    fmt::print("before  {}\nafter   {}\n{} of {}\n\n{}\n{}\n{}", label(before.facts.text),
               label(after.facts.text), head_name(after.facts), after.facts.model,
               causality_grid(causality, after.tokens).text(), paragraph(causality_legend), paragraph(says));
    if (given.count("html") != 0)
        write_file_in_place(value(given, "html"), causality_html(before, after, causality, says));
    return causality.holds() ? 0 : 1;
}

}  // namespace onehead
