// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A heap's blocks of up to 32 KiB: thread caches in front of shards, which own pages.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/small/heap_pages.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>
#include <tenure/heap/detail/small/thread_cache.hpp>
#include <tenure/platform/by_thread.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Returns free memory of the whole heap, and of the calling thread's caches, to the source.
using make_room_function = void (*)(void* heap, thread_cache* cache, twice_freed& noted) noexcept;

/// The slow paths of small blocks. The inline paths of heap.hpp pop from and push to a thread's cache directly.
///
/// Threads   any; a cache belongs to its thread. The lock is taken before those of shards and pages.
class TENURE_API small_blocks {
public:
    constexpr small_blocks(heap_pages& pages, void* heap, make_room_function make_room) noexcept
        : pages_(pages), heap_(heap), make_room_(make_room), first_shard_(pages), shards_{&first_shard_} {}
    ~small_blocks();
    small_blocks(const small_blocks&) = delete;
    small_blocks& operator=(const small_blocks&) = delete;

    /// A block of the class. `cache` is nullptr for a thread that cannot have one.
    /// Returns   nullptr when the source has no page and no shard a block.
    [[nodiscard]] void* allocate(thread_cache* cache, std::size_t class_index) noexcept;
    /// The same while the heap counts allocations, if the block is not one of the profile and the thread has it.
    /// Returns   nullptr if more is to be done.
    [[nodiscard]] void* allocate_counted(thread_cache& cache, std::size_t class_index) noexcept;
    /// A block of a tag's pages, without a thread cache. Returns   nullptr also when too many tags have pages.
    [[nodiscard]] void* allocate_tagged(std::uint16_t tag, std::size_t class_index) noexcept;
    void deallocate(thread_cache* cache, void* block, std::size_t class_index) noexcept;
    /// Frees a block of a watched page into the thread's stock, if the block is not one of the profile.
    /// Returns   false if more is to be done.
    [[nodiscard]] bool push_watched(thread_cache& main_cache, void* block) const noexcept;
    /// Frees a block of a tag's page: into the thread's cache for that tag, if it has one.
    void deallocate_tagged(thread_cache* cache, void* block, std::size_t class_index) noexcept;

    /// A cache for the calling thread: for its allocations under a tag or, with zero, without one. Returns nullptr when
    /// out of memory, or when too many tags have their own pages.
    [[nodiscard]] thread_cache* open_cache(std::uint16_t tag) noexcept;
    /// Closes the cache of a thread that ends.
    void close_cache(thread_cache& cache) noexcept;
    /// Closes the caches of an ended thread whose thread-local storage was at the same address as the calling thread's.
    /// Requires  the calling thread has no cache.
    void close_abandoned() noexcept;

    /// Chooses a class that has cached blocks for the next sample, and returns these blocks to their pages.
    /// Returns   whether there was one.
    [[nodiscard]] bool choose_cached(thread_cache& cache, std::uint64_t random) const noexcept;
    /// Empties the thread's cache if the heap was trimmed since its last call.
    void follow_trims(thread_cache& cache) const noexcept;
    /// Makes every thread empty its caches at its next slow call.
    void start_trim() noexcept { trims_.fetch_add(1, memory_order::release); }
    /// Begins or ends counting allocations for the profile (counted_blocks.cpp): for each thread at its next slow call.
    /// While it counts, a call of allocate() sets thread_cache::is_noted if the block belongs into the profile.
    /// Threads   one at a time.
    void count_allocations(bool are_counted) noexcept;
    /// Empties the calling thread's caches, which then need not follow that.
    void empty_after_trim(thread_cache* cache, twice_freed& noted) noexcept;
    /// Empties the calling thread's caches.
    void flush_thread(thread_cache* cache, twice_freed& noted) const noexcept;
    /// Empties every cache. Requires  no other thread uses the heap meanwhile.
    void flush_all(twice_freed& noted) noexcept;
    /// Releases the pages without a block in use, after emptying the caches that no thread uses. Returns   how many.
    std::size_t release_empty_pages(twice_freed& noted) noexcept;
    /// Decommits what is free in pages that are in use. Returns   the bytes.
    std::size_t trim_pages() noexcept;
    /// Frees every block. Requires  no other thread uses the heap meanwhile.
    void clear() noexcept;

