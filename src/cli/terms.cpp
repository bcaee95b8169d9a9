// onehead terms: the names of the steps, here and elsewhere.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/pages/markdown.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/pages/text.hpp"

namespace onehead {

namespace {

constexpr auto terms_examples = R"(
examples:
  onehead terms
  onehead terms --layer 5                         names elsewhere with their layer filled in
  onehead terms --markdown > glossary.md
)";

int run_terms(Arguments const& arguments) {
    std::optional<std::size_t> layer;
    bool as_markdown = false;
    Options options{"onehead terms [options]", terms_examples};
    options.add("layer", "L", layer, "the layer, from 0 (default: the letter L)");
    options.add_flag("markdown", as_markdown, "as a table in Markdown");
    if (!options.read(arguments)) return 0;
    std::string const name = layer ? std::to_string(*layer) : "L";
    fmt::print("{}", as_markdown ? markdown(glossary_table(name)) : text(glossary(name)));
    return 0;
}

}  // namespace

Subcommand const terms_command{"terms", "the steps and their names in TransformerLens and Hugging Face",
                               run_terms};

}  // namespace onehead
