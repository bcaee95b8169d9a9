#include "write/formats.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <sstream>

#include "error.hpp"
#include "write/csv.hpp"
#include "write/json.hpp"
#include "write/npy.hpp"
#include "write/text.hpp"

namespace onehead {
namespace {

std::vector<OutputFile> text_files(Trace const& trace) {
    return {{"trace.txt", [&](Sink const& out) { out(trace_text(trace)); }}};
}

std::vector<OutputFile> csv_files(Trace const& trace) {
    std::vector<OutputFile> files{{"tokens.csv", [&](Sink const& out) { out(tokens_csv(trace.tokens)); }}};
    for (Step const& step : trace.steps())
        files.push_back({file_stem(step.term) + ".csv",
                         [&](Sink const& out) { write_step_csv(step, trace.tokens, out); }});
    return files;
}

std::vector<OutputFile> npy_files(Trace const& trace) {
    std::vector<OutputFile> files;
    for (Step const& step : trace.steps())
        files.push_back({file_stem(step.term) + ".npy", [&](Sink const& out) { out(npy(step.values)); }});
    return files;
}

constexpr std::array table{
    Format{"text", "trace.txt, a page to read", text_files},
    Format{"csv", "a table for each step, and tokens.csv", csv_files},
    Format{"npy", "an array for each step, for numpy.load", npy_files},
};

Format find_format(std::string const& name) {
    auto const* const found =
        std::find_if(table.begin(), table.end(), [&](Format const& f) { return f.name == name; });
    if (found != table.end()) return *found;
    std::string names;
    for (Format const& format : table) names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    throw UsageError(
        fmt::format("--format {}: there is no such format; choose from {}, joined by commas", name, names));
}

// Whether writing it takes longer than starting a thread.
bool is_long(Trace const& trace) {
    std::size_t values = 0;
    for (Step const& step : trace.steps()) values += step.values.size();
    return values > 50'000;
}

}  // namespace

std::span<Format const> formats() {
    return table;
}

std::vector<Format> find_formats(std::string_view names) {
    std::vector<Format> found;
    std::istringstream list{std::string{names}};
    for (std::string name; std::getline(list, name, ',');) found.push_back(find_format(name));
    if (found.empty()) return {find_format("")};
    return found;
}

void write_trace(std::filesystem::path const& folder, Trace const& trace, std::vector<Format> const& wanted) {
    std::vector<OutputFile> files;
    for (Format const& format : wanted)
        for (OutputFile& file : format.files(trace)) files.push_back(std::move(file));
    std::vector<std::string> names;
    names.reserve(files.size() + 1);
    for (OutputFile const& file : files) names.push_back(file.name);
    files.push_back({"trace.json", [&](Sink const& out) { out(trace_json(trace, names)); }});
    write_folder(folder, files, is_long(trace));
}

}  // namespace onehead
