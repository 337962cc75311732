// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of the large experiment. For the allocator interface, see `heap_blocks.hpp`.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large.hpp"
#include "bench/experiments/large/large_growth.hpp"
#include "bench/experiments/large/large_many.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/experiments/large/large_pattern.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// The costs of a block: allocating, writing it whole, freeing.
struct cycle_ns {
    double allocate, write, free;
    [[nodiscard]] double whole() const { return allocate + write + free; }
};

/// Measures one block. `look(block)` is called after writing, untimed.
template<class Allocator, class Look>
[[gnu::noinline]] cycle_ns run_cycle(Allocator& allocator, std::size_t bytes, unsigned char value, const Look& look) {
    cycle_ns spent{};
    const stopwatch allocation;
    void* const block = allocator.allocate(bytes);
    spent.allocate = allocation.elapsed_ns();
    if (block == nullptr) refused();
    const stopwatch writing;
    write_whole(block, bytes, value);
    spent.write = writing.elapsed_ns();
    look(block);
    const stopwatch freeing;
    allocator.deallocate(block, bytes);
    spent.free = freeing.elapsed_ns();
    return spent;
}

/// Blocks of one size: the first, and the medians of the rest.
struct cycle_medians {
    double first_whole_ns, whole_ns, allocate_ns, free_ns;
};

/// Allocates at least two blocks of one size, one after the other; reads their contents back each time. Returns
/// nothing, and fails the part, when one was not correct.
template<class Allocator>
std::optional<cycle_medians> run_cycles(const task& asked, Allocator& allocator, std::size_t bytes, std::size_t repeats,
                                        const memory_meter& meter, memory_peak& peak) {
    const page_array<double> wholes(repeats), allocations(repeats), frees(repeats);
    for (std::size_t i = 0; i < repeats; ++i) {
        const auto value = static_cast<unsigned char>(1 + i % 255);
        std::string_view fault;
        const cycle_ns spent = run_cycle(allocator, bytes, value, [&](void* block) {
            fault = wrong_places({&block, 1}, bytes, default_alignment);
            if (fault.empty() && !holds_whole(block, bytes, value)) fault = wrong_contents;
            if (i > 0) return;
            asked.out.blocks({&block, 1}, bytes, owner_of(allocator));
            peak.huge_mib = std::max(peak.huge_mib, meter.huge_mib());
        });
        if (!fault.empty()) {
            asked.out.fail(fault);
            return std::nullopt;
        }
        wholes[i] = spent.whole();
        allocations[i] = spent.allocate;
        frees[i] = spent.free;
    }
    peak.mib = meter.peak_mib();
    return cycle_medians{wholes[0], median_of(wholes.all().subspan(1)), median_of(allocations.all().subspan(1)),
                         median_of(frees.all().subspan(1))};
}

constexpr std::array<std::size_t, 5> large_sizes_kib{4, 64, 1024, 16 * 1024, 64 * 1024};

/// As often as the volume allows, at least three times and at most a thousand.
[[nodiscard]] constexpr std::size_t repeats_of(std::size_t bytes, std::size_t volume_bytes) {
    return std::clamp<std::size_t>(volume_bytes / bytes, 3, 1000);
}

[[nodiscard]] std::string size_in_words(std::size_t kibibytes); ///< "64 KiB", "16 MiB"

template<class Allocator>
void run_one_at_a_time(const task& asked) {
    const std::size_t largest = asked.options.size("largest-kib"), volume = asked.options.size("volume-mib") * mebibyte;
    const memory_meter meter;
    memory_peak peak;
    Allocator allocator = make_allocator<Allocator>(largest << 10);
    for (const std::size_t kib : large_sizes_kib) {
        if (kib > largest) continue;
        const auto found = run_cycles(asked, allocator, kib << 10, repeats_of(kib << 10, volume), meter, peak);
        if (!found) return;
        const std::string variant = size_in_words(kib); // short, because it must not be a heap block
        asked.out.value("alloc, write, free", variant, "us", found->whole_ns / 1e3);
        asked.out.value("alloc", variant, "ns/op", found->allocate_ns);
        asked.out.value("free", variant, "ns/op", found->free_ns);
    }
    tell_memory(asked, allocator, meter, peak, "one at a time");
}

template<class Allocator>
void run_again_and_again(const task& asked) {
    const std::size_t megabytes = asked.options.size("megabytes"), bytes = megabytes * 1'000'000;
    const memory_meter meter;
    memory_peak peak;
    Allocator allocator = make_allocator<Allocator>(bytes);
    const auto found = run_cycles(asked, allocator, bytes, asked.options.size("repeats"), meter, peak);
    if (!found) return;
    const std::string variant = fmt::format("{} MB", megabytes);
    asked.out.value("alloc, write, free, again", variant, "ms", found->whole_ns / 1e6);
    asked.out.value("alloc", variant, "us", found->allocate_ns / 1e3);
    asked.out.value("free", variant, "us", found->free_ns / 1e3);
    asked.out.value("the first time", variant, "ms", found->first_whole_ns / 1e6);
    tell_memory(asked, allocator, meter, peak, variant);
}

template<class Allocator>
void run_large(const task& asked) {
    switch (asked.part) {
    case large_part::one_at_a_time: return run_one_at_a_time<Allocator>(asked);
    case large_part::many: return run_many<Allocator>(asked);
    case large_part::growth: return run_growth<Allocator>(asked);
    case large_part::again_and_again: return run_again_and_again<Allocator>(asked);
    case large_part::pattern: return run_pattern<Allocator>(asked);
    default: return run_pattern_and_wait<Allocator>(asked);
    }
}

}
