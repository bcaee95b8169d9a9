// The tables of a trace, read back: a step's numbers to the bit, and the tokens with their bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

// NN_step.csv as a matrix [rows, columns]. Throws an Error that names line and column where the file is not
// the table of this step for these tokens.
Matrix read_step_csv(std::filesystem::path const& path, Term const& term, Tokens const& tokens,
                     std::size_t rows, std::size_t columns);

// tokens.csv. Throws an Error where it disagrees with the ids.
Tokens read_tokens_csv(std::filesystem::path const& path, std::vector<int> const& ids);

}  // namespace onehead
