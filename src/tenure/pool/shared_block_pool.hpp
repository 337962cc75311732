// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Equal blocks, taken by any thread and given back by any thread, in any order.
///
/// Use it for     blocks of one size that threads hand to each other: messages, jobs, nodes of shared structures.
/// Not for        blocks that stay with one thread: see pool/block_pool.hpp, which needs no look at the thread.
/// Memory from    a block source, as pool/block_pool.hpp.
/// Cost           allocate and deallocate O(1) in the thread's cache; a lock for every 128th call of a kind, oftener
///                for blocks past 512 bytes.
/// Overhead       as block_pool, and per thread that uses the pool a page of 4 KiB and a cache of free blocks: 256, or
///                128 KiB of them, or one. The pool's object is 18 KiB: up to 2048 free blocks wait in it as pointers.
/// Threads        any, also the free of a block whose allocating thread has ended; the functions below say where not.
/// Fork           usable in the child. What waits in the caches of threads that the child does not have serves its own
///                threads; the block that such a thread was just taking or giving back is lost to the child.
/// When full      asks the source; if refused, returns null and changes nothing. Blocks in the caches of other
///                threads are not taken from them.
/// Example        examples/shared_pool.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/thread_slots.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool_cache.hpp>

namespace tenure::inline TENURE_ABI {

class TENURE_API shared_block_pool {
public:
    /// Requires  as block_pool; `source` is called by one thread at a time, under this pool's lock.
    explicit shared_block_pool(std::size_t bytes, std::size_t alignment = default_alignment,
                               block_source& source = page_source::process()) noexcept;

    /// Gives every segment back. Requires  no other thread uses the pool any more; threads that did may go on.
    ~shared_block_pool();
    shared_block_pool(const shared_block_pool&) = delete;
    shared_block_pool& operator=(const shared_block_pool&) = delete;

    [[nodiscard]] TENURE_LOCAL void* allocate() noexcept;

    /// Gives a block back. Null is allowed and does nothing.
    /// Requires  `block` is of this pool and allocated.
    TENURE_LOCAL void deallocate(void* block) noexcept;

    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= block_bytes_ && alignment <= alignment_ ? allocate() : nullptr;
    }
    TENURE_LOCAL void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

    /// Everything is free; pages are kept. Requires  no other thread uses the pool meanwhile.
    void clear() noexcept;

    /// Gives back empty segments and pages, first of all what the threads' caches hold.
    /// Requires  no other thread uses the pool meanwhile. Returns   the bytes given back.
    std::size_t trim() noexcept;

    /// Cost      O(segments), with a lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// Blocks allocated now; while other threads go on, as of some moment during the call for each of them.
    /// Cost      O(threads), with a lock.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Calls `visit(block)` for every block allocated. Requires  no other thread uses the pool meanwhile.
    template<class Visit>
    void for_each(Visit&& visit) {
        empty_caches();
        blocks_.for_each(visit);
    }

    /// Requires  no other thread uses the pool meanwhile.
    [[nodiscard]] bool valid() noexcept;

    /// Takes the cache of a thread that ends. Called by the library.
    void retire(detail::pool_cache& cache) noexcept;

private:
    [[nodiscard]] TENURE_LOCAL detail::pool_cache* cache_of_this_thread() const noexcept;
    [[nodiscard]] void* allocate_slow(detail::pool_cache* cache) noexcept;
    void deallocate_slow(detail::pool_cache* cache, void* block) noexcept;
    [[nodiscard]] detail::pool_cache* add_cache() noexcept;
    void give(void* const* blocks, std::size_t count) noexcept;
    [[nodiscard]] std::size_t take(void** blocks, std::size_t count) noexcept;
    void empty_cache(detail::pool_cache& cache) noexcept;
    void empty_caches() noexcept;
    [[nodiscard]] std::size_t cached_count() const noexcept;
    [[nodiscard]] detail::pool_cache* take_ownerless() noexcept;
    void leave_to_child() noexcept;
    template<class Visit>
    void for_each_cache(Visit&& visit) const;
    static const platform::fork_steps fork_steps;
    class reporting_lock;

    // Batches that come back wait here for the thread that wants one: moved as pointers, neither blocks nor bits are
    // touched. What does not fit goes into the pool's bits.
    static constexpr std::size_t stash_capacity = std::size_t{8} * detail::pool_cache::max_blocks;

    platform::thread_slot slot_;
    platform::fork_handler fork_;
    alignas(cache_line_bytes) mutable platform::mutex mutex_; ///< of everything below
    detail::pool_cache* caches_ = nullptr;
    detail::pool_cache* ownerless_ = nullptr; ///< in the child of a fork, of threads that it does not have
    std::size_t stash_count_ = 0;
    block_pool blocks_;
    void* stash_[stash_capacity];
    detail::noted_misuses misuse_;
    // Of blocks_, which may not be read without the lock.
    alignas(cache_line_bytes) std::size_t const block_bytes_;
    std::size_t const alignment_;
    std::uint32_t const cache_capacity_;
    std::uint32_t const batch_; ///< blocks that go to or come from a cache at a time: half of it
};

inline detail::pool_cache* shared_block_pool::cache_of_this_thread() const noexcept {
    return static_cast<detail::pool_cache*>(platform::slot_value(slot_));
}

inline void* shared_block_pool::allocate() noexcept {
    detail::pool_cache* const cache = cache_of_this_thread();
    if (cache != nullptr) [[likely]] {
        std::uint32_t const count = cache->count.load(std::memory_order_relaxed);
        if (count != 0) [[likely]] {
            cache->count.store(count - 1, std::memory_order_relaxed);
            return cache->blocks[count - 1];
        }
    }
    return allocate_slow(cache);
}

inline void shared_block_pool::deallocate(void* block) noexcept {
    if (block == nullptr) return;
    detail::pool_cache* const cache = cache_of_this_thread();
    if (cache != nullptr) [[likely]] {
        std::uint32_t const count = cache->count.load(std::memory_order_relaxed);
        if (count != cache->capacity) [[likely]] {
            cache->blocks[count] = block;
            cache->count.store(count + 1, std::memory_order_release); // in this order for the child of a fork
            return;
        }
    }
    deallocate_slow(cache, block);
}

}
