// A trace as it lies on disk, read back: the same tokens and facts, and the same numbers to the bit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/file.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// Without tokens.csv (a trace of .npy files alone) the tokens have ids but no bytes. Throws an Error that
// names the file and the place in it if the folder is not a whole trace of ours, unchanged in its form, and
// says what to do where a trace holds no exact numbers.
Trace read_trace(std::filesystem::path const& folder);

// What trace.json says about a trace: the facts of its run, its tokens, and for each step its shape and the
// file that holds its numbers.

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

// The tables of a trace, read back: a step's numbers to the bit, and the tokens with their bytes.

// NN_step.csv as a matrix [rows, columns]. Throws an Error that names line and column where the file is not
// the table of this step for these tokens.
Matrix read_step_csv(std::filesystem::path const& path, Term const& term, Tokens const& tokens,
                     std::size_t rows, std::size_t columns);

// tokens.csv. Throws an Error where it disagrees with the ids.
Tokens read_tokens_csv(std::filesystem::path const& path, std::vector<int> const& ids);

// What a program needs to know of a trace: the run, and for each step its file, shape, axes, formula and
// names elsewhere.

inline constexpr auto trace_schema = "onehead-trace";
inline constexpr int trace_schema_version = 1;

// files: the names of all that is written beside it.
std::string trace_json(Trace const& trace, std::vector<std::string> const& files);

// A step as CSV (RFC 4180, UTF-8, LF): a row a position, its numbers in the shortest form that reads back to
// the same float.

// pos,token_id,token, then d0, d1, ... or, where the columns are positions, key0 'The', key1 ' cat', ...
void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out);

// query_pos,query,key_pos,key,value: a line for each cell of a step whose rows and columns are positions, as
// plotting libraries like it.
std::string tidy_csv(Step const& step, Tokens const& tokens);

// pos,token_id,token,bytes (in hex).
std::string tokens_csv(Tokens const& tokens);

// A field, in double quotes if it needs them.
std::string csv_field(std::string_view text);

// Which files the folder of a trace can hold. Nothing else is ever replaced or removed.

bool is_trace_file(std::string const& name);

}  // namespace onehead
