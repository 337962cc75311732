// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks of mixed sizes, each with a number at its start, for heap, fragmentation and latency.
///
/// An allocator of these experiments, and of large, has `allocate(bytes)`, which returns nullptr when out of memory,
/// `deallocate(block, bytes)`, `reallocate(block, bytes)` and `trim()`, which tells whether it can trim. All threads
/// call one object. It may have a constructor that takes the number of bytes alive at once, and it may support the
/// proof's questions. Every block of 16 bytes or more is aligned to 16.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <tenure/base/align.hpp>

#include "bench/harness/block_check.hpp"
#include "bench/harness/experiment.hpp"
#include "bench/harness/machine/memory.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// A block and what is needed to free it.
struct held_block {
    void* place = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t stamp = 0; ///< the number written to its start
};

[[noreturn]] inline void refused() {
    std::fputs("an allocation failed\n", stderr);
    std::abort();
}

template<class Allocator>
Allocator make_allocator(std::size_t max_bytes) {
    if constexpr (std::is_constructible_v<Allocator, std::size_t>) {
        return Allocator(max_bytes);
    } else {
        return Allocator();
    }
}

inline void stamp_block(const held_block& block) { std::memcpy(block.place, &block.stamp, sizeof block.stamp); }

[[nodiscard]] inline bool stamp_holds(const held_block& block) {
    std::uint32_t found = 0;
    std::memcpy(&found, block.place, sizeof found);
    return found == block.stamp;
}

/// Allocates a block and stamps it.
template<class Allocator>
[[nodiscard]] inline held_block make_block(Allocator& allocator, std::uint32_t bytes, std::uint32_t stamp) {
    const held_block made{allocator.allocate(bytes), bytes, stamp};
    if (made.place == nullptr) refused();
    stamp_block(made);
    escape(made.place);
    return made;
}

/// Frees a block.
/// Returns   whether it still had its stamp.
template<class Allocator>
[[nodiscard]] inline bool free_checked(Allocator& allocator, const held_block& block) {
    const bool intact = stamp_holds(block);
    escape(block.place);
    allocator.deallocate(block.place, block.bytes);
    return intact;
}

/// Reads all stamps, so that the following frees find the same state of the caches, whatever the allocator.
[[nodiscard]] inline bool stamps_hold(std::span<const held_block> blocks) {
    bool intact = true;
    for (const held_block& block : blocks) intact &= stamp_holds(block);
    return intact;
}

inline constexpr std::string_view wrong_stamp = "a block did not hold the data written to it";

/// The lists of several threads, joined.
template<class T>
[[nodiscard]] page_array<T> joined(std::span<const std::span<const T>> lists) {
    std::size_t count = 0;
    for (std::span<const T> list : lists) count += list.size();
    page_array<T> all(count);
    T* next = all.data();
    for (std::span<const T> list : lists) next = std::copy(list.begin(), list.end(), next);
    return all;
}

/// Shows live blocks to the proof and checks them whole: contents, alignment, no overlaps. Restores the stamps.
/// Untimed.
/// Returns   whether they passed.
template<class Allocator>
bool show_and_check(const task& asked, const Allocator& allocator, std::span<const held_block> blocks) {
    const page_array<void*> places(blocks.size());
    const page_array<sized_block> whole(blocks.size());
    std::size_t smallest = SIZE_MAX;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        places[i] = blocks[i].place;
        whole[i] = {blocks[i].place, blocks[i].bytes};
        smallest = std::min<std::size_t>(smallest, blocks[i].bytes);
    }
    asked.out.blocks(places.all(), smallest, owner_of(allocator));
    const std::string_view fault = check_blocks(whole.all(), default_alignment);
    if (!fault.empty()) {
        asked.out.fail(fault);
        return false; // a corrupted heap must not be touched again
    }
    for (const held_block& block : blocks) stamp_block(block);
    return true;
}

/// Read while blocks are alive, before they are checked.
struct memory_peak {
    double mib = 0;
    double huge_mib = 0; ///< in huge pages at that time
};
[[nodiscard]] inline memory_peak read_peak(const memory_meter& meter) { return {meter.peak_mib(), meter.huge_mib()}; }

/// Adds a note to a row that had huge pages, because they change every figure.
inline void tell_huge_pages(const task& asked, const memory_peak& peak, std::string_view where) {
    if (peak.huge_mib > 0) asked.out.note(fmt::format("{:.0f} MiB in huge pages at {}", peak.huge_mib, where));
}

/// The memory figures when nothing is alive any more.
template<class Allocator>
void tell_memory(const task& asked, Allocator& allocator, const memory_meter& meter, const memory_peak& peak,
                 std::string_view variant) {
    asked.out.value("peak", variant, "MiB", peak.mib);

    asked.out.value("after free", variant, "MiB", meter.resident_mib());
    if (allocator.trim()) asked.out.value("after trim", variant, "MiB", meter.resident_mib());
    tell_huge_pages(asked, peak, variant);
}

}
