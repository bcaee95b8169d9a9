// A trace as a folder: what stands in each file, written and read back. The same tokens and facts come back,
// and the same numbers to the bit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onehead/io/file.hpp"
#include "onehead/io/folder.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

// Reads a folder back, one whole trace also while another run replaces it. Throws an Error that names the
// file and the place in it if the folder is not a trace of ours, unchanged in its form, and says what to do
// where it holds no exact numbers.
Trace read_trace(std::filesystem::path const& folder);

// What may be replaced by a trace: a folder whose trace.json has our schema, with nothing but files of a
// trace in it.
extern FolderKind const trace_folder;

// What trace.json says where the folder is a lesson's.
struct LessonFacts {
    std::string name;      // "2_scores"
    std::string title;     // "2: score the query against every key"
    std::string question;  // what it answers
    std::vector<std::pair<std::string, std::string>>
        pages;  // beside the lesson's own: a file, and what it shows
};

// trace.json: what a program needs to know of a trace. `files`: the names of all that is written beside it.
std::string trace_json(Trace const& trace, std::vector<std::string> const& files,
                       std::optional<LessonFacts> const& lesson = {});

// What it says of a lesson; nothing if it is of something else.
std::optional<LessonFacts> lesson_in_trace_json(std::string const& text);

struct StepFile {
    Term term;
    std::string formula;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::string file;  // its name in the folder; empty if no file holds the exact numbers
};

struct TraceJson {
    Facts facts;
    Tokens tokens;                // without bytes if version 0.1.0 wrote it
    std::vector<StepFile> steps;  // in the order of their numbers
};

// Throws an Error that names the key that is missing or wrong. Shapes fit the tokens and the facts, and files
// are named as their steps are. `name` is the file's, for messages.
TraceJson parse_trace_json(std::string const& text, std::string const& name);

// A step as CSV (RFC 4180, UTF-8, LF): one line per row, its numbers in the shortest form that reads back to
// the same float. Columns are pos,token_id,token, then d0, d1, ... or, where they are positions, key0 'The',
// key1 ' cat', ...
void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out);

// [rows, columns]. Throws an Error that names line and column where it is not the table of this step for
// these tokens.
Matrix parse_step_csv(std::string text, std::string const& name, Term const& term, Tokens const& tokens,
                      std::size_t rows, std::size_t columns);

// query_pos,query,key_pos,key,value: a line for each cell of a step whose rows and columns are positions, as
// plotting libraries like it.
std::string tidy_csv(Step const& step, Tokens const& tokens);

// pos,token_id,token,bytes.
std::string tokens_csv(Tokens const& tokens);
Tokens parse_tokens_csv(std::string text, std::string const& name, std::vector<int> const& ids);

// Bytes as text that no reader takes for a number: "\x20\x63\x61\x74".
std::string escaped_bytes(std::string_view bytes);

// A field, in double quotes if it needs them.
std::string csv_field(std::string_view text);

}  // namespace onehead
