// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's quarantine in checked builds: the small blocks that it freed last. They return to its cache late and in
/// an unpredictable order.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Maximum number of blocks of a class that rest: 8 KiB of them and at most 128, but at least 16 of up to 4 KiB and 8
/// of larger ones, so that there is a choice. A power of two. All classes together: 2 MiB.
constexpr auto ring_rooms = [] {
    constexpr std::size_t max_bytes = std::size_t{8} * 1024;
    std::array<std::uint32_t, small_class_count> rooms{};
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const std::size_t least = class_bytes(index) <= 4096 ? 16 : 8;
        rooms[index] = static_cast<std::uint32_t>(
            std::bit_floor(std::clamp<std::size_t>(max_bytes / class_bytes(index), least, 128)));
    }
    return rooms;
}();
/// The bits of a draw that choose which block leaves a full ring: one of the oldest quarter, or half of a small ring.
constexpr auto ring_choices = [] {
    std::array<std::uint32_t, small_class_count> choices{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        choices[index] = (ring_rooms[index] - 1) >> (ring_rooms[index] <= 16 ? 1 : 2);
    return choices;
}();
static_assert([] {
    std::size_t bytes = 0;
    for (std::size_t index = 0; index < small_class_count; ++index) bytes += ring_rooms[index] * class_bytes(index);
    return bytes <= std::size_t{2} << 20;
}());
constexpr auto ring_offsets = [] {
    std::array<std::uint32_t, small_class_count + 1> offsets{};
    for (std::size_t index = 0; index < small_class_count; ++index)
        offsets[index + 1] = offsets[index] + ring_rooms[index];
    return offsets;
}();

/// A block enters at the free. When its class's ring is full, it displaces one of the oldest quarter, or half of a
/// small ring: the blocks of a thread that allocates and frees stay for the rest of a ring. It enters the cache at a
/// random place. The blocks of a thread that only
/// allocates leave at some later refill of its cache: every eighth refill takes those that were here eight refills
/// before.
///
/// Threads   the owning thread; others read the counts.
struct quarantine {
    struct ring {
        std::atomic<std::uint32_t> count{0}; // written by the thread alone; released after a block, as in push()
        std::uint32_t first = 0;             ///< position of the oldest
        std::uint32_t aged = 0;              ///< number of those that were here when the ring was last looked at
        std::uint32_t refills = 0;
    };

    canary_keys keys;            ///< of the process
    std::uint64_t random;        ///< state of the generator
    mitigation_set on;           ///< read once
    std::uintptr_t segment_mask; ///< of addresses within a segment
    std::size_t states_at;       ///< offset of the states in a segment
    bool poisons;                ///< whether a memory checker must be told of blocks: fast paths are off
    std::uint32_t until_sample;  ///< calls before the next block that is placed between guard pages; zero: it is due
    ring rings[small_class_count];
    void* blocks[ring_offsets[small_class_count]];

    void start(std::size_t segment_bytes) noexcept;
    /// Starts the generator at a number that is unpredictable without a key of the process. Its later numbers are
    /// predictable for whoever sees the order of many blocks; they say nothing about canaries or other threads.
    void start_generator() noexcept;
    /// Called in the child of a fork: gives it a key of its own for generators that start later.
    static void follow_fork() noexcept;

    /// After Marsaglia, "Xorshift RNGs" (2003), with a multiplication (Vigna, 2016).
    [[nodiscard]] TENURE_ALWAYS_INLINE std::uint64_t draw() noexcept {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        return random * 0x2545'F491'4F6C'DD1D >> 32;
    }
    /// A number below `bound`, which is below 2^32.
    [[nodiscard]] std::uint64_t draw_below(std::uint64_t bound) noexcept { return draw() * bound >> 32; }

    /// `drawn` chooses by its lowest bits which block leaves.
    /// Returns   the block that leaves instead; nullptr while there is room.
    [[nodiscard]] TENURE_ALWAYS_INLINE void* rest(std::size_t class_index, void* block, std::uint64_t drawn) noexcept {
        ring& to = rings[class_index];
        void** const places = blocks + ring_offsets[class_index];
        const std::uint32_t room = ring_rooms[class_index];
        const std::uint32_t count = to.count.load(std::memory_order_relaxed);
        if (count < room) {
            places[(to.first + count) & (room - 1)] = block;
            to.count.store(count + 1, std::memory_order_release);
            return nullptr;
        }
        const std::uint32_t first = to.first;
        const std::uint32_t some =
            (first + (static_cast<std::uint32_t>(drawn) & ring_choices[class_index])) & (room - 1);
        void* const leaving = places[some];
        void* const oldest = places[first];
        places[first] = block;
        // No block is ever here twice: the child of a fork may take over the quarantines of other threads.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (some != first) places[some] = oldest;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        to.first = (first + 1) & (room - 1);
        to.aged -= std::uint32_t{to.aged != 0};
        return leaving;
    }

    /// Removes the `count` oldest blocks of a class and stores them.
    /// Requires  there are as many.
    void take(std::size_t class_index, void** to, std::uint32_t count) noexcept;

    /// Orders blocks at random.
    void shuffle(void** some, std::size_t count) noexcept;

    /// The number of calls before the next sampled block, by option::heap_guard_sample.
    [[nodiscard]] std::uint32_t draw_sample_distance() noexcept;
};

}
