// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Converts, compares and sums ten million temperatures in a buffer.

#include <cstdio>

#include <tenure/buffer/safe_array.hpp>
#include <tenure/buffer/vector_maths.hpp>

namespace vectors = tenure::vectors;

int main() {
    constexpr std::size_t count = 10'000'000;
    const auto fahrenheit = tenure::safe_array<float>::make(count); // zeroed
    const auto from = fahrenheit.lease(); // one check; the functions below then use plain pointers
    if (!from) return 1;

    vectors::fill(from.data(), count, 50.0f);
    from[7] = 212.0f;

    vectors::subtract(from.data(), count, from.data(), 32.0f); // in place
    vectors::multiply(from.data(), count, from.data(), 5.0f);
    if (!vectors::divide(from.data(), count, from.data(), 9.0f)) return 1; // false only for integer division by zero

    const std::size_t hot = vectors::find_match(from.data(), count, vectors::comparison::greater, 99.0f);
    const auto highest = vectors::try_maximum(from.data(), count); // empty for an empty buffer
    const float mean = vectors::sum(from.data(), count) / static_cast<float>(count);
    std::printf("place %zu has %.0f degrees, the mean is %.2f\n", hot, static_cast<double>(highest.value_or(0)),
                static_cast<double>(mean));
    return hot == 7 && highest == 100.0f ? 0 : 1;
}
