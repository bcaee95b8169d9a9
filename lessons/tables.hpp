// What lessons count and measure, and the tables that show it; each is computed when it is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lesson.hpp"
#include "onehead/attention/experiments.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/document.hpp"
#include "onehead/study/next.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// "row 1", "rows 1 to 5"; "in row 1", "as means over rows 1 to 5".
std::string rows_from(std::size_t first, std::size_t last);
std::string means_over(std::size_t first, std::size_t last);

// The keys that a row can read: the norm of each, its cosine similarity with the row's query, and the score.
Table key_table(Trace const& trace);

// Scaled scores and weights of the row, and the same with 64 added to the scores; [query_pos, key_pos] each.
Table gaps_table(Trace const& trace, Matrix const& scaled, Matrix const& before, Matrix const& moved,
                 Matrix const& after);

// Made-up queries and keys of several widths: how large scores and gaps are, before and after the division.
Table width_table();

// 1 - sum of p^2: the slopes p(1 - p) of the weights of a row added up, for they sum to 1.
double slope_of(std::span<float const> weights);

// The rows that have a choice (all but row 0) in two runs of a head: how many rows they read in effect, and
// 1 - sum of p^2, what the slopes of the softmax add up to.
struct RowsOfTwo {
    std::size_t count = 0;
    double effective_scaled = 0, effective_unscaled = 0;  // means over these rows
    std::size_t sharper = 0;                              // unscaled they read fewer rows
    std::size_t less_steep = 0;  // unscaled the slope is smaller, with respect to the scores before softmax
    std::size_t less_steep_raw = 0;  // and with respect to the raw scores, which the scaled head divides
};
RowsOfTwo compare_rows_of(Trace const& scaled, Trace const& unscaled);
Table sharpness_table(Trace const& scaled, Trace const& unscaled);

// In how many rows but row 0 one row gets .9 of the weight or more.
std::size_t rows_on_one(Matrix const& pattern);

// What other rules than GPT-2's mask make of a row: none, after the softmax, 0, -10000.
struct OtherMask {
    std::string rule;
    double total = 0;  // its weights added up
    double later = 0;  // of these, the weights on later rows
    double moves = 0;  // the largest change of a weight
};
std::vector<OtherMask> other_masks(Run const& run, std::size_t i);
Table mask_table(std::vector<OtherMask> const& masks);

// What each row brings into a blend: its weight times the norm of its value. With or without the products.
Table product_table(Trace const& trace, bool with_products = true);

// The whole head for one row, with the numbers of this run, from the top down.
CodeBlock flow_diagram(Trace const& trace);

// The heads of a layer: what each adds to a row, and where it looks. outputs: [pos, d_model] in head order.
Table block_table(std::vector<HeadSurvey> const& heads, std::vector<Matrix const*> const& outputs,
                  std::size_t row, std::size_t n);

// The heads of a model that stand out most in three ways.
Table kinds_table(std::vector<HeadSurvey> const& heads);

// The tokens of a text in which a part repeats. None if the model cannot run all its layers on it.
std::vector<int> fox_text(Model const& model);

// What each head is worth to the next token.
Table worth_table(Worth const& worth);

// Asks about the next token after the lesson's row, and answers with the lesson's head as it is and with an
// experiment on it. Where the model file lacks what comes after a head, one sentence says so instead of a
// question, and false comes back.
bool ask_about_next(Lesson& l, Inline question, std::string_view experiment);

// More of such an answer: the model without the division in any head.
void answer_with_all_unscaled(Lesson& l);

// How far the pattern is off with one mistake at a time. The first is leaving out the division, the second is
// dividing by sqrt(d_model).
struct Mistake {
    Experiment const* experiment = nullptr;
    double largest = 0;           // difference of a weight
    std::size_t cells_apart = 0;  // those off by more than rounding
    double worst_sum = 0;         // how far a row is from adding up to 1
};
std::vector<Mistake> usual_mistakes(Run const& run);
Table mistakes_table(std::vector<Mistake> const& mistakes, std::size_t cells);

// The pattern that PyTorch computed in float64 for the trace's head, and the bytes of the file that has it;
// nothing for another model or text than gpt2-mini and the default text.
struct PytorchValues {
    Array pattern;  // [query_pos, key_pos]
    std::string bytes;
};
std::optional<PytorchValues> pytorch_values(Trace const& trace);

}  // namespace onehead
