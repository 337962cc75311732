// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What each thread keeps of each shared pool. Private to this room.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {
class shared_block_pool;
}

namespace tenure::inline TENURE_ABI::detail {

/// Free blocks of one shared pool at one thread. Only the thread moves blocks in and out; others read the count.
struct pool_cache {
    static constexpr std::uint32_t most_blocks = 256;
    static constexpr std::size_t most_bytes = std::size_t{128} * 1024; ///< unless one block is larger

    explicit pool_cache(std::uint32_t room) noexcept : capacity(room) {}

    std::atomic<std::uint32_t> count{0};
    std::uint32_t const capacity; ///< the same in every cache of a pool
    pool_cache* next = nullptr;   ///< in the pool's list
    pool_cache* previous = nullptr;
    void* blocks[most_blocks];
};

/// Where a thread finds its cache of the pool with this slot. The key tells a pool from an earlier one in its slot.
struct cache_entry {
    std::uint64_t key;
    pool_cache* cache;
};

struct thread_cache_table {
    cache_entry* entries = nullptr;
    std::size_t count = 0;
};
extern TENURE_API TENURE_THREAD_LOCAL thread_cache_table thread_caches TENURE_TLS_MODEL;

/// A pool's place among the process's shared pools.
struct pool_slot {
    std::size_t index = SIZE_MAX; ///< SIZE_MAX when all slots are taken: the pool then works without caches
    std::uint64_t key = 0;
};
[[nodiscard]] pool_slot register_pool(shared_block_pool& pool) noexcept;
/// Afterwards no thread that ends touches the pool any more.
void unregister_pool(pool_slot slot) noexcept;

/// Notes the calling thread's cache. Returns false when memory for the table is refused.
[[nodiscard]] bool note_cache(pool_slot slot, pool_cache* cache) noexcept;

[[nodiscard]] pool_cache* make_cache(std::uint32_t capacity) noexcept;
void free_cache(pool_cache* cache) noexcept;

}
