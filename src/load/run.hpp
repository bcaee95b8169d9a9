// From what a person asks for (a text, a layer, a head) to a Case, and from there to a Trace with the facts
// about it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "head/case.hpp"
#include "load/arriving.hpp"
#include "load/model.hpp"
#include "trace/trace.hpp"

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

}  // namespace onehead
