#include "write/symbols.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

namespace onehead {
namespace {

// clang-format off
constexpr std::array<std::pair<int, std::string_view>, terms::all.size()> formulas{{
    {1, "t<sub>i</sub> = wte[id<sub>i</sub>]"},
    {2, "p<sub>i</sub> = wpe[i]"},
    {3, "r<sub>i</sub> = t<sub>i</sub> + p<sub>i</sub>"},
    {4, "x<sub>i</sub> = (r<sub>i</sub> − μ<sub>i</sub>) / √(σ<sub>i</sub>² + ε) · γ + β"},
    {5, "q<sub>i</sub> = x<sub>i</sub> W<sub>q</sub> + b<sub>q</sub>"},
    {6, "k<sub>j</sub> = x<sub>j</sub> W<sub>k</sub> + b<sub>k</sub>"},
    {7, "v<sub>j</sub> = x<sub>j</sub> W<sub>v</sub> + b<sub>v</sub>"},
    {8, "s<sub>ij</sub> = Σ<sub>d</sub> q<sub>id</sub> k<sub>jd</sub>"},
    {9, "s′<sub>ij</sub> = s<sub>ij</sub> / √d<sub>head</sub>"},
    {10, "m<sub>ij</sub> = s′<sub>ij</sub> for j ≤ i, −∞ for j &gt; i"},
    {11, "a<sub>ij</sub> = exp(m<sub>ij</sub>) / Σ<sub>j</sub> exp(m<sub>ij</sub>)"},
    {12, "z<sub>i</sub> = Σ<sub>j</sub> a<sub>ij</sub> v<sub>j</sub>"},
    {13, "o<sub>i</sub> = z<sub>i</sub> W<sub>o</sub>"},
    {14, "h<sub>i</sub> = Σ o<sub>i</sub> of the other heads"},
    {15, "b<sub>o</sub>"},
    {16, "r′<sub>i</sub> = r<sub>i</sub> + o<sub>i</sub> + h<sub>i</sub> + b<sub>o</sub>"},
}};
// clang-format on

bool is_used(Trace const& trace, std::string_view name) {
    return std::any_of(trace.steps().begin(), trace.steps().end(), [&](Step const& step) {
        return step.formula.find(name) != std::string::npos || step.term.rows == name ||
               step.term.columns == name;
    });
}

}  // namespace

std::vector<Symbol> explain_symbols(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::vector<Symbol> all{
        {"pos", "a position in the text, from 0, and the row that stands there"},
        {"query_pos", "the position of a row that reads"},
        {"key_pos", "the position of a row that is read"},
        {"d_model", fmt::format("the width of a row of the model: {}", facts.d_model)},
        {"d_head", fmt::format("the width of a query, a key and a value: {}", facts.d_head)},
        {"wte", "a learned row for each token of the vocabulary"},
        {"wpe", "a learned row for each position"},
        {"mean", "the mean of the numbers of a row"},
        {"variance", "the mean of the squares of what is left when the mean is taken away"},
        {"epsilon", fmt::format("keeps the root from being 0: {}", facts.layer_norm_epsilon)},
        {"gain", "gain and bias: learned, a number each for every place of a row"},
        {"W_q", "W_q, W_k, W_v: learned, [d_model, d_head], this head's own"},
        {"b_q", "b_q, b_k, b_v: learned, [d_head], added to every row"},
        {"W_o", "learned, [d_head, d_model], this head's own"},
        {"b_o", "learned, [d_model], the block's"},
        {"sum over d", "over the d_head places of a query and a key"},
        {"sqrt", "the square root"},
        {"exp", "e = 2.71828... to the power of"},
        {"-inf", "minus infinity: less than any score"},
        {"MLP", "the other half of a block, which works on each row alone"}};
    std::erase_if(all, [&](Symbol const& symbol) { return !is_used(trace, symbol.name); });
    return all;
}

std::string_view formula_in_symbols(Term const& term) {
    return formulas.at(static_cast<std::size_t>(term.number) - 1).second;
}

}  // namespace onehead
