// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tools for timed parts: a stopwatch, the median, an escape for pointers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tenure/platform/clock.hpp>

namespace tenure::lab {

/// Makes the compiler assume that unknown code holds this pointer and reads and writes the memory behind it. Without
/// it, GCC forwards stores through inlined pools and removes whole malloc/free pairs.
template<class T>
inline void escape(T* pointer) {
    asm volatile("" : : "g"(pointer) : "memory");
}

/// The median of some values; reorders them.
[[nodiscard]] inline double median_of(std::span<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The time that an empty measurement reads: the median of 2001, taken once per process. stopwatch subtracts it.
[[nodiscard]] double clock_cost_ns();

/// Time since construction or restart, minus the cost of reading the clock.
class stopwatch {
public:
    stopwatch() : begin_(platform::monotonic_ns()) {}
    void restart() { begin_ = platform::monotonic_ns(); }
    [[nodiscard]] double elapsed_ns() const {
        const double read = static_cast<double>(platform::monotonic_ns() - begin_) - cost_;
        return read > 0 ? read : 0;
    }

private:
    double cost_ = clock_cost_ns();
    std::uint64_t begin_;
};

}
