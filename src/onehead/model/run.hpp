// From what a person asks for (a text, a layer, a head) to a Case, and from there to a Trace with the facts
// about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/model/model.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

struct Request {
    std::optional<std::string>
        text{};  // one of the two, or neither: then the model's own, or the default text
    std::optional<std::vector<int>> token_ids{};
    std::size_t layer = 0;
    std::size_t head = 0;
    std::optional<std::size_t> row{};  // by default the last but one, so that something is masked
    std::string experiment{};          // empty: none
    std::function<void(std::size_t layer)>
        progress{};  // told each layer that is worked through below a deeper head
};

inline constexpr auto default_text = "The cat sat on the mat";

// A head on a text, ready to be traced as it is or with an experiment.
struct Run {
    Case head;
    Tokens tokens;
    Facts facts;
};

// Reads what the run touches, and computes the rows that arrive at the head. Throws a UsageError that names
// what is out of range.
Run prepare(Model const& model, Request const& request);

// Runs the head; with an experiment if its name is not empty.
Trace trace(Run const& run, std::string const& experiment);

// All of it in one, with the request's experiment.
Trace trace(Model const& model, Request const& request);

// The run's case with an experiment applied; as it is if the name is empty. Throws a UsageError for a name
// that is none, and where the run lacks what the experiment needs.
Case changed_case(Run const& run, std::string const& experiment);

// The tokens that a request means. Throws a UsageError for an empty text and one that the model cannot take.
std::vector<int> tokens_of(Model const& model, Request const& request);

// The same, where a run on them is possible: throws a UsageError if they are too many or unknown to the
// model, an Error if the run does not fit into memory.
std::vector<int> tokens_for_run(Model const& model, Request const& request);

// The row after which the next token comes: the request's, by default the last. Throws a UsageError for a row
// that the text does not have.
std::size_t row_before_next(Request const& request, std::size_t n_seq);

// What somebody may not expect of the tokens of a request, and the ids that mean the other thing.
struct TextNote {
    std::string says;
    std::vector<int> ids{};  // empty where there are none to offer
};
std::vector<TextNote> notes_on(Model const& model, Request const& request);

// The text that a file holds: one line end at its end belongs to the file.
std::string text_of_file(std::string content);

// The ids with another word at a position, or with words after them. Only the word is encoded: the ids before
// it and after it stay, whatever text they would make together. A word keeps the space before the token that
// it replaces; words follow after a space unless they bring one or begin with punctuation. Throws a
// UsageError for a position that is not there and for no word.
std::vector<int> with_changed_word(Model const& model, std::vector<int> ids, std::size_t pos,
                                   std::string word);
std::vector<int> with_appended_words(Model const& model, std::vector<int> ids, std::string words);

// The rows that arrive at layer 0, token embedding plus position embedding: [pos, d_model].
Matrix first_rows(Embedding const& embedding);
Matrix first_rows(Model const& model, std::vector<int> const& ids);

// The rows that arrive at any layer: [pos, d_model]. `progress` is told each layer that is worked through
// below it.
Matrix arriving_rows(Model const& model, std::vector<int> const& ids, std::size_t layer,
                     std::function<void(std::size_t)> const& progress = {});

// The blocks of a model, each read when it is asked for.
Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress = {});

// Whether a run fits into memory, asked before it begins: what grows with the square of the text, or with a
// large model, ends in a line that says how much it would take, not in a machine that swaps or a process that
// is killed. Throws an Error that has both numbers unless it fits.
void expect_memory(Config const& config, std::size_t n_seq);

}  // namespace onehead
