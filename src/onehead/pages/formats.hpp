// The formats that a trace can be written in, and a trace as a folder of files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/folder.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead {

struct Format {
    std::string_view name;   // "csv"
    std::string_view gives;  // what it is good for
    // names: of all that is written beside these files, complete when their bytes are made.
    std::vector<OutputFile> (*files)(Trace const& trace, std::vector<std::string> const& names);
};

std::span<Format const> formats();
std::string format_names();  // "text, csv, ..."

// "text,csv" to formats. Throws a UsageError that lists what there is.
std::vector<Format> find_formats(std::string_view names);

// Writes trace.json and the files of each format. The trace must outlive the call.
void write_trace(std::filesystem::path const& folder, Trace const& trace, std::vector<Format> const& wanted);

}  // namespace onehead
