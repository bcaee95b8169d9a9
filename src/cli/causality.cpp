// onehead causality: changes a word or appends some, runs both texts, and holds every cell of every step
// against what the change may reach. 0: nothing moved that must not; 1: something did; 2: trouble.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/causality.hpp"

namespace onehead {

namespace {

constexpr auto causality_examples = R"(
examples:
  onehead causality --change 1=dog                an early word: later rows move
  onehead causality --change 5=rug                the last word: only its own row moves
  onehead causality --append "and slept" --layer 3 --head 2
)";

int run_causality(Arguments const& arguments) {
    RunOptions run;
    std::optional<ChangedWord> change;
    std::optional<std::string> append, html_file;
    Options options{"onehead causality --change POS=WORD [options]", causality_examples};
    options.add("change", "POS=WORD", change, "put another word at a position; it keeps the space before it");
    options.add("append", "WORDS", append, "append words to the text");
    add_run_options(options, run);
    add_experiment_option(options, run);
    options.add("html", "F", html_file, "write a page to this file too");
    if (!options.read(arguments)) return 0;
    if (change.has_value() == append.has_value())
        throw UsageError({.where = "causality",
                          .expected = "one of --change POS=WORD and --append WORDS",
                          .found = change ? "both" : "neither",
                          .advice = "onehead causality --help shows examples"});

    auto const model = open_model(run);
    Request const request = make_request(run, *model);
    Trace const before = trace(*model, request);
    Request changed = request;
    changed.text.reset();
    changed.token_ids = change ? with_changed_word(*model, token_ids(before), change->pos, change->word)
                               : with_appended_words(*model, token_ids(before), *append);
    Trace const after = trace(*model, changed);
    Causality const causality = check_causality(before, after);
    Document const page = causality_report(before, after, causality);
    fmt::print("{}", text(page));
    if (html_file) write_file_in_place(*html_file, html(page));
    return causality.holds() ? 0 : 1;
}

}  // namespace

Subcommand const causality_command{
    "causality", "change a word or append some: which rows move, and can they?", run_causality, 2};

}  // namespace onehead
