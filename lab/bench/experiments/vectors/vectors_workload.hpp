// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Operations on buffers that were touched before, timed one after the other and checked against single elements.
///
/// `Maths` has static functions fill, add, multiply, multiply_buffers, divide, root, minimum, sum, dot, compare, count,
/// find and convert, for each type.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/experiments/vectors/loops/vectors_calls.hpp"
#include "bench/experiments/vectors/vectors.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// No allocator takes part: the buffers are the workload's own, as this owner reports.
struct vectors_buffer {
    static constexpr std::string_view query = "the workload's own buffer";
    const void* first;
    [[nodiscard]] bool owns(const void* block) const { return block == first; }
};

template<class Maths, class T>
class vectors_run {
public:
    vectors_run(const task& asked, std::string_view type, std::size_t count)
        : asked_(asked), variant_(fmt::format("{}, {}", type, vectors_parts[asked.part].name)), count_(count),
          repeats_(asked.options.size("repeats")), a_(count), b_(count), c_(count) {
        for (std::size_t i = 0; i < count; ++i) {
            a_[i] = static_cast<T>(i % 100 + 1);
            b_[i] = static_cast<T>(i % 7 + 1);
        }
    }

    /// Operations whose input another operation would change write to buffers of their own.
    void run() {
        T *const a = a_.data(), *const b = b_.data(), *const c = c_.data();
        T factor = 3, none = 120;
        escape(&factor); // prevents constant folding
        escape(&none);
        const std::size_t n = count_;
        row("fill", [&] { Maths::fill(c, n, factor); });
        expect(c_[n - 1] == factor);
        row("add, in place", [&] { Maths::add(c, n, c, factor); });
        row("multiply, in place", [&] { Maths::multiply(c, n, c, factor); });
        Maths::multiply(c, n, a, factor);
        expect(c_[1] == static_cast<T>(2 * 3));
        row("multiply two", [&] { Maths::multiply_buffers(c, n, a, b); });
        expect(c_[1] == static_cast<T>(2 * 2));
        row("divide", [&] { Maths::divide(c, n, a, factor); });
        row("square root", [&] { Maths::root(c, n, a); });
        expect(c_[3] == 2);
        row("minimum", [&] { Maths::minimum(c, n, a, factor); });
        expect(c_[n - 1] <= factor);
        vectors_sum<T> sum = 0, dot = 0;
        row("sum", [&] { sum = Maths::sum(a, n); });
        row("dot product", [&] { dot = Maths::dot(a, n, b); });
        expect(sum > 0 && dot > sum);
        row("compare", [&] { Maths::compare(bytes_.data(), n, a, factor); });
        expect(bytes_[0] == 1 && bytes_[5] == 0);
        std::size_t matches = 0, place = 0;
        row("count", [&] { matches = Maths::count(a, n, factor); });
        row("find", [&] { place = Maths::find(a, n, none); });
        expect(matches == (n - 3) / 100 + 1 && place == n);
        using other = vectors_other<T>;
        const page_array<other> converted(n);
        row(std::floating_point<T> ? "to int32" : "to float", [&] { Maths::convert(converted.data(), n, a); });
        expect(converted[n - 1] == static_cast<other>(a_[n - 1]));
        void* const block = c;
        asked_.out.blocks({&block, 1}, n * sizeof(T), owner_of(vectors_buffer{c}));
    }
    [[nodiscard]] bool is_right() const { return is_right_; }

private:
    void expect(bool holds) { is_right_ &= holds; }

    template<class Operation>
    void row(std::string_view what, const Operation& operation) {
        // Repeats data in the cache until the operation takes about a tenth of a millisecond.
        const std::size_t times = std::max<std::size_t>(1, 200'000 / count_);
        const page_array<double> spent(repeats_);
        if (times > 1) operation(); // loads the data into the caches
        for (double& each : spent.all()) {
            const stopwatch watch;
            for (std::size_t i = 0; i < times; ++i) {
                operation();
                escape(c_.data());
            }
            each = watch.elapsed_ns() / static_cast<double>(times * count_);
        }
        asked_.out.value(what, variant_, "ns", median_of(spent.all()));
    }

    const task& asked_;
    std::string variant_; ///< "uint64, in memory"
    std::size_t count_, repeats_;
    page_array<T> a_, b_, c_;
    page_array<std::uint8_t> bytes_{count_};
    bool is_right_ = true;
};

template<class Maths, class T>
void run_vectors_of(const task& asked, std::string_view type, std::size_t count) {
    vectors_run<Maths, T> each(asked, type, count);
    each.run();
    if (!each.is_right()) asked.out.fail("an operation had a different result than a loop");
}

template<class Maths>
void run_vectors(const task& asked) {
    const bool in_memory = asked.part == vectors_part::in_memory;
    const std::size_t count = asked.options.size(in_memory ? "count" : "cached-count");
    run_vectors_of<Maths, std::uint64_t>(asked, "uint64", count);
    run_vectors_of<Maths, std::int32_t>(asked, "int32", count);
    run_vectors_of<Maths, double>(asked, "double", count);
    run_vectors_of<Maths, std::uint8_t>(asked, "uint8", count);
    if (in_memory) return;
    run_vectors_of<Maths, std::int64_t>(asked, "int64", count);
    run_vectors_of<Maths, std::uint32_t>(asked, "uint32", count);
    run_vectors_of<Maths, std::uint16_t>(asked, "uint16", count);
    run_vectors_of<Maths, std::int16_t>(asked, "int16", count);
    run_vectors_of<Maths, std::int8_t>(asked, "int8", count);
    run_vectors_of<Maths, float>(asked, "float", count);
}

}
