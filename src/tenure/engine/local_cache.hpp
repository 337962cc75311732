// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A thread's stack of free blocks: the inline fast path of every shared allocator.
///
/// A cache is any type with `count` (atomic<std::uint32_t>), `capacity` and `blocks` (an array of void*, or a
/// pointer to one). Only the owning thread pushes and pops; other threads read the count for statistics. No operation
/// locks: a cache that is empty is refilled, and a full one flushed, by its allocator's slow path.

#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Pops the newest block.
/// Returns   whether the cache had one. (With a nullptr result the caller would test twice.)
template<class Cache>
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE bool pop(void*& block, Cache& cache) noexcept {
    const std::uint32_t count = cache.count.load(memory_order::relaxed);
    if (count == 0) [[unlikely]]
        return false;
    block = cache.blocks[count - 1];
    cache.count.store(count - 1, memory_order::relaxed);
    return true;
}

/// Pushes a block.
/// Returns   whether there was room.
template<class Cache>
TENURE_LOCAL TENURE_ALWAYS_INLINE bool push(Cache& cache, void* block) noexcept {
    const std::uint32_t count = cache.count.load(memory_order::relaxed);
    if (count >= cache.capacity) [[unlikely]]
        return false;
    cache.blocks[count] = block;
    // The block is written before it counts: after a fork, the child takes over the caches of other threads.
    cache.count.store(count + 1, memory_order::release);
    return true;
}

}
