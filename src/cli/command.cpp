#include "cli/command.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iostream>

namespace onehead {
namespace {

constexpr std::array table{
    Command{"trace", "run one head on a text and write down every step", run_trace},
    Command{"heads", "what every head of the model does on a text, to choose one", run_heads},
    Command{"experiments", "what can be changed about a head, and what each change shows", run_experiments},
    Command{"compare", "hold two traces against each other, step by step", run_compare, 2},
    Command{"causality", "change a word or append some: which rows move, and may they?", run_causality, 2},
    Command{"worked", "one number worked out by hand, to the last bit", run_worked},
    Command{"measure", "how long rows of a trace are, and how much they point the same way", run_measure},
    Command{"check", "hold a trace against what another implementation computed", run_check, 2},
    Command{"terms", "the steps and their names in TransformerLens and Hugging Face", run_terms},
    Command{"tokens", "show how a text is cut into tokens", run_tokens},
    Command{"excerpt", "cut out of a model what one block needs on one text", run_excerpt},
};

}  // namespace

std::span<Command const> commands() {
    return table;
}

bool shows_help(Arguments const& arguments, std::string_view usage, Options const& options,
                std::string_view examples) {
    auto const end = std::find(arguments.begin(), arguments.end(), "--");
    if (std::find(arguments.begin(), end, "--help") == end) return false;
    std::cout << "usage: onehead " << usage << "\n\n" << options << "\nexamples:\n" << examples;
    return true;
}

}  // namespace onehead
