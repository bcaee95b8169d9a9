// Each instruction set of the kernel that this processor has.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <functional>

#include "onehead/math/kernel.hpp"

namespace onehead::test {

// Calls `work` while each of them is in use; then the best is in use again.
inline void with_each_kernel(std::function<void(Kernel const&)> const& work) {
    for (Kernel const& kernel : kernels()) {
        if (kernel.runs_here()) {
            use_kernel(kernel);
            work(kernel);
        } else {
            fmt::print(stderr, "kernel {} does not run on this processor\n", kernel.name);
        }
    }
    use_kernel(*std::ranges::find_if(kernels(), [](Kernel const& kernel) { return kernel.runs_here(); }));
}

}  // namespace onehead::test
