// A stretch of the heap is asked for, marked as one that wants large pages, and handed to malloc. What is
// never touched of it takes no memory.
#include "onehead/math/large_pages.hpp"

#include <cstdlib>  // which says whether this is glibc

#if defined(__GLIBC__) && !defined(ONEHEAD_PLAIN_SYSTEM)
#include <malloc.h>
#include <sys/mman.h>
#include <cstddef>
#include <cstdint>
#endif

namespace onehead {

void use_large_pages() {
#if defined(__GLIBC__) && !defined(ONEHEAD_PLAIN_SYSTEM)
    constexpr std::size_t large_page = std::size_t{2} << 20U;
    constexpr std::size_t stretch = std::size_t{1} << 30U;
    mallopt(M_MMAP_MAX, 0);         // everything on the heap,
    mallopt(M_ARENA_MAX, 1);        // one for all threads,
    mallopt(M_TRIM_THRESHOLD, -1);  // which does not shrink
    void* const heap = std::malloc(stretch);
    if (heap == nullptr) return;
    std::size_t const skipped = -reinterpret_cast<std::uintptr_t>(heap) % large_page;
    madvise(static_cast<std::byte*>(heap) + skipped, stretch - large_page, MADV_HUGEPAGE);
    std::free(heap);
    // What lies before the first large page stays unused.
    [[maybe_unused]] static void const* const unused = std::malloc(skipped);
#endif
}

}  // namespace onehead
