// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The article's loops: allocate all, free all, and the distances between neighbours.
///
/// An allocator here has `allocate(bytes, alignment)`, `deallocate(block, bytes)` and `end_batch()`, which is timed
/// with the frees. It is constructed from the task after every array of the workload has been touched.

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "bench/experiments/lifetimes/lifetimes.hpp"
#include "bench/experiments/shared/type_name.hpp"
#include "bench/harness/block_check.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// The value written into a block: never zero, and different for each block.
inline void stamp(void* block, std::uint32_t value) { std::memcpy(block, &value, sizeof value); }
[[nodiscard]] inline bool holds(const void* block, std::uint32_t value) {
    std::uint32_t found = 0;
    std::memcpy(&found, block, sizeof found);
    return found == value;
}

/// Everything that one batch needs, outside the measured memory.
struct batch {
    std::span<void*> blocks;
    std::size_t bytes, alignment;
};

/// Nanoseconds for all allocations; negative when one failed.
template<class Allocator>
[[gnu::noinline]] double timed_allocations(Allocator& allocator, const batch& work) {
    void** const blocks = work.blocks.data();
    const std::size_t count = work.blocks.size(), bytes = work.bytes, alignment = work.alignment;
    const stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) {
        void* const block = allocator.allocate(bytes, alignment);
        if (block == nullptr) return -1;
        stamp(block, static_cast<std::uint32_t>(i + 1));
        escape(block);
        blocks[i] = block;
    }
    return watch.elapsed_ns();
}

/// Nanoseconds for all frees and the end of the batch.
template<class Allocator>
[[gnu::noinline]] double timed_frees(Allocator& allocator, const batch& work) {
    void** const blocks = work.blocks.data();
    const std::size_t count = work.blocks.size(), bytes = work.bytes;
    const stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) {
        void* const block = blocks[i];
        escape(block);
        allocator.deallocate(block, bytes);
    }
    allocator.end_batch();
    return watch.elapsed_ns();
}

/// How far each block begins after the end of the previous one, as in the article.
void measure_distances(const batch& work, std::span<std::int64_t> distances);

/// Whether each block still holds its own stamp and has its alignment.
[[nodiscard]] bool stamps_hold(const batch& work);

/// Fills every block to its last byte, reads all of them back, and restores the stamps.
[[nodiscard]] bool every_byte_holds(const batch& work);

/// One more batch after all figures have been taken: checks whole contents, alignment, and that no two blocks overlap.
template<class Allocator>
void check_batch(const task& asked, Allocator& allocator, const batch& work) {
    if (timed_allocations(allocator, work) < 0) return asked.out.fail("an allocation failed");
    asked.out.blocks(work.blocks, work.bytes, owner_of(allocator));
    const std::string_view fault = check_blocks(work.blocks, work.bytes, work.alignment);
    if (!fault.empty()) return asked.out.fail(fault);
    static_cast<void>(timed_frees(allocator, work));
}

template<class Allocator>
void one_thread(const task& asked) {
    const std::size_t count = asked.options.size("count"), batches = asked.options.size("batches");
    const page_array<void*> blocks(count);
    const page_array<std::int64_t> cold(count - 1), warm(count - 1);
    const page_array<double> allocations(batches), frees(batches);
    const batch work{blocks.all(), asked.options.size("bytes"), asked.options.size("align")};
    const double per_block = 1.0 / static_cast<double>(count);
    Allocator allocator(asked);
    for (std::size_t i = 0; i < batches; ++i) {
        allocations[i] = timed_allocations(allocator, work) * per_block;
        if (allocations[i] < 0) return asked.out.fail("an allocation failed");
        if (i == 0) measure_distances(work, cold.all());
        if (i == 0 && !every_byte_holds(work)) return asked.out.fail("a block did not hold the data written to it");
        if (!stamps_hold(work)) return asked.out.fail("a block did not hold its stamp, or was not aligned");
        if (i + 1 == batches) measure_distances(work, warm.all());
        frees[i] = timed_frees(allocator, work) * per_block;
    }
    asked.out.value("alloc", "warm", "ns/op", median_of(allocations.all().subspan(1)));
    asked.out.value("free", "warm", "ns/op", median_of(frees.all().subspan(1)));
    asked.out.value("alloc", "cold", "ns/op", allocations[0]);
    asked.out.value("free", "cold", "ns/op", frees[0]);
    asked.out.list("distances", "cold", "bytes", cold.all());
    asked.out.list("distances", "warm", "bytes", warm.all());
    check_batch(asked, allocator, work);
}

}
