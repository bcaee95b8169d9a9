#include "write/trace_files.hpp"

#include <unistd.h>
#include <set>
#include <system_error>

#include "trace/terms.hpp"

namespace onehead {
namespace {

std::set<std::string> names_of_a_trace() {
    std::set<std::string> names{"tokens.csv", "trace.txt", "trace.html", "trace.json", "pattern.svg"};
    for (Term const& term : terms::all)
        for (char const* const ending : {".csv", ".npy", ".tidy.csv"}) names.insert(file_stem(term) + ending);
    return names;
}

std::set<std::string> const& all_names() {
    static auto const names = names_of_a_trace();
    return names;
}

}  // namespace

bool is_trace_file(std::string const& name) {
    return all_names().contains(name);
}

void remove_trace(std::filesystem::path const& folder) {
    for (std::string const& name : all_names()) ::unlink((folder / name).c_str());
    ::rmdir(folder.c_str());
}

}  // namespace onehead
