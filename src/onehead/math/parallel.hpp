// Splits work among threads. Each value is computed by one thread, from the same numbers in the same order,
// so that the number of threads changes no bit. Work that is split already is not split again.
#pragma once

#include <cstddef>
#include <functional>

namespace onehead {

// How many threads are used from now on; by default as many as the machine has processors.
void set_thread_count(std::size_t count);
std::size_t thread_count();

// Calls work(first, last) on pieces of [0, count) that cover it, at the same time. A piece holds at least
// `smallest` of them.
void for_ranges(std::size_t count, std::size_t smallest,
                std::function<void(std::size_t, std::size_t)> const& work);

// Calls work(i) for each row of so many values; on several threads if there are values enough.
void for_rows(std::size_t rows, std::size_t values_a_row, std::function<void(std::size_t)> const& work);

// Calls work(i) for each task, of which each takes far longer than starting a thread: a thread that is done
// with one takes the next.
void for_tasks(std::size_t count, std::function<void(std::size_t)> const& work);

}  // namespace onehead
