// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// shared_block_pool: blocks of one size, allocated and freed by any thread in any order.
///
/// Use it for     blocks of one size that threads pass to each other: messages, jobs, nodes of shared structures.
/// Not for        blocks that stay with one thread: pool/block_pool.hpp needs no thread cache look-up.
/// Memory from    a block source, as pool/block_pool.hpp.
/// Cost           allocate and deallocate O(1) in the thread's cache; one lock per 128 allocations and per 128 frees,
///                more often for blocks larger than 512 bytes.
/// Overhead       as block_pool. Each thread that uses the pool has 4 KiB and a cache of up to 256 free blocks or 128
///                KiB, but at least one block. The pool object has 40 bytes, and 20 KiB in OS pages of
///                its own, of which it touches 4 KiB, and more when threads pass blocks to each other: they hold
///                pointers to up to 2048 free blocks.
/// Threads        any. A block may be freed after its allocating thread has ended. Functions below state exceptions.
/// Fork           usable in the child. The child's threads take over the caches of the parent's other threads. A block
///                that another thread was allocating or freeing during the fork is lost to the child.
/// When full      acquires another segment; returns nullptr if that fails and leaves the pool unchanged. Blocks in the
///                caches of other threads stay there.
/// Example        examples/shared_pool.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/engine/local_cache.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/thread_slots.hpp>
#include <tenure/pool/detail/pool_cache.hpp>
#include <tenure/pool/detail/shared_pool_core.hpp>

namespace tenure::inline TENURE_ABI {

class TENURE_API shared_block_pool {
public:
    /// Requires  as block_pool. The pool calls `source` from one thread at a time, under its lock. If the system has no
    ///           memory for the pool's own part, every allocation fails.
    [[nodiscard]] explicit shared_block_pool(std::size_t bytes, std::size_t alignment = default_alignment,
                                             block_source& source = page_source::process()) noexcept;

    /// Releases every segment.
    /// Requires  no other thread uses the pool during or after this call. Threads that used it may keep running.
    ~shared_block_pool();

    /// Takes over the blocks and the threads' caches of `other`. From then on `other` is empty and every allocation
    /// from it fails; it can be assigned to. Requires  no other thread uses either pool meanwhile.
    [[nodiscard]] shared_block_pool(shared_block_pool&& other) noexcept;
    shared_block_pool& operator=(shared_block_pool&& other) noexcept;

    /// Whether the pool can allocate. False after a move from it, and if the system had no memory for its own part.
    [[nodiscard]] bool is_usable() const noexcept { return core_ != nullptr; }

    [[nodiscard]] TENURE_LOCAL void* allocate() noexcept;

    /// Frees a block. nullptr is allowed and does nothing.
    /// Requires  `block` is an allocated block of this pool.
    TENURE_LOCAL void deallocate(void* block) noexcept;

    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= block_bytes_ && alignment <= alignment_ ? allocate() : nullptr;
    }
    TENURE_LOCAL void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

    /// Frees every block and retains the pages. Requires  no other thread uses the pool meanwhile.
    void clear() noexcept;

    /// Flushes all thread caches, releases empty segments and decommits empty pages.
    /// Requires  no other thread uses the pool meanwhile.
    /// Returns   the bytes returned.
    std::size_t trim() noexcept;

    /// Cost      O(segments); takes a lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// The number of allocated blocks. While others use the pool, each thread's part is from a moment during the call.
    /// Cost      O(threads); takes a lock.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// As the constructor got it; zero if it was out of range.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Calls `visit(block)` for every allocated block. Requires  no other thread uses the pool meanwhile.
    template<class Visit>
    void for_each(Visit&& visit) {
        if (core_ != nullptr) core_->without_caches().for_each(visit);
    }

    /// As block_pool::first_block(). Requires  no other thread uses the pool meanwhile.
    [[nodiscard]] detail::pool_cursor first_block() noexcept {
        return core_ != nullptr ? core_->without_caches().first_block() : detail::pool_cursor{};
    }

    /// Requires  no other thread uses the pool meanwhile.
    [[nodiscard]] bool valid() noexcept;

    /// Where the deleters of adapt/unique.hpp find this pool after it moves. Returns   nullptr when out of memory.
    using home_owner = shared_block_pool;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept;

private:
    [[nodiscard]] TENURE_LOCAL detail::pool_cache* cache_of_this_thread() const noexcept;
    [[nodiscard]] void* allocate_slow(detail::pool_cache* cache) noexcept;
    void deallocate_slow(detail::pool_cache* cache, void* block) noexcept;

    template<class T>
    friend class shared_pool;
    friend struct detail::pool_layout; // for debuggers: debug_layout.hpp

    // What the inline paths read is here, so that they need no load of core_.
    platform::thread_slot slot_;
    detail::shared_pool_core* core_;
    std::size_t block_bytes_;
    std::size_t alignment_;
};
static_assert(sizeof(shared_block_pool) == 40);

inline detail::pool_cache* shared_block_pool::cache_of_this_thread() const noexcept {
    return static_cast<detail::pool_cache*>(platform::slot_value(slot_));
}

inline void* shared_block_pool::allocate() noexcept {
    detail::pool_cache* const cache = cache_of_this_thread();
    void* block = nullptr;
    return cache != nullptr && detail::pop(block, *cache) ? block : allocate_slow(cache);
}

inline void shared_block_pool::deallocate(void* block) noexcept {
    if (block == nullptr) return;
    detail::pool_cache* const cache = cache_of_this_thread();
    if (cache == nullptr || !detail::push(*cache, block)) deallocate_slow(cache, block);
}

}
