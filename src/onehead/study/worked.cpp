#include "onehead/study/worked.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "onehead/attention/experiments.hpp"
#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "onehead/math/exp.hpp"

namespace onehead {

namespace {

// The sheet of paper on which one number is worked out.
class Sheet {
public:
    std::string says;

    // A line that is no term of a sum. Returns its value.
    double note(std::string what, std::optional<double> left, std::optional<double> right, double value) {
        lines_.push_back({std::move(what), left, right, value, {}});
        return value;
    }
    double note(std::string what, double value) { return note(std::move(what), {}, {}, value); }

    // A sum: what it starts from, and one term after the other.
    void start_sum() { sum_ = 0; }
    void start_sum(std::string what, double first) {
        sum_ = first;
        lines_.push_back({std::move(what), {}, {}, first, sum_});
    }
    void add(std::string what, std::optional<double> left, std::optional<double> right, double value) {
        sum_ += value;
        lines_.push_back({std::move(what), left, right, value, sum_});
    }
    void add(std::string what, double value) { add(std::move(what), {}, {}, value); }
    void add_product(std::string what, double left, double right) {
        add(std::move(what), left, right, left * right);
    }
    double sum() const { return sum_; }

    std::vector<Line> const& lines() const { return lines_; }

private:
    double sum_ = 0;
    std::vector<Line> lines_;
};

// Which number of which run.
struct Cell {
    Case const& c;
    Trace const& trace;
    std::size_t row;
    std::size_t column;
};

// Writes the lines of any step and returns the number before it is rounded to float32.
double work_step(Cell const& cell, Term const& term, Sheet& sheet);

void expect_below(std::size_t value, std::size_t limit, Term const& term, std::string_view what) {
    if (value < limit) return;
    throw UsageError(fmt::format("worked: {} has no {} {}; choose one from 0 to {}", file_stem(term), what,
                                 value, limit - 1));
}

// What `work_out` reads is where the case says that it is.
void expect_trace_of(Case const& c, Trace const& trace) {
    expect_tokens(trace);
    std::size_t const n_seq = row_count(c.residual);
    for (Step const& step : trace.steps())
        expect_shape(step.term.name, step.values, step.term == terms::projection_bias ? 1 : n_seq,
                     pairs_positions(step.term)      ? n_seq
                     : step.term.columns == "d_head" ? column_count(c.w_q)
                                                     : column_count(c.residual));
}

}  // namespace

bool Worked::agrees() const {
    return std::bit_cast<std::uint32_t>(result) == std::bit_cast<std::uint32_t>(in_trace);
}

Worked work_out(Case const& c, Trace const& trace, Term const& term, std::size_t row, std::size_t column) {
    check(c);
    expect_trace_of(c, trace);
    Matrix const& values = trace[term];
    expect_below(row, row_count(values), term, "row");
    expect_below(column, column_count(values), term, "column");
    Sheet sheet;
    double const exact = work_step({c, trace, row, column}, term, sheet);
    auto const rounded = static_cast<float>(exact);
    if (sheet.lines().back().value != rounded || sheet.lines().back().running)
        sheet.note("rounded to float32", exact, {}, rounded);
    return {term, row, column, sheet.says, sheet.lines(), rounded, values(row, column)};
}

namespace {

// Numbers of the rows that the head reads and of what it makes of them, worked out: embeddings, residual,
// LayerNorm, query, key and value.

std::string lies_at(std::string_view tensor, std::size_t row, std::size_t column, std::size_t width) {
    return fmt::format(
        "It is learned, and lies in the file in tensor {}, row {}, column {}: number {} of the "
        "tensor, counted from 0.",
        tensor, row, column, row * width + column);
}

// (the row's numbers minus their mean), squared, averaged.
double work_variance(std::span<float const> values, double mean, Sheet& sheet) {
    sheet.start_sum();
    for (std::size_t d = 0; d < values.size(); ++d) {
        double const apart = values[d] - mean;
        sheet.add(fmt::format("(residual[{}] - mean)^2", d), values[d], mean, apart * apart);
    }
    auto const n = static_cast<double>(values.size());
    return sheet.note(fmt::format("variance: sum / {}", n), sheet.sum(), n, sheet.sum() / n);
}

double work_mean(std::span<float const> values, Sheet& sheet) {
    sheet.start_sum();
    for (std::size_t d = 0; d < values.size(); ++d) sheet.add(fmt::format("residual[{}]", d), values[d]);
    auto const n = static_cast<double>(values.size());
    return sheet.note(fmt::format("mean: sum / {}", n), sheet.sum(), n, sheet.sum() / n);
}

// What LayerNorm adds and multiplies with in this run.
struct Scale {
    double epsilon;
    double gain;
};

Scale work_scale(Cell const& cell, Sheet& sheet) {
    LayerNorm const& ln = cell.c.ln_1;
    Scale scale{ln.epsilon, ln.gain(cell.column)};
    if (cell.c.normalize != normalize_unbiased) return scale;
    auto const n = static_cast<double>(column_count(cell.c.residual));
    double const factor = (n - 1) / n;
    sheet.says += fmt::format(
        " Dividing by {} instead of {} makes the variance larger by a factor; its "
        "inverse goes to epsilon and, as a root, to the gain.",
        n - 1, n);
    scale.epsilon = sheet.note("epsilon * factor", ln.epsilon, factor, ln.epsilon * factor);
    double const root = std::sqrt(factor);
    scale.gain = sheet.note("gain * root of the factor, rounded to float32", scale.gain, root,
                            static_cast<float>(scale.gain * root));
    return scale;
}

double work_projection(Cell const& cell, Sheet& sheet, char name, Matrix const& w, Vector const& b) {
    sheet.says = fmt::format("The normalized row of {} times column {} of W_{}, then the bias.",
                             token_at(cell.trace, cell.row), cell.column, name);
    auto const x = row(cell.trace[terms::normalized], cell.row);
    sheet.start_sum();
    for (std::size_t d = 0; d < x.size(); ++d)
        sheet.add_product(fmt::format("normalized[{0}] * W_{1}[{0}, {2}]", d, name, cell.column), x[d],
                          w(d, cell.column));
    sheet.add(fmt::format("b_{}[{}]", name, cell.column), b(cell.column));
    return sheet.sum();
}

double work_token_embedding(Cell const& cell, Sheet& sheet) {
    auto const id = static_cast<std::size_t>(cell.trace.tokens.at(cell.row).id);
    sheet.says = lies_at("wte.weight", id, cell.column, column_count(cell.c.token_embedding));
    return sheet.note(fmt::format("wte[{}, {}]", id, cell.column),
                      cell.c.token_embedding(cell.row, cell.column));
}

double work_position_embedding(Cell const& cell, Sheet& sheet) {
    sheet.says = lies_at("wpe.weight", cell.row, cell.column, column_count(cell.c.position_embedding));
    return sheet.note(fmt::format("wpe[{}, {}]", cell.row, cell.column),
                      cell.c.position_embedding(cell.row, cell.column));
}

double work_residual(Cell const& cell, Sheet& sheet) {
    if (cell.c.token_embedding.size() == 0) {
        sheet.says =
            "It arrives as a whole, from before this block; there is nothing here to take it apart with.";
        return sheet.note("residual", cell.c.residual(cell.row, cell.column));
    }
    sheet.says = "What the token is, plus where it stands.";
    sheet.start_sum("token_embedding", cell.trace[terms::token_embedding](cell.row, cell.column));
    sheet.add("position_embedding", cell.trace[terms::position_embedding](cell.row, cell.column));
    return sheet.sum();
}

double work_normalized(Cell const& cell, Sheet& sheet) {
    auto const values = row(cell.c.residual, cell.row);
    if (cell.c.normalize != normalize && cell.c.normalize != normalize_unbiased &&
        cell.c.normalize != leave_raw)
        throw std::invalid_argument("normalize: expected one of this library's functions, found another");
    if (cell.c.normalize == leave_raw) {
        sheet.says = "In this experiment the raw row goes on as it is.";
        return sheet.note("residual", values[cell.column]);
    }
    sheet.says = fmt::format("The row of {}: its mean and variance over all {} numbers, then this number.",
                             token_at(cell.trace, cell.row), values.size());
    double const mean = work_mean(values, sheet);
    double const variance = work_variance(values, mean, sheet);
    auto const [epsilon, gain] = work_scale(cell, sheet);
    double const root =
        sheet.note("root of (variance + epsilon)", variance, epsilon, std::sqrt(variance + epsilon));
    double const x = values[cell.column];
    double const centred = sheet.note(fmt::format("residual[{}] - mean", cell.column), x, mean, x - mean);
    double const standardized = sheet.note("divided by the root", centred, root, centred / root);
    double const gained = sheet.note("times gain", standardized, gain, standardized * gain);
    double const bias = cell.c.ln_1.bias(cell.column);
    return sheet.note("plus bias", gained, bias, gained + bias);
}

double work_q(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'q', cell.c.w_q, cell.c.b_q);
}

double work_k(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'k', cell.c.w_k, cell.c.b_k);
}

