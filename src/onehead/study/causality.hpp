// What a changed word may change, and what it did. A row is computed from itself and the rows before it: when
// the tokens at some positions change, everything before the first of them has to keep its bits, and in layer
// 0 even the later rows keep theirs until attention brings them the news. How far a change may reach in a
// step is in the step's entry in trace/terms.
//
// Appended words are positions that changed from nothing: the same holds for them, position embeddings of new
// rows included.
#pragma once

#include <cstddef>
#include <vector>

#include "onehead/study/compare.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

struct Change {
    std::vector<bool> at;       // [pos] of the text after the change: whether another token stands there
    std::size_t before = 0;     // how many tokens the text had before
    std::size_t first() const;  // the first position that changed; the length of the text if none did
};

// Throws a UsageError if the two texts differ in more than words that were replaced by as many tokens, or
// appended: when positions shift, no row corresponds to any other.
Change find_change(Tokens const& before, Tokens const& after);

// Whether a cell of a step may change, in a head of that layer.
bool may_change(Term const& term, std::size_t layer, Change const& change, std::size_t row,
                std::size_t column);

// One row of one step, before and after.
struct RowVerdict {
    Difference allowed;    // over the cells that may change
    Difference forbidden;  // over those that must keep their bits
    bool is_new = false;   // the row was appended: there is nothing to compare it with

    bool identical() const { return !is_new && allowed.same() && forbidden.same(); }
    bool broken() const { return !forbidden.same(); }
};

struct StepVerdict {
    Term term;
    std::vector<RowVerdict> rows;
};

struct Causality {
    Change change;
    std::vector<StepVerdict> steps;

    bool holds() const;  // nothing changed where it must not
};

// Holds every cell of two runs of one head against the table. Throws a UsageError if they are not runs of one
// head in the same way.
Causality check_causality(Trace const& before, Trace const& after);

}  // namespace onehead
