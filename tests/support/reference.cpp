#include "support/reference.hpp"

#include <cmath>
#include <limits>

namespace onehead::test {
namespace {

// Columns [first, first + count) of rows that are `width` wide.
Values columns(Values const& all, std::size_t width, std::size_t first, std::size_t count) {
    Values cut;
    for (std::size_t start = first; start < all.size(); start += width)
        cut.insert(cut.end(), all.begin() + static_cast<std::ptrdiff_t>(start),
                   all.begin() + static_cast<std::ptrdiff_t>(start + count));
    return cut;
}

Values dot_rows(Values const& q, Values const& k, std::size_t n, std::size_t d_head) {
    Values scores(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t d = 0; d < d_head; ++d)
                scores[i * n + j] += q[i * d_head + d] * k[j * d_head + d];
    return scores;
}

Values widen(Values const& z, Matrix const& w_o, std::size_t n) {
    Values output(n * column_count(w_o));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < row_count(w_o); ++k)
            for (std::size_t d = 0; d < column_count(w_o); ++d)
                output[i * column_count(w_o) + d] += z[i * row_count(w_o) + k] * w_o(k, d);
    return output;
}

}  // namespace

std::map<std::string, Values> Reference::steps(std::size_t layer, std::size_t head,
                                               AttentionWeights const& block) const {
    std::size_t const n = n_seq();
    std::size_t const d_model = column_count(block.c_proj);
    std::size_t const d_head = d_model / block.n_head;
    auto const stored = [&](std::string const& what) { return read(std::to_string(layer) + "." + what); };
    auto const third = [&](std::size_t which) {
        return columns(stored("c_attn"), 3 * d_model, which * d_model + head * d_head, d_head);
    };

    std::map<std::string, Values> steps;
    steps["normalized"] = stored("ln_1");
    steps["q"] = third(0);
    steps["k"] = third(1);
    steps["v"] = third(2);
    steps["scores"] = dot_rows(steps["q"], steps["k"], n, d_head);
    for (double const score : steps["scores"])
        steps["scaled_scores"].push_back(score / std::sqrt(static_cast<double>(d_head)));
    steps["masked_scores"] = steps["scaled_scores"];
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j)
            steps["masked_scores"][i * n + j] = -std::numeric_limits<double>::infinity();
    Values const patterns = stored("pattern");
    steps["softmax"] = {patterns.begin() + static_cast<std::ptrdiff_t>(head * n * n),
                        patterns.begin() + static_cast<std::ptrdiff_t>((head + 1) * n * n)};
    steps["blend"] = columns(stored("z"), d_model, head * d_head, d_head);
    steps["output_projection"] = widen(steps["blend"], cut_output(block.c_proj, d_head, head), n);
    steps["other_heads"] = stored("attn_out");
    for (std::size_t at = 0; at < n * d_model; ++at)
        steps["other_heads"][at] -=
            steps["output_projection"][at] + static_cast<double>(block.c_proj_bias(at % d_model));
    std::string const resid_pre = std::to_string(layer) + ".resid_pre";
    std::string const resid_mid = std::to_string(layer) + ".resid_mid";
    if (has(resid_pre)) steps["residual"] = read(resid_pre);
    if (has(resid_mid)) steps["residual_after"] = read(resid_mid);
    return steps;
}

}  // namespace onehead::test
