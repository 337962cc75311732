// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Random ranges of a large memory that is never touched.
///
/// An allocator is constructed from a capacity, or from a capacity and an alignment. It has `range`, `allocate(size,
/// alignment)`, `deallocate(range)`, and `offset_of(range)`, which is UINT64_MAX for a failed allocation. One whose
/// construction may fail has `is_made()`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "bench/experiments/offsets/offsets.hpp"
#include "bench/harness/machine/memory.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// From 256 bytes to 1 MiB; every doubling is equally likely.
inline std::uint64_t offsets_size(random_source& random) {
    const double doublings = 12 * static_cast<double>(random() >> 11) * 0x1p-53;
    return static_cast<std::uint64_t>(256 * std::exp2(doublings));
}

/// The mean of such a size is 126 KB; this is a third more than all of them need.
inline constexpr std::uint64_t offsets_bytes_for_each = 168'000;

template<class Allocator>
Allocator make_offsets(std::uint64_t capacity, std::uint64_t alignment) {
    if constexpr (std::is_constructible_v<Allocator, std::uint64_t, std::uint64_t>) {
        return Allocator(capacity, alignment);
    } else {
        return Allocator(capacity);
    }
}

template<class Allocator>
void run_offsets(const task& asked) {
    constexpr std::size_t sizes_ahead = 1 << 14;
    const std::size_t live = offsets_live[asked.part];
    const std::size_t operations = asked.options.size("operations");
    const auto alignment = static_cast<std::uint64_t>(asked.options["alignment"]);
    const std::uint64_t capacity = std::uint64_t{live} * offsets_bytes_for_each;
    random_source random(asked.seed);
    const page_array<std::uint64_t> sizes(sizes_ahead);
    for (std::uint64_t& size : sizes.all()) size = offsets_size(random);
    const page_array<typename Allocator::range> ranges(live);
    const page_array<std::uint64_t> sizes_of(live);
    const memory_meter meter;
    Allocator allocator = make_offsets<Allocator>(capacity, alignment);
    if constexpr (requires { allocator.is_made(); }) {
        if (!allocator.is_made())
            return asked.out.fail("it could not create an allocator with this capacity and "
                                  "alignment");
    }
    std::size_t refused = 0;

    stopwatch watch;
    for (std::size_t i = 0; i < live; ++i) {
        sizes_of[i] = sizes[i % sizes_ahead];
        ranges[i] = allocator.allocate(sizes_of[i], alignment);
        refused += Allocator::offset_of(ranges[i]) == UINT64_MAX;
    }
    const double fill_ns = watch.elapsed_ns() / static_cast<double>(live);

    // The cost of the random numbers is the same for all contestants; it is measured separately and subtracted.
    watch.restart();
    std::uint64_t sum = 0;
    random_source dry = random;
    for (std::size_t i = 0; i < operations; ++i) {
        const std::size_t place = dry.below(live);
        sum += reinterpret_cast<const std::uint64_t&>(ranges[place]) + sizes[i % sizes_ahead];
        sizes_of[place] += 0;
    }
    escape(&sum);
    const double harness_ns = watch.elapsed_ns() / static_cast<double>(operations);

    watch.restart();
    for (std::size_t i = 0; i < operations; ++i) {
        const std::size_t place = random.below(live);
        allocator.deallocate(ranges[place]);
        sizes_of[place] = sizes[i % sizes_ahead];
        ranges[place] = allocator.allocate(sizes_of[place], alignment);
        refused += Allocator::offset_of(ranges[place]) == UINT64_MAX;
    }
    const double pair_ns = watch.elapsed_ns() / static_cast<double>(operations);
    const double peak_mib = meter.peak_mib();

    // Ranges have no address, so they are counted.
    std::size_t alive = 0;
    for (const typename Allocator::range& each : ranges.all()) alive += Allocator::offset_of(each) != UINT64_MAX;
    const page_array<void*> counted(alive);
    for (void*& each : counted.all()) each = ranges.data();
    asked.out.blocks(counted.all(), 0, owner_of(allocator));

    // Checks that ranges are aligned, within the memory, and do not overlap.
    const page_array<std::size_t> order(live);
    for (std::size_t i = 0; i < live; ++i) order[i] = i;
    std::sort(order.all().begin(), order.all().end(), [&](std::size_t left, std::size_t right) {
        return Allocator::offset_of(ranges[left]) < Allocator::offset_of(ranges[right]);
    });
    std::uint64_t end = 0;
    for (const std::size_t which : order.all()) {
        const std::uint64_t offset = Allocator::offset_of(ranges[which]);
        if (offset == UINT64_MAX) break;
        if (offset % alignment != 0 || offset < end || sizes_of[which] > capacity - offset)
            return asked.out.fail("two ranges overlap, or one is not aligned");
        end = offset + sizes_of[which];
    }
    watch.restart();
    for (std::size_t i = 0; i < live; ++i) allocator.deallocate(ranges[i]);
    const double drain_ns = watch.elapsed_ns() / static_cast<double>(live);

    const std::string variant = fmt::format("{} live", live);
    asked.out.value("random release and allocation", variant, "ns/op", std::max(pair_ns - harness_ns, 0.0) / 2);
    asked.out.value("allocate, all at first", variant, "ns/op", fill_ns);
    asked.out.value("release, all at last", variant, "ns/op", drain_ns);
    asked.out.value("refused", variant, "ranges", static_cast<double>(refused));
    asked.out.value("records", variant, "B/range", peak_mib * 1024 * 1024 / static_cast<double>(live));
}

}