double work_v(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'v', cell.c.w_v, cell.c.b_v);
}

// Numbers that say how one row reads another, worked out: score, scaling, mask and softmax.

// How many of a row's scores softmax sums over: up to the last one that is not -inf.
std::size_t depth_of_softmax(std::span<float const> scores) {
    while (!scores.empty() && scores.back() == minus_infinity) scores = scores.first(scores.size() - 1);
    return scores.size();
}

double work_weight(Cell const& cell, Sheet& sheet, std::span<float const> scores) {
    auto const best = std::max_element(scores.begin(), scores.end());
    double const largest =
        sheet.note(fmt::format("the largest, of key {}",
                               token_at(cell.trace, static_cast<std::size_t>(best - scores.begin()))),
                   *best);
    double mine = 0;
    sheet.start_sum();
    for (std::size_t j = 0; j < scores.size(); ++j) {
        double const below = scores[j] - largest;
        double const power = exponential(below);
        sheet.note(fmt::format("key {}: score - largest", token_at(cell.trace, j)), scores[j], largest,
                   below);
        sheet.add(fmt::format("key {}: exp(difference)", token_at(cell.trace, j)), below, {}, power);
        if (j == cell.column) mine = power;
    }
    return sheet.note(fmt::format("weight of key {}: its exp / sum", token_at(cell.trace, cell.column)), mine,
                      sheet.sum(), mine / sheet.sum());
}

