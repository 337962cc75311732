// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Some of the blocks that a recorded program has in use, with their addresses. The recorder keeps the table in its raw
/// file, right behind the header, and `tenure record` reads it there to choose blocks for watchpoints.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

/// Which blocks are listed depends on `mask`: a block whose number in its thread, or in its call stack, has a hash that
/// is zero under the mask. Eight neighbours in each of both orders have the same hash, so that blocks which were
/// allocated one after another are listed together. The hash differs from recording to recording.
///
/// A block in the sample that finds no room widens the mask, which halves the sample, and thins the table; so does the
/// reader when the table fills up. The mask never becomes narrower, so a block that was left out would be left out
/// under each later mask too: the table is a sample in which each block in use has the same chance, of a program that
/// had very many blocks a small one. For a moment it also has blocks of the mask before: a reader looks at
/// is_sampled().
///
/// Threads   any, of two processes. The one that changes an entry's name to zero owns it, and then zeroes the address.
struct live_blocks {
    struct entry {
        std::atomic<std::uint64_t> address; ///< zero: the entry is free
        std::atomic<std::uint64_t> name;    ///< thread + 1: 24 bits, number: 40. Zero: not valid
        std::uint64_t ticks;                ///< when it was allocated or resized
        std::uint32_t stack;                ///< its number in the file
        std::atomic<std::uint32_t> ordinal; ///< number of the block among those of the stack
        std::uint64_t bytes;
    };
    static constexpr std::size_t capacity = 16384, max_steps = 32;

    trace_format::chunk_header chunk;
    std::atomic<std::uint32_t> mask;
    std::uint32_t seed; ///< of the hash
    entry entries[capacity];

    [[nodiscard]] static constexpr std::uint32_t hash_of(std::uint64_t place, std::uint32_t of_seed = 0) noexcept {
        std::uint64_t value = (place / 8 + 1 + (std::uint64_t{of_seed} << 32)) * 0x9E37'79B9'7F4A'7C15;
        value ^= value >> 29;
        return static_cast<std::uint32_t>(value * 0xBF58'476D'1CE4'E5B9 >> 32);
    }
    /// Whether a block is one of the sample under a mask.
    [[nodiscard]] bool is_sampled(std::uint32_t under, std::uint64_t name, std::uint32_t ordinal) const noexcept {
        return (hash_of(name, seed) & under) == 0 || (hash_of(ordinal, ~seed) & under) == 0;
    }

    /// Lists a block if it is one of the sample. Returns   whether it is listed.
    /// Cost      where there is no room, which happens some times in a process's life: O(capacity).
    bool add_sampled(std::uint64_t address, std::uint64_t name, std::uint64_t ticks, std::uint32_t stack,
                     std::uint32_t ordinal, std::uint64_t bytes) noexcept {
        constexpr std::uint32_t widest = ~std::uint32_t{0};
        for (;;) {
            std::uint32_t now = mask.load(std::memory_order_relaxed);
            if (!is_sampled(now, name, ordinal)) return false;
            if (add(address, name, ticks, stack, ordinal, bytes)) return true;
            if (now == widest) return false;
            mask.compare_exchange_strong(now, now * 2 + 1, std::memory_order_relaxed); // or another thread has
            thin();
        }
    }
    /// Drops the blocks that are not of the sample.
    void thin() noexcept {
        const std::uint32_t now = mask.load(std::memory_order_relaxed);
        for (entry& each : entries) {
            const std::uint64_t name = each.name.load(std::memory_order_acquire);
            // If the entry gets another name after the look at the ordinal, nothing is dropped.
            if (name != 0 && !is_sampled(now, name, each.ordinal.load(std::memory_order_relaxed))) drop(each, name);
        }
    }

    /// Returns   false if there was no room.
    bool add(std::uint64_t address, std::uint64_t name, std::uint64_t ticks, std::uint32_t stack, std::uint32_t ordinal,
             std::uint64_t bytes) noexcept {
        for (std::size_t step = 0; step < max_steps; ++step) {
            entry& each = entries[place_of(address, step)];
            std::uint64_t free = 0;
            if (!each.address.compare_exchange_strong(free, address, std::memory_order_acquire)) continue;
            each.ticks = ticks;
            each.stack = stack;
            each.ordinal.store(ordinal, std::memory_order_relaxed);
            each.bytes = bytes;
            each.name.store(name, std::memory_order_release);
            return true;
        }
        return false;
    }
    void remove(std::uint64_t address, std::uint64_t name) noexcept {
        for (std::size_t step = 0; step < max_steps; ++step)
            if (drop(entries[place_of(address, step)], name)) return;
    }
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t name) const noexcept {
        for (std::size_t step = 0; step < max_steps; ++step)
            if (entries[place_of(address, step)].name.load(std::memory_order_relaxed) == name) return true;
        return false;
    }
    /// Returns   whether the entry had this name.
    static bool drop(entry& of, std::uint64_t name) noexcept {
        if (!of.name.compare_exchange_strong(name, 0, std::memory_order_relaxed)) return false;
        of.address.store(0, std::memory_order_release);
        return true;
    }

private:
    [[nodiscard]] static constexpr std::size_t place_of(std::uint64_t address, std::size_t step) noexcept {
        return static_cast<std::size_t>((address / 16 * 0x9E37'79B9'7F4A'7C15 >> 40) + step) % capacity;
    }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Bytes of the raw file that it takes: whole pages.
constexpr std::uint32_t live_blocks_bytes =
    (sizeof(live_blocks) + trace_format::page_bytes - 1) / trace_format::page_bytes * trace_format::page_bytes;

}
