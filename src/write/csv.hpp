// A step as CSV (RFC 4180, UTF-8, LF): a row a position, its numbers in the shortest form that reads back to
// the same float.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.hpp"
#include "write/file.hpp"

namespace onehead {

// pos,token_id,token, then d0, d1, ... or, where the columns are positions, key0 'The', key1 ' cat', ...
void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out);

// query_pos,query,key_pos,key,value: a line for each cell of a step whose rows and columns are positions, as
// plotting libraries like it.
std::string tidy_csv(Step const& step, Tokens const& tokens);

// pos,token_id,token,bytes (in hex).
std::string tokens_csv(Tokens const& tokens);

// A field, in double quotes if it needs them.
std::string csv_field(std::string_view text);

}  // namespace onehead
