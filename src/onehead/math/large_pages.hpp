// Memory comes from the system in pages of 4 kB, and being given a page takes longer than filling it with
// numbers. In pages of 2 MB a large trace takes half the time.
#pragma once

namespace onehead {

// From now on memory comes in large pages, and goes back to the system only when the program ends. To be
// called first of all. No effect where the system has none, or does not lend its address space freely.
void use_large_pages();

}  // namespace onehead
