// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What printf makes of a number, and values at which rounding goes wrong when it goes wrong.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace text_tests {

/// As "%.*f"; in place, because a test asks millions of times. Some C libraries leave out the sign of a NaN.
class printed {
public:
    printed(double value, unsigned precision)
        : size_(static_cast<std::size_t>(
              std::isnan(value) ? std::snprintf(text_, sizeof text_, "%s", std::signbit(value) ? "-nan" : "nan")
                                : std::snprintf(text_, sizeof text_, "%.*f", static_cast<int>(precision), value))) {}
    [[nodiscard]] std::string_view view() const { return {text_, size_}; }

private:
    char text_[512];
    std::size_t size_;
};

template<class Float>
std::vector<Float> awkward_values() {
    using limits = std::numeric_limits<Float>;
    std::vector<Float> values{0,
                              limits::infinity(),
                              limits::quiet_NaN(),
                              limits::max(),
                              limits::min(),
                              limits::denorm_min(),
                              limits::epsilon(),
                              Float(0.005),
                              Float(0.015),
                              Float(0.125),
                              Float(0.375),
                              Float(0.5),
                              Float(1.5),
                              Float(2.5),
                              Float(1.005),
                              Float(9.995),
                              Float(99.995),
                              Float(999999.995),
                              Float(999999.9375),
                              Float(1000000)};
    double power = 1;
    for (int digits = 0; digits < 25; ++digits, power *= 10) {
        // The ends of what has eight digits, 64 bits, a power of ten, each at every precision.
        for (const double base :
             {99999998.5, 99999999.0, 99999999.5, 100000000.0, 18446744073709551615.0, 0.5, 0.25, 1.0, 9.5})
            for (const double value : {base / power, base * power}) values.push_back(static_cast<Float>(value));
    }
    for (int bit = 0; bit < 70; ++bit)
        values.push_back(static_cast<Float>(std::uint64_t{1} << bit % 64) * (bit < 64 ? 1 : 64));
    std::vector<Float> all;
    using word = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
    for (const Float value : values) {
        for (int step = -2; step <= 2; ++step) { // and their neighbours
            const Float near =
                std::bit_cast<Float>(static_cast<word>(std::bit_cast<word>(value) + static_cast<word>(step)));
            all.push_back(near);
            all.push_back(-near);
        }
    }
    return all;
}

}
