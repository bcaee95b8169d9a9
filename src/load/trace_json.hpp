// What trace.json says about a trace: the facts of its run, its tokens, and for each step its shape and the
// file that holds its numbers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace onehead {

struct StepFile {
    Term term;
    std::string formula;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::string file;  // its name in the folder; empty if no file holds the exact numbers
};

struct TraceJson {
    Facts facts;
    std::vector<int> token_ids;
    std::vector<StepFile> steps;  // in the order of their numbers
};

// Throws an Error that names the key that is missing or wrong. Shapes fit the tokens and the facts, and files
// are named as their steps are.
TraceJson read_trace_json(std::filesystem::path const& path);

}  // namespace onehead
