#include "math/parallel.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace onehead {
namespace {

std::size_t& wanted_threads() {
    static std::size_t count = std::max(1U, std::thread::hardware_concurrency());
    return count;
}

}  // namespace

void set_thread_count(std::size_t count) {
    wanted_threads() = std::max<std::size_t>(1, count);
}

std::size_t thread_count() {
    return wanted_threads();
}

void for_ranges(std::size_t count, std::size_t smallest,
                std::function<void(std::size_t, std::size_t)> const& work) {
    std::size_t const pieces = std::clamp<std::size_t>(count / smallest, 1, thread_count());
    auto const begin = [&](std::size_t piece) { return piece * count / pieces; };
    std::vector<std::future<void>> others;
    for (std::size_t piece = 1; piece < pieces; ++piece)
        others.push_back(std::async(std::launch::async, work, begin(piece), begin(piece + 1)));
    work(begin(0), begin(1));
    for (auto& other : others) other.get();
}

}  // namespace onehead
