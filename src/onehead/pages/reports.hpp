// What the other commands have to say, each as a document: two runs, a changed word, one number worked out,
// the heads of a model, the vocabulary.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/pages/document.hpp"
#include "onehead/study/causality.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/study/next.hpp"
#include "onehead/study/survey.hpp"
#include "onehead/study/worked.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// Two runs of one text: both patterns side by side, where they differ, and the tables that compare them.
Document compare_report(Trace const& a, Trace const& b, Comparison const& comparison);

// step,largest_difference,row,column,bit_identical,values
std::string comparison_csv(Comparison const& comparison);

// What a changed word moved: a line for each step, a column for each row of the trace. A cell is "=" where
// every bit is the same; a number, the largest change among the cells that may change; "new" for a row that
// was not there; "!" with a number for a change where nothing may change.
Document causality_report(Trace const& before, Trace const& after, Causality const& causality);
Table causality_table(Causality const& causality, Tokens const& after);

// One number worked out: its terms with the running sum, and the number in the trace. Of a long working only
// the first and last lines are shown: `most` of them in all.
Document worked_report(Worked const& worked, std::size_t most);

// what,left,right,value,running_sum: every line, in the shortest form that reads back to the same double.
std::string working_csv(Worked const& worked);

// Every head in figures, to find the one that is worth tracing.
Document heads_report(std::vector<HeadSurvey> const& heads, Tokens const& tokens, std::string const& model,
                      std::string const& text, bool with_worth = false);
std::string heads_csv(std::vector<HeadSurvey> const& heads, Tokens const& tokens, bool with_worth = false);

// "After row 5 ' mat' the model expects ' and', with probability .11." `top`: the token of worth.top.
Inline worth_sentence(Worth const& worth, Token const& top, Tokens const& tokens);

// What each head is worth to the next token, as a grid of layers and heads.
Picture worth_picture(std::vector<HeadSurvey> const& heads);

// The column of that name, to sort by; nullptr if there is none. And all their names.
double HeadSurvey::*heads_column(std::string_view name, bool with_worth = false);
std::string heads_columns(bool with_worth = false);

// The token that comes next; with an experiment, as it is and with it. `likely`: the tokens of next.likely,
// in that order.
Document next_report(Facts const& facts, Tokens const& tokens, std::string const& experiment,
                     Next const& next, Tokens const& likely);

// token_id,token,probability and, with an experiment, changed: float32 in shortest digits.
std::string next_csv(Next const& next, Tokens const& likely);

// The vocabulary: what each step is called here, what it is, and its names elsewhere. `layer` is what stands
// for the layer in names from elsewhere: "L", "3".
Document glossary(std::string_view layer);
Document glossary_table(std::string_view layer);  // the same as one table

}  // namespace onehead
