// A number as a shade: which of a few steps between the ends of a printed scale it falls into. Pages colour
// cells by it, in HTML and on a terminal.
#pragma once

#include <span>
#include <string>

#include "math/tensor.hpp"
#include "trace/terms.hpp"

namespace onehead {

class Scale {
public:
    // Shares [query_pos, key_pos] run from 0 in steps 0 to 8, up to about what a typical row gives to its
    // favourite: .05, .1, .2, .5 or 1.
    static Scale shares(Matrix const& pattern);

    // The one that reaches farther, for two pictures that stand side by side.
    static Scale wider(Scale const& a, Scale const& b) { return a.high_ < b.high_ ? b : a; }

    // Other numbers run from -limit to limit, in steps -4 to 4. The limit is the value that 99 of 100 of them
    // stay within, so that a few large ones do not wash out the rest.
    static Scale around_zero(std::span<float const> values);

    // What suits a step's values.
    static Scale of(Term const& term, Matrix const& values);

    // The step of a value; values beyond the ends go to the last.
    int shade(double value) const;

    // Its name in the style sheet: p0 to p8 for shares; n4 to n1, z, u1 to u4 for others.
    std::string name(double value) const { return name_of(shade(value)); }
    std::string name_of(int shade) const;

    int first() const { return is_signed() ? -4 : 0; }
    int last() const { return is_signed() ? 4 : 8; }
    double from(int shade) const;  // where a step begins

    bool is_signed() const { return low_ < 0; }
    bool cuts() const { return cuts_; }  // whether values lie beyond the ends

private:
    Scale(double low, double high, double largest) : low_(low), high_(high), cuts_(largest > high) {}

    double low_, high_;
    bool cuts_;
};

}  // namespace onehead
