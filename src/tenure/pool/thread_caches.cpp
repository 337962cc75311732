// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/thread_caches.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/thread.hpp>
#include <tenure/pool/shared_block_pool.hpp>

namespace tenure::inline TENURE_ABI {

TENURE_THREAD_LOCAL detail::thread_cache_table detail::thread_caches{};

namespace detail {

namespace {

constexpr std::size_t max_pools = 4096;

struct registered_pool {
    shared_block_pool* pool;
    std::uint64_t key;
};

struct pool_registry {
    std::mutex mutex; ///< taken before any pool's mutex
    std::uint64_t last_key = 0;
    std::size_t first_free = 0; ///< no slot below is free
    registered_pool pools[max_pools]{};
};
constinit pool_registry registry{};

std::size_t table_bytes(std::size_t entries) noexcept {
    return align_up(entries * sizeof(cache_entry), platform::page_bytes());
}

/// Gives the ending thread's blocks back to the pools that are still there.
void end_of_thread() noexcept {
    thread_cache_table const table = thread_caches;
    thread_caches = {};
    if (table.entries == nullptr) return;
    {
        std::lock_guard const lock(registry.mutex);
        for (std::size_t index = 0; index < std::min(table.count, max_pools); ++index) {
            cache_entry const& entry = table.entries[index];
            if (entry.key == 0 || registry.pools[index].key != entry.key) continue;
            registry.pools[index].pool->retire(*entry.cache);
        }
    }
    platform::unreserve(table.entries, table_bytes(table.count));
}

}

pool_slot register_pool(shared_block_pool& pool) noexcept {
    std::lock_guard const lock(registry.mutex);
    // Keys of two copies of the library in one process must not be taken for each other.
    if (registry.last_key == 0) registry.last_key = static_cast<std::uint64_t>(address_of(&registry)) << 16;
    for (std::size_t index = registry.first_free; index < max_pools; ++index) {
        if (registry.pools[index].key != 0) continue;
        registry.pools[index] = {&pool, ++registry.last_key};
        registry.first_free = index + 1;
        return {index, registry.last_key};
    }
    registry.first_free = max_pools;
    return {};
}

void unregister_pool(pool_slot slot) noexcept {
    if (slot.index == SIZE_MAX) return;
    std::lock_guard const lock(registry.mutex);
    registry.pools[slot.index] = {};
    registry.first_free = std::min(registry.first_free, slot.index);
}

bool note_cache(pool_slot slot, pool_cache* cache) noexcept {
    thread_cache_table& table = thread_caches;
    if (slot.index >= table.count) {
        std::size_t const bytes = table_bytes(std::max(slot.index + 1, 2 * table.count));
        void* const memory = platform::map(bytes, cache_line_bytes);
        if (memory == nullptr) return false;
        auto* const entries = static_cast<cache_entry*>(memory); // pages come zeroed: every key is 0
        if (table.count != 0) {
            std::memcpy(entries, table.entries, table.count * sizeof(cache_entry));
            platform::unreserve(table.entries, table_bytes(table.count));
        }
        table = {entries, bytes / sizeof(cache_entry)};
        platform::at_thread_end(&end_of_thread);
    }
    table.entries[slot.index] = {slot.key, cache};
    return true;
}

pool_cache* make_cache(std::uint32_t capacity) noexcept {
    std::size_t const bytes = align_up(sizeof(pool_cache), platform::page_bytes());
    void* const memory = platform::map(bytes, cache_line_bytes);
    return memory != nullptr ? new (memory) pool_cache(capacity) : nullptr;
}

void free_cache(pool_cache* cache) noexcept {
    platform::unreserve(cache, align_up(sizeof(pool_cache), platform::page_bytes()));
}

}

}
