// Lesson 3: divide by the square root of the head's width. The same head runs with the division and without
// it.
#include <fmt/format.h>
#include <cmath>
#include <span>

#include "lesson.hpp"
#include "onehead/math/exp.hpp"
#include "onehead/pages/reports.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/survey.hpp"
#include "tables.hpp"

namespace onehead {
namespace {

void tell_spread(Lesson& l) {
    Facts const& facts = l.trace().facts;
    double const predicted = std::sqrt(static_cast<double>(facts.d_head));
    double const seen = deviation_of_scores(l.trace()[terms::scores]);
    l.tell(fmt::format(
        "A score is a sum of {0} products. If the numbers of a query and a key were independent, centred on "
        "0 and of typical size 1, scores would spread by sqrt({0}) = {1:.2f} about 0, and the gap between "
        "two of them by sqrt({2}) = {3:.2f}. The raw scores of this head, over all pairs that the mask "
        "allows, spread by {4}.",
        facts.d_head, predicted, 2 * facts.d_head, std::sqrt(2.0) * predicted, score(seen)));
}

// Draws its own queries and keys and prints the spread of their scores.
std::string other_made_up_scores(std::size_t width) {
    return fmt::format(
        R"(awk 'function g() {{ return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }} )"
        R"(BEGIN {{ for (n = 0; n < 2000; ++n) {{ s = 0; for (d = 0; d < {}; ++d) s += g() * g(); )"
        R"(t += s * s }} print sqrt(t / 2000) }}')",
        width);
}

void lesson(Lesson& l) {
    Trace const unscaled = trace(l.run(), "unscaled");
    l.keep({terms::scores, terms::scaled_scores, terms::softmax});
    l.keep_trace(l.trace(), "scaled");
    l.keep_trace(unscaled, "unscaled");
    Comparison const comparison = compare(l.trace(), unscaled, "the scaled run", "the unscaled run");
    l.keep_page("compare.html", "the scaled run and the unscaled one, side by side",
                compare_report(l.trace(), unscaled, comparison));
    tell_spread(l);
    std::vector<Term> const steps{terms::scores, terms::scaled_scores, terms::masked_scores, terms::softmax};
    l.show(score_table(l.trace(), l.row(), steps));
    l.tell("Without the division:");
    l.show(score_table(unscaled, l.row(), std::span{steps}.last(1)));
    l.play("divisor");

    l.ask("Widen a head, and change nothing else: what happens to its scores?");
    l.answer(
        "Made-up queries and keys, independent and of size 1, 2000 of each width. The spread grows with the "
        "root of the width, and the division takes just that away:");
    l.answer_with(width_table());
    l.check_with(other_made_up_scores(l.trace().facts.d_head));

    l.ask("Softmax is exponential in the gaps. How much more weight does a lead of 8 give?");
    double const divisor = l.trace().facts.divisor;
    l.answer(
        fmt::format("e^8 = {:.0f} times as much. Divided by {:.4g} first, the same lead gives e^{:.4g} = "
                    "{:.2f} times as much.",
                    exponential(8), divisor, 8 / divisor, exponential(8 / divisor)));
    l.check_with(fmt::format("awk 'BEGIN {{ print exp(8), exp(8 / {}) }}'", divisor));

    l.ask(
        "What does the division do to each row of this head, and what to the slope p(1 - p) of the softmax, "
        "along which a head learns?");
    l.answer_with(slope_table(l.trace(), unscaled));
    l.answer(verdict(comparison) + ".");
    l.check_with(l.commands().onehead(fmt::format("compare {0}/scaled {0}/unscaled", l.folder())));
}

}  // namespace
}  // namespace onehead

int main(int argc, char** argv) {
    return onehead::teach(argc, argv,
                          {"3_scale", "3: divide by the square root of the head width",
                           "Why are the scores divided before they become weights?", onehead::lesson});
}
