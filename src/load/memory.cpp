#include "load/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "error.hpp"

namespace onehead {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t megabyte = 1'000'000;

// The number at the beginning of a small file; no limit where there is none ("max").
std::uint64_t number_in(fs::path const& path) {
    std::ifstream file{path};
    std::uint64_t number = 0;
    return file >> number ? number : no_limit;
}

// MemAvailable in /proc/meminfo, which is in kB.
std::uint64_t of_the_machine() {
    std::ifstream file{"/proc/meminfo"};
    for (std::string word; file >> word;)
        if (std::uint64_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes)
            return 1024 * kilobytes;
    return no_limit;
}

// The least of the limits of this process's control group and those around it.
std::uint64_t of_the_group() {
    std::ifstream file{"/proc/self/cgroup"};
    std::uint64_t least = no_limit;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("0::/")) continue;
        for (fs::path group = line.substr(4);; group = group.parent_path()) {
            least = std::min(least, number_in("/sys/fs/cgroup" / group / "memory.max"));
            if (group.empty()) break;
        }
    }
    return least;
}

std::uint64_t of_the_process() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
    std::uint64_t const pages = number_in("/proc/self/statm");
    std::uint64_t const taken = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, taken);
}

}  // namespace

std::uint64_t memory_of_run(Config const& config, std::size_t n_seq) {
    std::uint64_t const n = n_seq;
    std::uint64_t const d = config.d_model;
    std::uint64_t const rows = n * d * (config.n_head + 16);         // steps, outputs of heads, q, k and v
    std::uint64_t const hidden = n * config.d_mlp * 2;               // of an MLP below
    std::uint64_t const pairs = n * n * 5;                           // scores to softmax
    std::uint64_t const weights = 8 * d * d + 2 * d * config.d_mlp;  // of a block, and its heads' share
    std::uint64_t const text = std::max(n, d) * n * 16;              // one table as CSV, in bytes
    return sizeof(float) * (rows + hidden + pairs + weights) + text;
}

std::uint64_t available_memory() {
    return std::min({of_the_machine(), of_the_group(), of_the_process()});
}

void expect_memory(Config const& config, std::size_t n_seq) {
    std::uint64_t const needed = memory_of_run(config, n_seq);
    std::uint64_t const available = available_memory();
    if (needed <= available) return;
    throw Error(
        fmt::format("a text of {} tokens at d_model {} and {} heads: expected to need {} MB of memory, found "
                    "{} MB available: "
                    "take a shorter text, or a machine with more memory",
                    n_seq, config.d_model, config.n_head, needed / megabyte + 1, available / megabyte));
}

}  // namespace onehead