double work_scores(Cell const& cell, Sheet& sheet) {
    sheet.says = fmt::format("The query of {} with the key of {}, product by product.",
                             token_at(cell.trace, cell.row), token_at(cell.trace, cell.column));
    auto const q = row(cell.trace[terms::q], cell.row);
    auto const k = row(cell.trace[terms::k], cell.column);
    sheet.start_sum();
    for (std::size_t d = 0; d < q.size(); ++d)
        sheet.add_product(fmt::format("q[{0}] * k[{0}]", d), q[d], k[d]);
    return sheet.sum();
}

double work_scaled_scores(Cell const& cell, Sheet& sheet) {
    sheet.says = "The score, divided by what this run divides scores by.";
    double const score = cell.trace[terms::scores](cell.row, cell.column);
    return sheet.note("score / divisor", score, cell.c.divisor, score / cell.c.divisor);
}

double work_masked_scores(Cell const& cell, Sheet& sheet) {
    double const scaled = cell.trace[terms::scaled_scores](cell.row, cell.column);
    bool const hidden = cell.column >= cell.c.visible[cell.row];
    sheet.says = fmt::format("Row {} asks, row {} is asked: {}.", cell.row, cell.column,
                             hidden ? "later than the query, so it is masked" : "the scaled score stays");
    if (!hidden) return sheet.note("scaled score", scaled);
    return sheet.note(fmt::format("scaled score, written over with {}", cell.c.masked_value), scaled, {},
                      cell.c.masked_value);
}

double work_softmax(Cell const& cell, Sheet& sheet) {
    if (cell.c.softmax != softmax && cell.c.softmax != softmax_then_mask)
        throw std::invalid_argument("softmax: expected one of this library's functions, found another");
    auto const all = row(cell.trace[terms::masked_scores], cell.row);
    auto const scores = all.first(depth_of_softmax(all));
    if (cell.column >= scores.size()) {
        sheet.says =
            fmt::format("Row {} cannot read row {}: its weight is exactly 0.", cell.row, cell.column);
        return sheet.note("masked", 0);
    }
    sheet.says = fmt::format(
        "The weight that {1} gives to {0}: e to the power of its score, divided by the "
        "sum of these powers over {2}. Taking the largest score off all of them changes no weight and "
        "keeps the powers small.",
        token_at(cell.trace, cell.column), token_at(cell.trace, cell.row), counted(scores.size(), "key"));
    double const weight = work_weight(cell, sheet, scores);
    bool const masked_now = cell.c.softmax == softmax_then_mask && cell.column > cell.row;
    return masked_now ? sheet.note("masked after the softmax: 0 written over it", weight, {}, 0) : weight;
}

// Numbers of what the head takes home and adds, worked out: the blend, its way back to full width, and the
// sum that leaves the block's attention.

// The number that each head of the block adds here, in head order without this one.
double other_output(Cell const& cell, std::size_t head) {
    std::size_t const place = head < cell.c.head ? head : head - 1;
    return cell.c.other_outputs[place](cell.row, cell.column);
}

std::size_t head_count(Cell const& cell) {
    return cell.c.other_outputs.size() + 1;
}

