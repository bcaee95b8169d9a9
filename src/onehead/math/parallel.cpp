#include "onehead/math/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace onehead {

namespace {

std::size_t& wanted_threads() {
    static std::size_t count = std::max(1U, std::thread::hardware_concurrency());
    return count;
}

bool& is_split_already() {
    thread_local bool split = false;
    return split;
}

// Says until the end of the scope that this thread works on a piece.
class OnAPiece {
public:
    OnAPiece() : before_(std::exchange(is_split_already(), true)) {}
    ~OnAPiece() { is_split_already() = before_; }
    OnAPiece(OnAPiece const&) = delete;
    OnAPiece(OnAPiece&&) = delete;
    OnAPiece& operator=(OnAPiece const&) = delete;
    OnAPiece& operator=(OnAPiece&&) = delete;

private:
    bool before_;
};

// Calls work(0), work(1), ... at the same time, each on a thread of its own, the first on this one.
void at_once(std::size_t count, std::function<void(std::size_t)> const& work) {
    auto const marked = [&work](std::size_t i) {
        OnAPiece const mark;
        work(i);
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < count; ++i) others.push_back(std::async(std::launch::async, marked, i));
    marked(0);
    for (auto& other : others) other.get();
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
    if (pieces == 1 || is_split_already()) return work(0, count);
    auto const begin = [&](std::size_t piece) { return piece * count / pieces; };
    at_once(pieces, [&](std::size_t piece) { work(begin(piece), begin(piece + 1)); });
}

void for_rows(std::size_t rows, std::size_t values_a_row, std::function<void(std::size_t)> const& work) {
    constexpr std::size_t worth_a_thread = 50'000;  // values
    for_ranges(rows, worth_a_thread / std::max<std::size_t>(1, values_a_row) + 1,
               [&](std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) work(i);
               });
}

void for_tasks(std::size_t count, std::function<void(std::size_t)> const& work) {
    std::atomic<std::size_t> next = 0;
    for_ranges(std::min(count, thread_count()), 1, [&](std::size_t, std::size_t) {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    });
}

}  // namespace onehead
