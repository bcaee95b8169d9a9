// onehead tokens: how a text is cut into tokens.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto tokens_examples = R"(
examples:
  onehead tokens "The cat sat on the mat"
  onehead tokens -- "--what is this"              a text that begins with a dash
  onehead tokens --text-file poem.txt             a file, - for standard input
  onehead tokens --tokens 464,3797                what these ids are
)";

int run_tokens(Arguments const& arguments) {
    RunOptions run;
    Options options{"onehead tokens TEXT [options]", tokens_examples};
    options.add_word("TEXT", run.text, "the text");
    add_text_options(options, run);
    if (!options.read(arguments)) return 0;
    if (!run.text && !run.text_file && !run.tokens)
        throw UsageError(
            {.where = "tokens", .expected = "a text", .found = "none", .advice = "put it in quotes"});

    auto const model = open_model(run);
    Table table;
    table.columns = {{"pos", Align::right}, {"token_id", Align::right}, {"token"}, {"bytes"}};
    std::size_t pos = 0;
    for (Token const& token : model->tokens(tokens_of(*model, make_request(run, *model))))
        table.rows.push_back({{pos++}, {token.id}, {Label{"", label(token)}}, {escaped_bytes(token.bytes)}});
    fmt::print("{}", text(table, ""));
    return 0;
}

}  // namespace

Subcommand const tokens_command{"tokens", "show how a text is cut into tokens", run_tokens};

}  // namespace onehead
