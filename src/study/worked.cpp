#include "study/worked.hpp"

#include <fmt/format.h>
#include <array>
#include <bit>
#include <cstdint>

#include "error.hpp"
#include "study/sheet.hpp"

namespace onehead {
namespace {

// In the order of the terms' numbers.
constexpr std::array works{
    work_token_embedding,
    work_position_embedding,
    work_residual,
    work_normalized,
    work_q,
    work_k,
    work_v,
    work_scores,
    work_scaled_scores,
    work_masked_scores,
    work_softmax,
    work_blend,
    work_output_projection,
    work_other_heads,
    work_projection_bias,
    work_residual_after,
};
static_assert(works.size() == terms::all.size());

void expect_below(std::size_t value, std::size_t limit, Term const& term, std::string_view what) {
    if (value < limit) return;
    throw UsageError(fmt::format("worked: {} has no {} {}; choose one from 0 to {}", file_stem(term), what,
                                 value, limit - 1));
}

Matrix const& values_of(Trace const& trace, Term const& term) {
    if (auto const* const step = trace.find(term)) return step->values;
    throw UsageError(
        fmt::format("worked: this trace has no step {}: {}", file_stem(term),
                    trace.facts.left_out.empty() ? "only layer 0 has embeddings" : trace.facts.left_out));
}

}  // namespace

bool Worked::agrees() const {
    return std::bit_cast<std::uint32_t>(result) == std::bit_cast<std::uint32_t>(in_trace);
}

Worked work_out(Case const& c, Trace const& trace, Term const& term, std::size_t row, std::size_t column) {
    Matrix const& values = values_of(trace, term);
    expect_below(row, row_count(values), term, "row");
    expect_below(column, column_count(values), term, "column");
    Sheet sheet;
    double const exact = works.at(static_cast<std::size_t>(term.number) - 1)({c, trace, row, column}, sheet);
    auto const rounded = static_cast<float>(exact);
    if (sheet.lines().back().value != rounded || sheet.lines().back().running)
        sheet.note("rounded to float32", exact, {}, rounded);
    return {term, row, column, sheet.says, sheet.lines(), rounded, values(row, column)};
}

}  // namespace onehead
