// The tables that lessons show, each computed when it is asked for.
#pragma once

#include <vector>

#include "onehead/model/run.hpp"
#include "onehead/pages/document.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// Made-up queries and keys of several widths: how far scores and gaps spread, undivided and divided.
Table width_table();

// Row after row in two runs: the weight of the key that the undivided run reads most, the softmax's slope p(1
// - p) there, the rows read in effect.
Table slope_table(Trace const& divided, Trace const& undivided);

// What other masks make of one row's shares.
Table mask_table(Run const& run, std::size_t row);

// The heads of a block: what each adds to a row, and where it looks. outputs: [pos, d_model] in head order.
Table block_table(std::vector<HeadSurvey> const& heads, std::vector<Matrix const*> const& outputs,
                  std::size_t row);

// The heads of a model that stand out most in three ways.
Table kinds_table(std::vector<HeadSurvey> const& heads);

// How far the pattern is off with one mistake at a time.
Table mistakes_table(Run const& run);

}  // namespace onehead
