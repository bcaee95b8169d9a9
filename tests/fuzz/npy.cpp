// .npy: an array that is accepted has as many numbers as its shape says, and none is read beyond the file.
#include "onehead/io/npy.hpp"

#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    fuzz::works([&] {
        Array const array = parse_npy(bytes, "a.npy");
        std::size_t count = 1;
        for (std::size_t const n : array.shape) count *= n;
        fuzz::promise(count == array.values.size());
        fuzz::promise(count * 2 < bytes.size());
    });
    return 0;
}
