// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Tools for timed parts: a stopwatch, an escape for pointers, arrays that cause no page faults.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::lab {

/// Makes the compiler assume that unknown code holds this pointer and reads and writes the memory behind it. Without
/// it, GCC forwards stores through inlined pools and removes whole malloc/free pairs.
template<class T>
inline void escape(T* pointer) {
    asm volatile("" : : "g"(pointer) : "memory");
}

/// An array in pages of its own, outside every measured allocator. All pages are touched before use.
template<class T>
class page_array {
public:
    explicit page_array(std::size_t count) : count_(count), bytes_(align_up(count * sizeof(T) + 1, page())) {
        void* const pages = platform::map(bytes_, page());
        if (pages == nullptr) std::abort();
        std::memset(pages, 0, bytes_);
        first_ = static_cast<T*>(pages);
    }
    ~page_array() {
        if (first_ != nullptr) platform::unreserve(first_, bytes_);
    }
    page_array(page_array&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), count_(other.count_), bytes_(other.bytes_) {}
    page_array(const page_array&) = delete;
    page_array& operator=(const page_array&) = delete;

    [[nodiscard]] T& operator[](std::size_t index) const { return first_[index]; }
    [[nodiscard]] T* data() const { return first_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::span<T> all() const { return {first_, count_}; }

private:
    static std::size_t page() { return platform::page_bytes(); }

    T* first_ = nullptr;
    std::size_t count_, bytes_;
};

/// The median of some values; reorders them.
[[nodiscard]] inline double median_of(std::span<double> values) {
    if (values.empty()) return 0;
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
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
        double const read = static_cast<double>(platform::monotonic_ns() - begin_) - cost_;
        return read > 0 ? read : 0;
    }

private:
    double cost_ = clock_cost_ns();
    std::uint64_t begin_;
};

/// A small generator with the same numbers everywhere (splitmix64), so that a seed means the same order of frees for
/// every allocator and every standard library.
class random_source {
public:
    explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}
    constexpr std::uint64_t operator()() {
        std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        return mixed ^ (mixed >> 31);
    }
    /// A number below `bound`, by multiplication. The bias is far below what a measurement could detect.
    constexpr std::size_t below(std::size_t bound) {
        return static_cast<std::size_t>(((*this)() >> 32) * std::uint64_t{bound} >> 32);
    }

private:
    std::uint64_t state_;
};

template<class T>
void shuffle(std::span<T> values, random_source& random) {
    for (std::size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[random.below(left)]);
}

}