double work_blend(Cell const& cell, Sheet& sheet) {
    auto weights = row(cell.trace[terms::softmax], cell.row);
    while (!weights.empty() && weights.back() == 0) weights = weights.first(weights.size() - 1);
    sheet.start_sum();
    if (weights.empty()) {
        sheet.says = fmt::format("{} gives no row any weight, so it takes home nothing: 0.",
                                 token_at(cell.trace, cell.row));
        return sheet.note("nothing to add", 0);
    }
    sheet.says = fmt::format(
        "Number {} of every value that {} can read, each times its weight; the last one "
        "is {}.",
        cell.column, token_at(cell.trace, cell.row), token_at(cell.trace, weights.size() - 1));
    Matrix const& v = cell.trace[terms::v];
    for (std::size_t j = 0; j < weights.size(); ++j)
        sheet.add_product(fmt::format("weight of {} * its v[{}]", token_at(cell.trace, j), cell.column),
                          weights[j], v(j, cell.column));
    return sheet.sum();
}

double work_output_projection(Cell const& cell, Sheet& sheet) {
    sheet.says = fmt::format("The blend of {} times column {} of W_o; no bias, which belongs to no head.",
                             token_at(cell.trace, cell.row), cell.column);
    auto const blend = row(cell.trace[terms::blend], cell.row);
    sheet.start_sum();
    for (std::size_t d = 0; d < blend.size(); ++d)
        sheet.add_product(fmt::format("blend[{0}] * W_o[{0}, {1}]", d, cell.column), blend[d],
                          cell.c.w_o(d, cell.column));
    return sheet.sum();
}

double work_other_heads(Cell const& cell, Sheet& sheet) {
    if (head_count(cell) == 1) {
        sheet.says = "The block has one head, so that no other one adds anything: 0.";
        return sheet.note("nothing to add", 0);
    }
    sheet.says = "What each other head of the block adds at this place.";
    sheet.start_sum();
    for (std::size_t head = 0; head < head_count(cell); ++head)
        if (head != cell.c.head) sheet.add(fmt::format("head {}", head), other_output(cell, head));
    return sheet.sum();
}

double work_projection_bias(Cell const& cell, Sheet& sheet) {
    sheet.says =
        fmt::format("It is learned, and lies in the file in tensor h.{}.attn.c_proj.bias, number {}.",
                    cell.trace.facts.layer, cell.column);
    return sheet.note(fmt::format("b_o[{}]", cell.column), cell.c.b_o(cell.column));
}

double work_residual_after(Cell const& cell, Sheet& sheet) {
    sheet.says =
        "The row as it arrived, plus what every head adds, in head order, plus the bias, in one sum.";
    double const mine = cell.trace[terms::output_projection](cell.row, cell.column);
    sheet.start_sum("residual", cell.trace[terms::residual](cell.row, cell.column));
    for (std::size_t head = 0; head < head_count(cell); ++head)
        if (head == cell.c.head)
            sheet.add(fmt::format("head {}, this one", head), mine);
        else
            sheet.add(fmt::format("head {}", head), other_output(cell, head));
    sheet.add(fmt::format("b_o[{}]", cell.column), cell.c.b_o(cell.column));
    return sheet.sum();
}

// Each step beside the function that works it out.
struct Work {
    Term term;
    double (*work)(Cell const& cell, Sheet& sheet);
};

constexpr std::array works{
    Work{terms::token_embedding, work_token_embedding},
    Work{terms::position_embedding, work_position_embedding},
    Work{terms::residual, work_residual},
    Work{terms::normalized, work_normalized},
    Work{terms::q, work_q},
    Work{terms::k, work_k},
    Work{terms::v, work_v},
    Work{terms::scores, work_scores},
    Work{terms::scaled_scores, work_scaled_scores},
    Work{terms::masked_scores, work_masked_scores},
    Work{terms::softmax, work_softmax},
    Work{terms::blend, work_blend},
    Work{terms::output_projection, work_output_projection},
    Work{terms::other_heads, work_other_heads},
    Work{terms::projection_bias, work_projection_bias},
    Work{terms::residual_after, work_residual_after},
};
static_assert(std::ranges::equal(
                  works, terms::all, {}, [](Work const& work) { return work.term.number; },
                  [](Term const& term) { return term.number; }),
              "a step lacks the function that works it out");

double work_step(Cell const& cell, Term const& term, Sheet& sheet) {
    auto const* const found = std::ranges::find(works, term, &Work::term);
    return found->work(cell, sheet);
}

}  // namespace

}  // namespace onehead
