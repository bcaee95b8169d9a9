#include "onehead/study/survey.hpp"

#include <cmath>
#include <limits>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/model/run.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

// A mean over those rows for which there was something to measure; NaN if there was none.
class Mean {
public:
    void add(double value) { sum_ += value, ++count_; }
    double value() const { return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / count_; }

private:
    double sum_ = 0;
    double count_ = 0;
};

// Row i's weight on earlier rows with the same token, moved on by `step` rows (1: what followed them). Rows
// from i on do not count.
void add_weight_on_repeats(Mean& mean, Matrix const& pattern, std::vector<int> const& ids, std::size_t i,
                           std::size_t step) {
    double weight = 0;
    bool repeats = false;
    for (std::size_t j = 0; j + step < i; ++j)
        if (ids[j] == ids[i]) {
            weight += pattern(i, j + step);
            repeats = true;
        }
    if (repeats) mean.add(weight);
}

void find_strongest_pair(HeadSurvey& survey, Matrix const& pattern) {
    survey.strongest = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 2; i < row_count(pattern); ++i)
        for (std::size_t j = 1; j < i; ++j)
            if (std::isnan(survey.strongest) || pattern(i, j) > survey.strongest) {
                survey.query = i;
                survey.key = j;
                survey.strongest = pattern(i, j);
            }
}

}  // namespace

HeadSurvey survey_head(Matrix const& scores, Matrix const& pattern, std::vector<int> const& ids) {
    Mean self, previous, first, induction, duplicate, entropy, effective_rows;
    for (std::size_t i = 1; i < row_count(pattern); ++i) {
        self.add(pattern(i, i));
        previous.add(pattern(i, i - 1));
        first.add(pattern(i, 0));
        add_weight_on_repeats(induction, pattern, ids, i, 1);
        add_weight_on_repeats(duplicate, pattern, ids, i, 0);
        PatternRow const whole = describe_pattern_row(row(pattern, i));
        entropy.add(whole.entropy);
        effective_rows.add(whole.effective_rows);
    }
    HeadSurvey survey{.self = self.value(),
                      .previous = previous.value(),
                      .first = first.value(),
                      .induction = induction.value(),
                      .duplicate = duplicate.value(),
                      .entropy = entropy.value(),
                      .effective_rows = effective_rows.value(),
                      .score_deviation = deviation_of_scores(scores)};
    find_strongest_pair(survey, pattern);
    return survey;
}

std::vector<HeadSurvey> survey_block(Matrix const& residual, AttentionWeights const& block, std::size_t layer,
                                     std::vector<int> const& ids, SeePattern const& see) {
    std::vector<HeadSurvey> surveys;
    for (Views const& head : read_all_heads(residual, block)) {
        Matrix const scores = dot_rows(head.q, head.k);                   // [query_pos, key_pos]
        Matrix const pattern = pattern_of(scores, column_count(head.q));  // [query_pos, key_pos]
        surveys.push_back(survey_head(scores, pattern, ids));
        surveys.back().layer = layer;
        surveys.back().head = surveys.size() - 1;
        if (see) see(surveys.back(), pattern);
    }
    return surveys;
}

std::vector<HeadSurvey> survey_model(Matrix residual, std::size_t n_layer, Blocks const& blocks,
                                     std::vector<int> const& ids, SeePattern const& see) {
    std::vector<HeadSurvey> all;
    for (std::size_t layer = 0; layer < n_layer; ++layer) {
        AttentionWeights const block = blocks.attention(layer);
        for (HeadSurvey const& head : survey_block(residual, block, layer, ids, see)) all.push_back(head);
        if (layer + 1 < n_layer) residual = after_mlp(after_attention(residual, block), blocks.mlp(layer));
    }
    return all;
}

std::vector<HeadSurvey> survey_heads(Model const& model, std::vector<int> const& ids,
                                     std::optional<std::size_t> layer, SeePattern const& see) {
    if (!model.own_tokens().empty()) layer = model.layers().front();  // an excerpt has one layer
    if (!layer)
        return survey_model(first_rows(model, ids), model.config().n_layer, blocks_of(model), ids, see);
    return survey_block(arriving_rows(model, ids, *layer), model.attention(*layer), *layer, ids, see);
}

double deviation_of_scores(Matrix const& scores) {
    std::vector<float> visible;
    for (std::size_t i = 0; i < row_count(scores); ++i) {
        auto const seen = row(scores, i).first(i + 1);
        visible.insert(visible.end(), seen.begin(), seen.end());
    }
    return standard_deviation(visible);
}

}  // namespace onehead
