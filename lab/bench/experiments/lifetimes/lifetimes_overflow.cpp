// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The overflow of Temp: the first pass timed call by call, later passes in three pieces.

#include "bench/experiments/lifetimes/lifetimes_overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <tenure/base/options.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "bench/experiments/lifetimes/lifetimes_workload.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t warm_passes = 31;

struct temp_calls {
    void* allocate(std::size_t bytes, std::size_t alignment) {
        return tenure::allocate(bytes, lifetime::temp, alignment);
    }
    static constexpr std::string_view query = "temp::owns";
    [[nodiscard]] bool owns(const void* block) const { return temp::owns(block); }
};

std::string in_words(std::size_t bytes) {
    const bool mebibytes = bytes % (std::size_t{1} << 20) == 0;
    return mebibytes ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

/// Every allocation of the first pass, each with its own clock reading.
void time_singly(const batch& work, std::span<double> spent) {
    const double clock = clock_cost_ns();
    std::uint64_t before = platform::monotonic_ns();
    for (std::size_t i = 0; i < work.blocks.size(); ++i) {
        void* const block = tenure::allocate(work.bytes, lifetime::temp, work.alignment);
        if (block == nullptr) return;
        stamp(block, static_cast<std::uint32_t>(i + 1));
        escape(block);
        work.blocks[i] = block;
        const std::uint64_t now = platform::monotonic_ns();
        spent[i] = std::max(0.0, static_cast<double>(now - before) - clock);
        before = now;
    }
}

/// The first block whose distance from the previous block differs from the distance between the first two.
std::size_t first_elsewhere(std::span<const std::int64_t> distances) {
    for (std::size_t i = 1; i < distances.size(); ++i) {
        if (distances[i] != distances[0]) return i + 1;
    }
    return 0;
}

struct piece_times {
    page_array<double> before{warm_passes}, at{warm_passes}, after{warm_passes};
};

/// The later passes, in three pieces around the block at `index`.
bool time_pieces(const batch& work, std::size_t index, piece_times& times) {
    temp_calls calls;
    const std::size_t count = work.blocks.size();
    const auto piece = [&](std::size_t begin, std::size_t end) {
        const double spent =
            timed_allocations(calls, {work.blocks.subspan(begin, end - begin), work.bytes, work.alignment});
        return spent / static_cast<double>(end - begin);
    };
    for (std::size_t pass = 0; pass < warm_passes; ++pass) {
        reset_temp();
        times.before[pass] = piece(0, index);
        times.at[pass] = piece(index, index + 1);
        times.after[pass] = piece(index + 1, count);
        if (times.before[pass] < 0 || times.at[pass] < 0 || times.after[pass] < 0) return false;
    }
    return true;
}

}

void measure_overflow(const task& asked, std::size_t budget_bytes) {
    set_option(option::temp_budget_bytes, budget_bytes);
    next_frame(); // a program that never ended a frame gets a warning at its first overflow, which would be timed
    const std::size_t bytes = asked.options.size("bytes"), alignment = asked.options.size("align");
    const std::size_t stride = std::max(align_up(bytes, temp::rounding_bytes), alignment);
    const std::size_t count = std::max<std::size_t>(2 * budget_bytes / stride, 8);
    const page_array<void*> blocks(count);
    const page_array<double> spent(count);
    const page_array<std::int64_t> distances(count - 1);
    const batch work{blocks.all(), bytes, alignment};
    time_singly(work, spent.all());
    if (blocks[count - 1] == nullptr) return asked.out.fail("an allocation failed");
    measure_distances(work, distances.all());
    if (!stamps_hold(work)) return asked.out.fail("a block did not hold its stamp, or was not aligned");
    const std::size_t index = first_elsewhere(distances.all());
    if (index == 0 || index + 1 >= count || temp::stats().overflow_count == 0) {
        return asked.out.fail("Temp did not overflow, or its overflow is not where the distances change");
    }
    asked.out.blocks(work.blocks, bytes, owner_of(temp_calls{}));
    piece_times times;
    if (!time_pieces(work, index, times)) return asked.out.fail("an allocation failed");
    const std::string_view fault = check_blocks(work.blocks, bytes, alignment); // those of the last pass
    if (!fault.empty()) return asked.out.fail(fault);

    const std::string variant = fmt::format("overflow of {}", in_words(budget_bytes));
    asked.out.value("before it", variant, "ns/op", median_of(times.before.all()));
    asked.out.value("at it", variant, "ns/op", median_of(times.at.all()));
    asked.out.value("after it", variant, "ns/op", median_of(times.after.all()));
    asked.out.value("at it, cold", variant, "ns/op", spent[index]);
    asked.out.value("overflow index", variant, "", static_cast<double>(index), better::neither);
    asked.out.value("overflow distance", variant, "bytes", static_cast<double>(distances[index - 1]), better::neither);
    const auto within = distances.all().first(index - 1);
    asked.out.value("distances before it", variant, "different", // all blocks of the budget in one bucket: 1
                    static_cast<double>(std::set<std::int64_t>(within.begin(), within.end()).size()), better::neither);
    constexpr std::size_t max_drawn = 10'000;
    if (distances.size() <= max_drawn) asked.out.list("distances", variant, "bytes", distances.all());
}

}
