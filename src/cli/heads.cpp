// onehead heads: every head of a model on a text, in figures, to find the one that is worth tracing.

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

struct Column {
    std::string_view name;
    double HeadSurvey::*figure;
    bool is_weight;
};

constexpr std::array columns{
    Column{"self", &HeadSurvey::self, true},
    Column{"previous", &HeadSurvey::previous, true},
    Column{"first", &HeadSurvey::first, true},
    Column{"induction", &HeadSurvey::induction, true},
    Column{"duplicate", &HeadSurvey::duplicate, true},
    Column{"entropy", &HeadSurvey::entropy, false},
    Column{"rows_read", &HeadSurvey::effective_rows, false},
    Column{"spread", &HeadSurvey::spread, false},
};

constexpr auto examples = R"(  onehead heads --text "one two three one two three"
  onehead heads --text-file data/texts/fox.txt --sort induction
  onehead heads --out heads.csv
)";

constexpr auto legend =
    "Means over rows 1 and later. self, previous, first: weight on the row itself, the one before, row 0. "
    "induction: on what followed earlier occurrences of the token; duplicate: on the earlier occurrences "
    "(both over the rows that have some). rows_read: e to the entropy. spread: standard deviation of the raw "
    "scores. strongest: the pair of different rows with the largest weight, row 0 left out.";

std::vector<HeadSurvey> survey(Model const& model, std::vector<int> const& ids) {
    if (model.own_tokens().empty())
        return survey_model(first_rows(model, ids), model.config().n_layer, blocks_of(model), ids);
    std::size_t const layer = model.layers().front();  // an excerpt has one block
    Matrix const rows = model.has_hidden_states(layer) ? model.hidden_states(layer) : first_rows(model, ids);
    return survey_block(rows, model.attention(layer), layer, ids);
}

void sort_by(std::vector<HeadSurvey>& heads, std::string const& name) {
    auto const* const column =
        std::find_if(columns.begin(), columns.end(), [&](Column const& c) { return c.name == name; });
    if (column == columns.end()) {
        std::string names;
        for (Column const& c : columns) names += fmt::format("{}{}", names.empty() ? "" : ", ", c.name);
        throw UsageError(
            fmt::format("--sort {}: there is no such column; choose one of {}", label(name), names));
    }
    std::stable_sort(heads.begin(), heads.end(), [&](HeadSurvey const& a, HeadSurvey const& b) {
        return a.*column->figure > b.*column->figure;
    });
}

std::string table_of(std::vector<HeadSurvey> const& heads, Tokens const& tokens) {
    Table table{{Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
                 Align::right, Align::right, Align::right, Align::right, Align::left}};
    std::vector<std::string> names{"head"};
    for (Column const& column : columns) names.emplace_back(column.name);
    names.insert(names.end(), {"strongest", ""});
    table.add(names);
    for (HeadSurvey const& head : heads) {
        std::vector<std::string> cells{fmt::format("{}.{}", head.layer, head.head)};
        for (auto const& [name, figure, is_weight] : columns)
            cells.push_back(is_weight ? short_weight(head.*figure) : short_score(head.*figure));
        cells.push_back(short_weight(head.strongest));
        cells.push_back(fmt::format("{} {} reads {} {}", head.query, label(tokens[head.query].bytes),
                                    head.key, label(tokens[head.key].bytes)));
        table.add(cells);
    }
    return table.text("");
}

std::string csv_of(std::vector<HeadSurvey> const& heads, Tokens const& tokens) {
    std::string csv = "layer,head";
    for (Column const& column : columns) csv += fmt::format(",{}", column.name);
    csv += ",strongest,query_pos,query,key_pos,key\n";
    for (HeadSurvey const& head : heads) {
        csv += fmt::format("{},{}", head.layer, head.head);
        for (Column const& column : columns) csv += fmt::format(",{}", head.*column.figure);
        csv += fmt::format(",{},{},{},{},{}\n", head.strongest, head.query,
                           csv_field(label(tokens[head.query].bytes)), head.key,
                           csv_field(label(tokens[head.key].bytes)));
    }
    return csv;
}

}  // namespace

int run_heads(Arguments const& arguments) {
    Options options{"options"};
    add_text_options(options);
    auto add = options.add_options();
    add("sort", po::value<std::string>()->value_name("COLUMN"), "largest first, by this column");
    add("out", po::value<std::string>()->value_name("F"), "write the table as CSV to this file too");
    add("help", "this");
    if (shows_help(arguments, "heads [options]", options, examples)) return 0;
    Given const given = parse(arguments, options);

    auto const model = open_model(given);
    std::vector<int> const ids = tokens_of(*model, make_request(given, *model));
    model->check_tokens(ids);
    expect_memory(model->config(), ids.size());
    Tokens const tokens = describe_tokens(*model, ids);
    auto heads = survey(*model, ids);
    if (given.count("sort") != 0) sort_by(heads, value(given, "sort"));
    fmt::print("{} on {} ({} tokens)\n\n{}\n{}", model->name(), label(model->tokenizer().decode(ids)),
               ids.size(), table_of(heads, tokens), paragraph(legend));
    if (given.count("out") != 0) write_file_in_place(value(given, "out"), csv_of(heads, tokens));
    return 0;
}

}  // namespace onehead
