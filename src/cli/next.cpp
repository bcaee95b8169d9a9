// onehead next: the token that the model expects after a row, as it is and with an experiment on one head.

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/next.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto examples = R"(
examples:
  onehead next --text-file data/texts/fox.txt
  onehead next --text-file data/texts/fox.txt --layer 3 --head 2 --experiment silent
  onehead next --experiment unscaled --top 10 --csv next.csv
)";

// What came out, as a page. `likely`: the tokens of next.likely, in that order.
Document page_of(Run const& run, std::string const& experiment, Next const& next, Tokens const& likely) {
    std::string const head = fmt::format("head {}.{}", run.facts.layer, run.facts.head);
    auto const name = [&](std::size_t i) { return Label{"", label(likely[i])}; };
    Document page{"The next token"};
    page.heading(say("What comes after row {}", token(run.tokens, next.row)));
    page.paragraph(say("{} on {}{}", run.facts.model, Label{"", label(run.facts.text)},
                       experiment.empty() ? Inline{} : say(", {}: {}", head, experiment)));
    Table table;
    table.columns = {{"token"}, {next.is_changed ? "as it is" : "probability", Align::right}};
    if (next.is_changed) table.columns.emplace_back(experiment, Align::right);
    for (std::size_t i = 0; i < likely.size(); ++i) {
        table.rows.push_back({name(i), weight(next.likely[i].probability)});
        if (next.is_changed) table.rows.back().emplace_back(weight(next.likely[i].changed));
    }
    page.add(table);
    if (next.is_changed) {
        auto const& all = next.likely;
        auto const changed = [](NextToken const& one) { return one.changed; };
        auto const top = static_cast<std::size_t>(std::ranges::max_element(all, {}, changed) - all.begin());
        constexpr double little = 0.01;  // nats
        page.paragraph(say("With the experiment {} on {}, {} The whole distribution moves by {} nats{}.",
                           Code{experiment}, head,
                           top == 0 ? say("{} stays on top, with {} instead of {}.", name(0),
                                          weight(all[0].changed), weight(all[0].probability))
                                    : say("{} is on top with {} instead of {}, and {} goes from {} to {}.",
                                          name(top), weight(all[top].changed), weight(all[top].probability),
                                          name(0), weight(all[0].probability), weight(all[0].changed)),
                           fmt::format("{:.3g}", next.worth),
                           next.worth < little ? ", which is next to nothing" : ""));
    }
    page.aside(
        "Probabilities of the next token over the whole vocabulary: the row goes on through the layers "
        "above, the final "
        "LayerNorm and the unembedding, then a softmax. Nats: the sum of p ln(p / p_changed), how far the "
        "changed "
        "distribution is from the other.");
    return page;
}

// token_id,token,probability and, with an experiment, changed: float32 in shortest digits.
std::string csv_of(Next const& next, Tokens const& likely) {
    std::string csv =
        next.is_changed ? "token_id,token,probability,changed\n" : "token_id,token,probability\n";
    for (std::size_t i = 0; i < likely.size(); ++i) {
        csv += fmt::format("{},{},{}", likely[i].id, csv_field(label(likely[i])), next.likely[i].probability);
        csv += next.is_changed ? fmt::format(",{}\n", next.likely[i].changed) : "\n";
    }
    return csv;
}

int run(Arguments const& arguments) {
    RunOptions run;
    std::size_t top = 5;
    std::optional<std::string> csv, html_file;
    Options options{"onehead next [options]", examples};
    add_run_options(options, run);
    add_experiment_option(options, run);
    options.add("top", "K", top, "how many tokens of each distribution (default: 5)");
    options.add("csv", "F", csv, "write the table as CSV to this file too");
    options.add("html", "F", html_file, "write the page for a browser to this file too");
    if (!options.read(arguments)) return 0;
    if (top == 0) throw UsageError("--top 0: expected at least 1 token; leave it out for 5");

    auto const model = open_model(run);
    static_cast<void>(model->final_norm());  // an excerpt says at once that it has no next token
    Request const request = make_request(run, *model);
    Run const prepared = prepare(*model, request);
    Case const changed = changed_case(prepared, request.experiment);
    std::size_t const row = request.row.value_or(prepared.tokens.size() - 1);
    Next const next = next_tokens(prepared.head, request.experiment.empty() ? nullptr : &changed,
                                  request.layer, row, top, blocks_of(*model, request.progress));
    std::vector<int> ids;
    for (NextToken const& token : next.likely) ids.push_back(token.id);
    Tokens const likely = model->tokens(ids);
    Document const page = page_of(prepared, request.experiment, next, likely);
    fmt::print("{}", text(page));
    if (csv) write_file_in_place(*csv, csv_of(next, likely));
    if (html_file) write_file_in_place(*html_file, html(page));
    return 0;
}

}  // namespace

Subcommand const next_command{
    "next", "the token that the model expects next, as it is and with one head changed", run};

}  // namespace onehead
