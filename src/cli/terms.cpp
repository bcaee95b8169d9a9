// onehead terms: the names of the steps, here and elsewhere.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/pages/reports.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead terms
  onehead terms --layer 5                         names elsewhere with their layer filled in
  onehead terms --markdown > glossary.md
)";

}  // namespace

int run_terms(Arguments const& arguments) {
    Options options{"options"};
    auto add = options.add_options();
    add("layer", po::value<std::string>()->value_name("L"), "the block, from 0 (default: the letter L)");
    add("markdown", po::bool_switch(), "as a table in Markdown");
    add("help", "this");
    if (shows_help(arguments, "terms [options]", options, examples)) return 0;
    Given const given = parse(arguments, options);
    std::string layer = "L";
    if (given.count("layer") != 0) layer = std::to_string(parse_count("--layer", value(given, "layer")));
    fmt::print("{}", given["markdown"].as<bool>() ? glossary_markdown(layer) : glossary_text(layer));
    return 0;
}

}  // namespace onehead
