#include "onehead/math/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
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

// Threads that wait for work: starting one takes as long as a small product does.
class Crew {
public:
    Crew() = default;
    ~Crew() {
        begin_turn(nullptr);
        for (std::thread& thread : threads_) thread.join();
    }
    Crew(Crew const&) = delete;
    Crew(Crew&&) = delete;
    Crew& operator=(Crew const&) = delete;
    Crew& operator=(Crew&&) = delete;

    // Calls work(0), work(1), ... at the same time, each on a thread of its own, the first on this one.
    void at_once(std::size_t count, std::function<void(std::size_t)> const& work) {
        std::scoped_lock const one_at_a_time{whole_turn_};
        while (threads_.size() + 1 < count)
            threads_.emplace_back(&Crew::wait_for_work, this, threads_.size() + 1, turn_);
        errors_.assign(count, nullptr);
        begin_turn(&work);
        do_piece(0);
        std::unique_lock lock{mutex_};
        done_.wait(lock, [&] { return working_ == 0; });
        for (auto const& error : errors_)
            if (error) std::rethrow_exception(error);
    }

private:
    void begin_turn(std::function<void(std::size_t)> const* work) {
        {
            std::scoped_lock const lock{mutex_};
            work_ = work;
            working_ = threads_.size();
            ++turn_;
        }
        begun_.notify_all();
    }

    void do_piece(std::size_t piece) {
        if (piece >= errors_.size()) return;
        bool const before = std::exchange(is_split_already(), true);
        try {
            (*work_)(piece);
        } catch (...) {
            errors_[piece] = std::current_exception();
        }
        is_split_already() = before;
    }

    void wait_for_work(std::size_t piece, std::size_t turn) {
        for (;; ++turn) {
            {
                std::unique_lock lock{mutex_};
                begun_.wait(lock, [&] { return turn_ != turn; });
            }
            if (work_ == nullptr) return;
            do_piece(piece);
            std::scoped_lock const lock{mutex_};
            if (--working_ == 0) done_.notify_one();
        }
    }

    std::mutex whole_turn_;
    std::mutex mutex_;  // for what follows
    std::condition_variable begun_, done_;
    std::size_t turn_ = 0;     // one more whenever there is work
    std::size_t working_ = 0;  // threads that are not done with it
    std::function<void(std::size_t)> const* work_ = nullptr;
    std::vector<std::exception_ptr> errors_;  // of each piece
    std::vector<std::thread> threads_;
};

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
    static Crew crew;
    crew.at_once(pieces, [&](std::size_t piece) { work(begin(piece), begin(piece + 1)); });
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