    [[nodiscard]] class_usage usage_of(std::size_t class_index) const noexcept;
    /// Blocks in use that were allocated under a tag: exact when no thread is at work.
    [[nodiscard]] tagged_usage usage_of_tag(std::uint16_t tag) const noexcept;
    /// Bytes of the tag's blocks that are in use or in thread caches; `cache` spares the look for its shard.
    [[nodiscard]] std::size_t held_by_tag(std::uint16_t tag, const thread_cache* cache) const noexcept;
    /// Returns the blocks in one of the calling thread's caches to their pages.
    void return_cached(thread_cache& cache) const noexcept;
    /// Threads that have a cache.
    [[nodiscard]] std::size_t thread_count() const noexcept;
    [[nodiscard]] bool valid() const noexcept;

    /// Fork: lock() takes every lock of small blocks, in order. In the child, the caches of missing threads keep their
    /// blocks for the child's own threads or the next trim. `mine` is the calling thread's cache.
    void lock_for_fork() noexcept;
    void unlock_in_parent() noexcept;
    void abandon_in_child(const thread_cache* mine) noexcept;
    /// Whether the calling thread holds one of these locks: for a signal handler. Takes none.
    [[nodiscard]] bool holds_lock() const noexcept;
    /// Whether each of these locks becomes free in that time.
    [[nodiscard]] bool is_free(platform::lock_patience& patience) const noexcept;

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    template<class Is>
    [[nodiscard]] bool is_any_lock(Is&& is) const noexcept;
    [[nodiscard]] std::size_t segment_bytes() const noexcept { return pages_.memory().segment_bytes(); }
    [[nodiscard]] heap_shard* shard_for_thread() noexcept;
    [[nodiscard]] heap_shard* first_of_tag(std::uint16_t tag) const noexcept;
    [[nodiscard]] heap_shard* first_for_tag(std::uint16_t tag) noexcept;
    [[nodiscard]] heap_shard* shard_for_tag(std::uint16_t tag) noexcept;
    [[nodiscard]] heap_shard* add_shard(std::uint16_t tag) noexcept;
    [[nodiscard]] void* refill(thread_cache& cache, std::size_t class_index) noexcept;
    [[nodiscard]] std::size_t refill_after_failure(thread_cache* cache, std::size_t class_index, void** blocks,
                                                   std::size_t count, twice_freed& noted) noexcept;
    [[nodiscard]] bool refill_from_quarantine(thread_cache& cache, std::size_t class_index) const noexcept;
    void follow_counting(thread_cache& cache) const noexcept;
    [[nodiscard]] static void* take_from_stock(thread_cache& cache, std::size_t class_index) noexcept;
    [[nodiscard]] void* refill_counted(thread_cache& cache, std::size_t class_index) noexcept;
    [[nodiscard]] std::size_t restock(thread_cache& cache, std::size_t class_index, block_cache& stock,
                                      twice_freed& noted) noexcept;
    static void watch_reuse(reuse_window& window, std::size_t class_index, std::uint32_t stocked) noexcept;
    [[nodiscard]] static std::uint32_t ready_blocks(std::size_t class_index) noexcept;
    [[nodiscard]] static bool grow_stock(thread_cache& cache, std::size_t class_index) noexcept;
    static void uncount(thread_cache& cache, std::size_t class_index, std::uint32_t count) noexcept;
    void set_quarantine(thread_cache& cache, bool is_wanted) const noexcept;
    void empty_quarantine(thread_cache& cache, twice_freed& noted) const noexcept;
    [[nodiscard]] bool grow(thread_cache& cache, std::size_t class_index) const noexcept;
    void flush(block_cache& blocks, std::size_t count, twice_freed& noted) const noexcept;
    void empty(thread_cache& cache, twice_freed& noted) const noexcept;
    void retire_cache(thread_cache& cache) noexcept;

    heap_pages& pages_;
    void* const heap_;
    const make_room_function make_room_;
    heap_shard first_shard_;
    // Released after whether allocations are counted; acquired by threads that follow.
    atomic<std::uint32_t> trims_{0}; ///< threads that see another number empty their caches
    mutable platform::mutex mutex_;  ///< guards everything below
    heap_shard* shards_;
    std::size_t shard_count_ = 1;    ///< without those of tags
    std::size_t tag_count_ = 0;      ///< tags that have a shard
    std::size_t further_count_ = 0;  ///< shards of tags, without the first one of each
    thread_cache* caches_ = nullptr; ///< all caches, also those of ended threads
    platform::by_thread<thread_cache> used_;
    thread_cache* unused_ = nullptr; ///< of ended threads: empty, except in the child of a fork and when abandoned
};

}
