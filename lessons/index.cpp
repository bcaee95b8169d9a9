#include "index.hpp"

#include <fmt/format.h>
#include <set>
#include <string>

#include "error.hpp"
#include "load/file.hpp"
#include "load/trace_json.hpp"
#include "write/file.hpp"
#include "write/markup.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

// The folders at most two levels down that hold a page, in the order of their names.
std::set<fs::path> folders_with_pages(fs::path const& folder) {
    std::set<fs::path> found;
    for (auto entry = fs::recursive_directory_iterator{folder}; entry != fs::recursive_directory_iterator{};
         ++entry) {
        if (entry.depth() > 1) entry.disable_recursion_pending();
        if (entry->path().filename() == "trace.html") found.insert(entry->path().parent_path());
    }
    return found;
}

std::string line(fs::path const& folder, fs::path const& trace) {
    Facts const facts = read_trace_json(trace / "trace.json").facts;
    std::string const name = trace.lexically_relative(folder).generic_string();
    std::string const run = facts.experiment.empty() ? "" : fmt::format(", experiment {}", facts.experiment);
    return element("li",
                   fmt::format("<a href=\"{0}/trace.html\">{0}</a>: {1}, {2}, row {3}{4} "
                               "(<a href=\"{0}/trace.txt\">as text</a>)",
                               escaped(name), label_markup(facts.text), head_name(facts), facts.row, run));
}

void expect_ours(fs::path const& index) {
    constexpr std::size_t largest = 1U << 20U;
    if (fs::exists(index) && read_text(index, largest).find("content=\"onehead ") == std::string::npos)
        throw Error(fmt::format("{}: is not a list of traces, so it is not replaced; choose another --out",
                                index.string()));
}

}  // namespace

void write_index(fs::path const& folder) {
    fs::path const index = folder / "index.html";
    expect_ours(index);
    std::string list;
    for (fs::path const& trace : folders_with_pages(folder)) list += line(folder, trace);
    write_file_in_place(
        index, html_page("One attention head: the lessons",
                         element("h1", "One attention head: the lessons' traces") + element("ol", list)));
}

}  // namespace onehead
