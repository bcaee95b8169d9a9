// A trace as it lies on disk, read back: the same tokens and facts, and the same numbers to the bit.
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace onehead {

// Without tokens.csv (a trace of .npy files alone) the tokens have ids but no bytes. Throws an Error that
// names the file and the place in it if the folder is not a whole trace of ours, unchanged in its form, and
// says what to do where a trace holds no exact numbers.
Trace read_trace(std::filesystem::path const& folder);

}  // namespace onehead
