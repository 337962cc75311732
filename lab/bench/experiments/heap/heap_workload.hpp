// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The single-thread parts of the heap experiment. For the allocator interface, see `heap_blocks.hpp`.

#include "bench/experiments/heap/heap.hpp"
#include "bench/experiments/heap/heap_churn.hpp"
#include "bench/experiments/heap/heap_producer.hpp"
#include "bench/experiments/heap/heap_threads.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Replaces blocks in turn and in batches, with the live set at its size.
template<class Allocator>
void run_one_thread(const task& asked) {
    constexpr std::string_view variant = "16 to 512 B, one thread", cold = "16 to 512 B, one thread, cold";
    const std::size_t live = asked.options.size("live"), passes = asked.options.size("passes");
    const page_array<double> in_turn(passes), frees(passes), allocations(passes);
    Allocator allocator = make_allocator<Allocator>(live * small_in_heap.largest);
    churn<Allocator> work(allocator, live, asked.options.size("steps"), 0, small_in_heap, asked.seed);
    const memory_meter meter;
    const double first = work.fill();
    for (double& pass : in_turn.all()) pass = work.replace_in_turn();
    for (std::size_t pass = 0; pass < passes; ++pass) {
        const paired_ns each = work.replace_in_batches();
        frees[pass] = each.free;
        allocations[pass] = each.allocate;
    }
    if (!work.intact()) return asked.out.fail(wrong_stamp);
    const memory_peak peak = read_peak(meter);
    if (!show_and_check(asked, allocator, work.blocks())) return;
    work.free_all();
    if (!work.intact()) return asked.out.fail(wrong_stamp);
    asked.out.value("in turn", variant, "ns/op", median_of(in_turn.all()));
    asked.out.value("alloc", variant, "ns/op", median_of(allocations.all()));
    asked.out.value("free", variant, "ns/op", median_of(frees.all()));
    asked.out.value("alloc", cold, "ns/op", first);
    tell_memory(asked, allocator, meter, peak, variant);
}

constexpr std::size_t refill_bytes = 64;

template<class Allocator>
[[gnu::noinline]] double allocate_all(Allocator& allocator, std::span<held_block> blocks) {
    const stopwatch watch;
    std::uint32_t stamp = 0;
    for (held_block& block : blocks) block = make_block(allocator, refill_bytes, ++stamp);
    return watch.elapsed_ns() / static_cast<double>(blocks.size());
}

template<class Allocator>
[[gnu::noinline]] double free_all(Allocator& allocator, std::span<const held_block> blocks, bool& intact) {
    const stopwatch watch;
    for (const held_block& block : blocks) intact &= free_checked(allocator, block);
    return watch.elapsed_ns() / static_cast<double>(blocks.size());
}

/// Many blocks of one size, freed in random order and allocated again. The list is shuffled beforehand, so that the
/// loop itself reads it in order.
template<class Allocator>
void run_refill(const task& asked) {
    constexpr std::string_view variant = "64 B, random frees", cold = "64 B, cold";
    const std::size_t count = asked.options.size("objects"), repeats = asked.options.size("refills");
    const page_array<held_block> blocks(count);
    const page_array<double> frees(repeats), allocations(repeats);
    random_source random(asked.seed);
    const memory_meter meter;
    Allocator allocator = make_allocator<Allocator>(count * refill_bytes);
    const double first = allocate_all(allocator, blocks.all());
    bool intact = true;
    for (std::size_t i = 0; i < repeats; ++i) {
        intact &= stamps_hold(blocks.all()); // in order: all start with the same memory in the caches
        shuffle(blocks.all(), random);
        frees[i] = free_all(allocator, blocks.all(), intact);
        allocations[i] = allocate_all(allocator, blocks.all());
    }
    if (!intact) return asked.out.fail(wrong_stamp);
    const memory_peak peak = read_peak(meter);
    if (!show_and_check(asked, allocator, blocks.all())) return;
    free_all(allocator, blocks.all(), intact);
    asked.out.value("free", variant, "ns/op", median_of(frees.all()));
    asked.out.value("alloc after them", variant, "ns/op", median_of(allocations.all()));
    asked.out.value("alloc", cold, "ns/op", first);
    tell_memory(asked, allocator, meter, peak, variant);
}

template<class Allocator>
void run_heap(const task& asked) {
    switch (asked.part) {
    case heap_part::one_thread: return run_one_thread<Allocator>(asked);
    case heap_part::threads: return run_threads<Allocator>(asked, small_in_heap, "live", "steps");
    case heap_part::mixed_threads: return run_threads<Allocator>(asked, mixed_in_heap, "mixed-live", "mixed-steps");
    case heap_part::producer_consumer: return run_producer_consumer<Allocator>(asked);
    default: return run_refill<Allocator>(asked);
    }
}

}
