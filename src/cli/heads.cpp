// onehead heads: every head of a model on a text, in figures, to find the one that is worth tracing.

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/next.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto heads_examples = R"(
examples:
  onehead heads --text "one two three one two three"
  onehead heads --text-file data/texts/fox.txt --sort induction
  onehead heads --out heads.csv
  onehead heads --text-file data/texts/fox.txt --worth --sort worth
)";

// What the heads are worth to the token after a row, beside what they do.
void add_worth(std::vector<HeadSurvey>& heads, Worth const& worth) {
    for (HeadSurvey& head : heads)
        for (HeadWorth const& one : worth.heads)
            if (one.layer == head.layer && one.head == head.head) {
                head.worth = one.worth;
                head.top_without = static_cast<double>(one.top_without);
            }
}

void sort_by(std::vector<HeadSurvey>& heads, std::string const& name, bool with_worth) {
    double HeadSurvey::*const column = heads_column(name, with_worth);
    if (column == nullptr)
        throw UsageError({.where = "--sort",
                          .expected = "a column, one of " + heads_columns(with_worth),
                          .found = label(name)});
    std::stable_sort(heads.begin(), heads.end(), [&](HeadSurvey const& a, HeadSurvey const& b) {
        if (std::isnan(b.*column)) return !std::isnan(a.*column);
        return a.*column > b.*column;
    });
}

int run_heads(Arguments const& arguments) {
    RunOptions run;
    std::optional<std::string> sort, out, html_file;
    bool with_worth = false;
    Options options{"onehead heads [options]", heads_examples};
    add_text_options(options, run);
    options.add("layer", "L", run.layer, "only the heads of this layer, from 0");
    options.add_flag("worth", with_worth, "silence each head in turn: what is it worth to the next token?");
    options.add("row", "R", run.row,
                "the row after which the next token comes, with --worth (default: the last)");
    options.add("sort", "COLUMN", sort, "largest first, by this column");
    options.add("out", "F", out, "write the table as CSV to this file too");
    options.add("html", "F", html_file,
                "with --worth, write a picture of all heads for a browser to this file too");
    if (!options.read(arguments)) return 0;
    if ((run.row || html_file) && !with_worth)
        throw UsageError(fmt::format("--{}: expected --worth with it, found none", run.row ? "row" : "html"));

    auto const model = open_model(run);
    if (with_worth) static_cast<void>(model->final_norm());  // an excerpt says at once that it has none
    Request const request = make_request(run, *model);
    std::optional<std::size_t> const layer = run.layer;
    if (layer) model->check_layer(*layer);
    std::vector<int> const ids = tokens_for_run(*model, request);
    Tokens const tokens = model->tokens(ids);
    auto heads = survey_heads(*model, ids, layer);
    std::optional<Inline> next;
    if (with_worth) {
        auto const progress = [shows = isatty(STDERR_FILENO) != 0](std::size_t done, std::size_t all) {
            if (shows)
                fmt::print(stderr, "\rlayer {} of {}\x1b[K{}", done, all, done == all ? "\r\x1b[K" : "");
        };
        Worth const worth = worth_of_heads(*model, request, layer, progress);
        add_worth(heads, worth);
        next = worth_sentence(worth, model->tokens({worth.top}).front(), tokens);
    }
    Picture const picture = worth_picture(heads);
    if (sort) sort_by(heads, *sort, with_worth);
    Document page = heads_report(heads, tokens, model->name(), text_of(tokens), with_worth);
    if (next) page.paragraph(*next);
    fmt::print("{}", text(page));
    if (out) write_file_in_place(*out, heads_csv(heads, tokens, with_worth));
    if (html_file) {
        page.add(picture);
        write_file_in_place(*html_file, html(page));
    }
    return 0;
}

}  // namespace

Subcommand const heads_command{"heads", "what every head of the model does on a text, to choose one",
                               run_heads};

}  // namespace onehead
