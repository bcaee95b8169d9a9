// onehead tokens: how a text is cut into tokens.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/pages/text.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead tokens "The cat sat on the mat"
  onehead tokens -- "--what is this"              a text that begins with a dash
)";

std::string hex(std::string const& bytes) {
    std::string digits;
    for (char const byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return digits;
}

}  // namespace

int run_tokens(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("text", po::value<std::string>()->value_name("TEXT"), "the text");
    add("model", po::value<std::string>()->value_name("M"), "the model whose vocabulary is used");
    add("help", "this");
    if (shows_help(arguments, "tokens TEXT [options]", options, examples)) return 0;
    Given const given = parse(arguments, options, {"text"});
    if (value(given, "text").empty())
        throw UsageError("tokens: expected a text, found none; put it in quotes");

    auto const model = open_model(given);
    Table table{{Align::right, Align::right, Align::left}};
    table.add({"pos", "token_id", "token", "bytes"});
    std::size_t pos = 0;
    for (int const id : model->tokenizer().encode(value(given, "text"))) {
        std::string const bytes = model->tokenizer().bytes(id);
        table.add({std::to_string(pos++), std::to_string(id), label(bytes), hex(bytes)});
    }
    fmt::print("{}", table.text(""));
    return 0;
}

}  // namespace onehead
