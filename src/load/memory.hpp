// Whether a run fits into memory, asked before it begins: what grows with the square of the text, or with a
// large model, ends in a line that says how much it would take, not in a machine that swaps or a process that
// is killed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "load/config.hpp"

namespace onehead {

// About what a run on so many tokens holds at its largest, in bytes: a little more than it takes, not less.
std::uint64_t memory_of_run(Config const& config, std::size_t n_seq);

// What this process may still take: of the machine's memory what is available, at most what its group (a
// container's limit) and its own limit (ulimit -v) leave.
std::uint64_t available_memory();

// Throws an Error that has both numbers unless the run fits.
void expect_memory(Config const& config, std::size_t n_seq);

}  // namespace onehead
