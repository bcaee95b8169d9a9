// From a model and token ids to the rows that arrive at a layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/model/model.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// The rows that arrive at layer 0, token embedding plus position embedding: [pos, d_model].
Matrix first_rows(Embedding const& embedding);
Matrix first_rows(Model const& model, std::vector<int> const& ids);

// The rows that arrive at any layer: [pos, d_model]. `progress` is told each layer that is worked through
// below it.
Matrix arriving_rows(Model const& model, std::vector<int> const& ids, std::size_t layer,
                     std::function<void(std::size_t)> const& progress = {});

// The blocks of a model, each read when it is asked for.
Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress = {});

Tokens describe_tokens(Model const& model, std::vector<int> const& ids);

// From what a person asks for (a text, a layer, a head) to a Case, and from there to a Trace with the facts
// about it.

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

// The tokens that a request means. Throws a UsageError for an empty text and one that the model cannot take.
std::vector<int> tokens_of(Model const& model, Request const& request);

// Reads what the run touches, and computes the rows that arrive at the head. Throws a UsageError that names
// what is out of range.
Run prepare(Model const& model, Request const& request);

// The run's case with an experiment applied; as it is if the name is empty. Throws a UsageError for a name
// that is none, and where the run lacks what the experiment needs.
Case changed_case(Run const& run, std::string const& experiment);

// Runs the head; with an experiment if its name is not empty.
Trace trace(Run const& run, std::string const& experiment);

// All of it in one, with the request's experiment.
Trace trace(Model const& model, Request const& request);

// Whether a run fits into memory, asked before it begins: what grows with the square of the text, or with a
// large model, ends in a line that says how much it would take, not in a machine that swaps or a process that
// is killed.

// About what a run on so many tokens holds at its largest, in bytes: a little more than it takes, not less.
std::uint64_t memory_of_run(Config const& config, std::size_t n_seq);

// What this process may still take: of the machine's memory what is available, at most what its group (a
// container's limit) and its own limit (ulimit -v) leave.
std::uint64_t available_memory();

// Throws an Error that has both numbers unless the run fits.
void expect_memory(Config const& config, std::size_t n_seq);

}  // namespace onehead
