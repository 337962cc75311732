// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Small blocks of checked builds: canaries, states and the quarantine, in front of small_blocks.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/checked/block_states.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/heap/detail/small/small_blocks.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What a check of a block at its free found.
enum class block_finding : std::uint8_t { sound, freed, no_begin, written_past_end, written_before, other_form };

/// The fast paths take no lock and change nothing but the thread's own cache, quarantine and the block. They refuse
/// whatever is not sound; heap_core's slow paths then find out why, and report it.
///
/// Threads   any; caches belong to their threads.
class checked_blocks {
public:
    /// `alone` is not zero while a thread has exclusive use of the heap.
    constexpr checked_blocks(small_blocks& blocks, const heap_memory& memory,
                             const atomic<std::uint64_t>& alone) noexcept
        : small_(blocks), memory_(memory), alone_(alone) {}

    /// Allocates from the thread's cache.
    /// Returns   nullptr if that is not possible: ask heap_core::allocate().
    [[nodiscard]] void* allocate(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                                 block_form form) noexcept;
    /// Frees a block into the thread's quarantine. `bytes` is the size that a sized delete passes, or unknown_size.
    /// Returns   whether the block was sound; if not, nothing has changed.
    [[nodiscard]] bool deallocate(thread_cache& cache, void* block, block_form form, std::size_t bytes) noexcept;

    /// The requested size of a small block that is sound; otherwise zero, also if it is not a small block.
    [[nodiscard]] std::size_t sound_bytes(const void* block) const noexcept;
    /// Gives a sound small block another requested size, if its class holds it. Returns whether it does.
    /// Requires  sound_bytes(block) is not zero, and `bytes` is not zero.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) const noexcept;

    /// Checks that nobody wrote to a free block, then writes the canary and the state.
    void begin(void* block, std::size_t class_index, std::size_t bytes, block_form form) const noexcept;
    /// Checks a block that is about to be freed or used.
    /// Requires  `block` is in a page of the class.
    [[nodiscard]] block_finding check(const void* block, std::size_t class_index, block_form form) const noexcept;
    /// Marks a block as freed and fills it.
    /// Returns   false if another thread freed it first.
    [[nodiscard]] bool end(void* block, std::size_t class_index) const noexcept;
    /// Frees a block after end(): into the quarantine, if the thread has one.
    void retire(thread_cache* cache, void* block, std::size_t class_index) noexcept;
    /// The form that a live block was allocated by.
    [[nodiscard]] block_form form(const void* block, std::size_t class_index) const noexcept;

private:
    [[nodiscard]] block_place place_of(const void* block, std::size_t class_index) const noexcept;

    small_blocks& small_;
    const heap_memory& memory_;
    const atomic<std::uint64_t>& alone_; // relaxed: see heap_core::alone_
};

}
