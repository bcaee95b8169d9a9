#include "onehead/pages/formats.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <sstream>

#include "onehead/error.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/explore.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

using Names = std::vector<std::string>;

std::vector<OutputFile> text_files(Trace const& trace, Names const& names) {
    return {{"trace.txt", [&](Sink const& out) { out(text(trace_story(trace, names))); }}};
}

std::vector<OutputFile> csv_files(Trace const& trace, Names const& /*names*/) {
    std::vector<OutputFile> files{{"tokens.csv", [&](Sink const& out) { out(tokens_csv(trace.tokens)); }}};
    for (Step const& step : trace.steps())
        files.push_back({file_stem(step.term) + ".csv",
                         [&](Sink const& out) { write_step_csv(step, trace.tokens, out); }});
    return files;
}

std::vector<OutputFile> tidy_files(Trace const& trace, Names const& /*names*/) {
    std::vector<OutputFile> files;
    for (Step const& step : trace.steps())
        if (pairs_positions(step.term))
            files.push_back({file_stem(step.term) + ".tidy.csv",
                             [&](Sink const& out) { out(tidy_csv(step, trace.tokens)); }});
    return files;
}

std::vector<OutputFile> npy_files(Trace const& trace, Names const& /*names*/) {
    std::vector<OutputFile> files;
    for (Step const& step : trace.steps())
        files.push_back({file_stem(step.term) + ".npy", [&](Sink const& out) { out(npy(step.values)); }});
    return files;
}

std::vector<OutputFile> html_files(Trace const& trace, Names const& names) {
    return {{"trace.html", [&](Sink const& out) { out(html(trace_page(trace, names))); }}};
}

std::vector<OutputFile> svg_files(Trace const& trace, Names const& /*names*/) {
    return {{"pattern.svg", [&](Sink const& out) { out(svg_file(pattern_picture(trace))); }}};
}

constexpr std::array all_formats{
    Format{"text", "trace.txt, a page to read", text_files},
    Format{"csv", "a table for each step, and tokens.csv", csv_files},
    Format{"npy", "an array for each step, for numpy.load", npy_files},
    Format{"tidy", "one line per cell of the scores and weights, for plots", tidy_files},
    Format{"html", "trace.html, the page with pictures, for a browser", html_files},
    Format{"svg", "pattern.svg, the picture of the attention pattern", svg_files},
};

Format find_format(std::string const& name) {
    auto const* const found =
        std::find_if(all_formats.begin(), all_formats.end(), [&](Format const& f) { return f.name == name; });
    if (found != all_formats.end()) return *found;
    throw UsageError("format",
                     {.expected = format_names() + ", or several joined by commas", .found = label(name)});
}

// Whether writing it takes longer than starting a thread.
bool is_long(Trace const& trace) {
    std::size_t values = 0;
    for (Step const& step : trace.steps()) values += step.values.size();
    return values > 50'000;
}

}  // namespace

std::span<Format const> formats() {
    return all_formats;
}

std::string format_names() {
    std::string names;
    for (Format const& format : all_formats)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
    return names;
}

std::vector<Format> find_formats(std::string_view names) {
    std::vector<Format> found;
    std::istringstream list{std::string{names}};
    for (std::string name; std::getline(list, name, ',');) found.push_back(find_format(name));
    if (found.empty()) return {find_format("")};
    return found;
}

void write_trace(std::filesystem::path const& folder, Trace const& trace, std::vector<Format> const& wanted) {
    expect_tokens(trace);
    std::vector<OutputFile> files;
    std::vector<std::string> names;
    for (Format const& format : wanted)
        for (OutputFile& file : format.files(trace, names)) files.push_back(std::move(file));
    for (OutputFile const& file : files) names.push_back(file.name);
    files.push_back({"trace.json", [&](Sink const& out) { out(trace_json(trace, names)); }});
    write_folder(folder, files, trace_folder, is_long(trace));
}

}  // namespace onehead
