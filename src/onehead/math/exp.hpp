// The exponential, in a fixed order of operations: the C library's differs in its last bit from one system to
// another, and with it every softmax.
#pragma once

#include <span>

namespace onehead {

// e to the power of x, within 1 unit in the last place. 0 below -708 (where a double loses its precision),
// infinity above 709.
double exponential(double x);

// Each value x becomes exponential(x), to the same bits; several are worked out side by side.
void exponentials(std::span<double> values);

}  // namespace onehead
