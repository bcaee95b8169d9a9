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

}  // namespace

bool is_trace_file(std::string const& name) {
    static auto const names = names_of_a_trace();
    return names.contains(name);
}

void remove_trace(std::filesystem::path const& folder) {
    std::error_code error;
    std::filesystem::directory_iterator const all{folder, error};
    for (auto entry = begin(all); !error && entry != end(all); entry.increment(error))
        if (is_trace_file(entry->path().filename().string())) ::unlink(entry->path().c_str());
    ::rmdir(folder.c_str());
}

}  // namespace onehead
