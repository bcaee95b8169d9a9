// Numbers of what the head takes home and adds, worked out: the blend, its way back to full width, and the
// sum that leaves the block's attention.
#include <fmt/format.h>

#include "study/sheet.hpp"

namespace onehead {
namespace {

// The number that each head of the block adds here, in head order without this one.
double other_output(Cell const& cell, std::size_t head) {
    std::size_t const place = head < cell.c.head ? head : head - 1;
    return cell.c.other_outputs[place](cell.row, cell.column);
}

std::size_t head_count(Cell const& cell) {
    return cell.c.other_outputs.size() + 1;
}

}  // namespace

double work_blend(Cell const& cell, Sheet& sheet) {
    std::size_t const visible = cell.c.visible[cell.row];
    sheet.says = fmt::format(
        "Number {} of every value that {} may read, each times its share of the "
        "attention; the last one is {}.",
        cell.column, token_at(cell.trace, cell.row), token_at(cell.trace, visible - 1));
    auto const weights = row(cell.trace[terms::softmax], cell.row);
    Matrix const& v = cell.trace[terms::v];
    sheet.start_sum();
    for (std::size_t j = 0; j < visible; ++j)
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
                          cell.c.w.w_o(d, cell.column));
    return sheet.sum();
}

double work_other_heads(Cell const& cell, Sheet& sheet) {
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
    return sheet.note(fmt::format("b_o[{}]", cell.column), cell.c.block.c_proj_bias(cell.column));
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
    sheet.add(fmt::format("b_o[{}]", cell.column), cell.c.block.c_proj_bias(cell.column));
    return sheet.sum();
}

}  // namespace onehead
