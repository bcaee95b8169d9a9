#include "write/glossary.hpp"

#include <fmt/format.h>

#include "trace/terms.hpp"

namespace onehead {
namespace {

std::string shape(Term const& term) {
    return fmt::format("[{}, {}]", term.rows, term.columns);
}

std::string elsewhere(std::string_view name, std::string_view layer) {
    return name.empty() ? "none" : in_layer(name, layer);
}

}  // namespace

std::string glossary_text(std::string_view layer) {
    std::string page;
    for (Term const& term : terms::all) {
        page += fmt::format("{:02} {} {}\n    {}\n    = {}\n", term.number, term.name, shape(term),
                            term.meaning, term.formula);
        page += fmt::format("    TransformerLens: {}\n    Hugging Face: {}\n",
                            elsewhere(term.transformer_lens, layer), elsewhere(term.hugging_face, layer));
    }
    return page;
}

std::string glossary_markdown(std::string_view layer) {
    std::string page =
        "| no. | step | shape | what it is | formula | TransformerLens | Hugging Face |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (Term const& term : terms::all)
        page += fmt::format("| {:02} | `{}` | {} | {} | `{}` | {} | {} |\n", term.number, term.name,
                            shape(term), term.meaning, term.formula, elsewhere(term.transformer_lens, layer),
                            elsewhere(term.hugging_face, layer));
    return page;
}

}  // namespace onehead
