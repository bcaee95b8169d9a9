// Numbers of the rows that the head reads and of what it makes of them, worked out: embeddings, residual,
// LayerNorm, query, key and value.
#include <fmt/format.h>
#include <cmath>

#include "study/sheet.hpp"

namespace onehead {
namespace {

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
    LayerNorm const& ln = cell.c.block.ln_1;
    Scale scale{ln.epsilon, ln.gain(cell.column)};
    if (cell.trace.facts.experiment != "unbiased-variance") return scale;
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

}  // namespace

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
    if (cell.trace.facts.experiment == "raw-row") {
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
    double const spread_1 = sheet.note("divided by the root", centred, root, centred / root);
    double const gained = sheet.note("times gain", spread_1, gain, spread_1 * gain);
    double const bias = cell.c.block.ln_1.bias(cell.column);
    return sheet.note("plus bias", gained, bias, gained + bias);
}

double work_q(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'q', cell.c.w.w_q, cell.c.w.b_q);
}

double work_k(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'k', cell.c.w.w_k, cell.c.w.b_k);
}

double work_v(Cell const& cell, Sheet& sheet) {
    return work_projection(cell, sheet, 'v', cell.c.w.w_v, cell.c.w.b_v);
}

}  // namespace onehead
