// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The part of a shared pool that threads and forks know by its address. The pool owns it through a pointer and can
/// therefore move.

#include <cstddef>
#include <cstdint>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/engine/misuse_log.hpp>
#include <tenure/engine/thread_parts.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/thread_slots.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/detail/pool_cache.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// About 18 KiB, of which a pool touches the first 600 bytes, and the stash as far as it fills it.
class TENURE_API shared_pool_core {
public:
    shared_pool_core(std::size_t bytes, std::size_t alignment, block_source& source) noexcept;
    ~shared_pool_core();
    shared_pool_core(const shared_pool_core&) = delete;
    shared_pool_core& operator=(const shared_pool_core&) = delete;

    /// In OS pages of its own. Returns   nullptr when out of memory.
    [[nodiscard]] static shared_pool_core* make(std::size_t bytes, std::size_t alignment,
                                                block_source& source) noexcept;
    /// Unregisters the core and releases its segments and its own memory.
    static void end(shared_pool_core* core) noexcept;

    [[nodiscard]] void* allocate_slow(pool_cache* cache) noexcept;
    void deallocate_slow(pool_cache* cache, void* block) noexcept;
    void clear() noexcept;
    std::size_t trim() noexcept;
    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] allocator_stats stats() const noexcept;
    [[nodiscard]] bool valid() noexcept;

    /// The blocks, all of them in the bits. Requires  no other thread uses the pool meanwhile.
    [[nodiscard]] block_pool& without_caches() noexcept {
        empty_caches();
        return blocks_;
    }
    [[nodiscard]] const platform::thread_slot& slot() const noexcept { return slot_; }
    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
    [[nodiscard]] owner_link& link() noexcept { return link_; }

private:
    friend struct pool_layout; // for debuggers: debug_layout.hpp
    /// Takes over the cache of a thread that ends.
    void retire(pool_cache& cache) noexcept;
    [[nodiscard]] pool_cache* cache_of_this_thread() const noexcept {
        return static_cast<pool_cache*>(platform::slot_value(slot_));
    }
    [[nodiscard]] pool_cache* add_cache() noexcept;
    void flush(void* const* blocks, std::size_t count) noexcept;
    [[nodiscard]] std::size_t refill(void** blocks, std::size_t count) noexcept;
    void empty_cache(pool_cache& cache) noexcept;
    void empty_caches() noexcept;
    [[nodiscard]] std::size_t cached_count() const noexcept;
    [[nodiscard]] std::size_t size_under_lock() const noexcept;
    void list_held(const holder_facts& facts, held_list& to) const noexcept;
    [[nodiscard]] pool_cache* pop_ownerless() noexcept;
    [[nodiscard]] void* allocate_passthrough() noexcept;
    void deallocate_passthrough(void* block) noexcept;
    void lock_for_fork() noexcept;
    void unlock_after_fork() noexcept;
    void leave_to_child() noexcept;
    [[nodiscard]] bool holds_lock() const noexcept;
    static const platform::fork_steps fork_steps;
    class reporting_lock;

    // The stash: batches flushed by one thread wait here for the refill of another. They move as pointers, so neither
    // blocks nor bits are touched. Blocks that do not fit go into the pool's bits.
    static constexpr std::size_t stash_capacity = std::size_t{8} * pool_cache::max_blocks;

    platform::thread_slot slot_;
    platform::fork_handler fork_;
    owner_link link_; ///< of the shared_block_pool
    // Copies of block_pool's values: blocks_ may not be read without the lock.
    std::size_t block_bytes_ = 0;
    std::uint32_t cache_capacity_ = 1;
    std::uint32_t batch_ = 1; ///< blocks per refill or flush: half of cache_capacity_
    alignas(
        cache_line_bytes) mutable platform::mutex mutex_; ///< guards everything below, but not blocks under passthrough
    thread_parts<pool_cache> caches_;
    std::size_t stash_count_ = 0;
    block_pool blocks_;
    misuse_log misuse_;
    void* stash_[stash_capacity];
};

}
