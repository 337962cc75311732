// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A shard: a part of a heap with its own lock and pages of small blocks. Threads refill from it and flush to it.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/engine/misuse_log.hpp>
#include <tenure/heap/detail/small/heap_pages.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Blocks that left the pages: those in use and those in thread caches.
struct class_usage {
    std::size_t pages = 0;
    std::size_t allocated = 0;
    std::size_t cached = 0; ///< the part in thread caches; zero for a single shard
};

/// Blocks in use that were allocated under an owner tag.
struct tagged_usage {
    std::size_t live_count = 0;
    std::size_t live_bytes = 0;
};

/// Records pages in which a block was freed twice: the first eight. They are recorded under locks and reported by the
/// destructor, because the report handler may use the heap. Declare it before taking any lock, in the function that
/// leaves caches and pages consistent.
class twice_freed {
public:
    twice_freed() noexcept = default;
    ~twice_freed() {
        if (!log_.empty()) [[unlikely]]
            log_.report();
    }
    twice_freed(const twice_freed&) = delete;
    twice_freed& operator=(const twice_freed&) = delete;

    TENURE_COLD void note(const small_page& page) noexcept;

private:
    misuse_log log_;
};

/// Which blocks of a page are in use, as of one moment.
struct page_in_use {
    std::uintptr_t begin = 0;
    std::uint32_t block_bytes = 0;
    std::uint32_t blocks_used = 0; ///< number of blocks that have been allocated at least once
    bit_word free_bits[long_words];

    [[nodiscard]] bool is_allocated(std::size_t index) const noexcept {
        return (free_bits[index / bits_per_word] & bit_at(index)) == 0;
    }
};

/// A thread allocates from one shard, so that threads do not write to each other's pages. It may free any block; a
/// batch of freed blocks goes to the owners of their pages, with one lock per owner. Shards outlive threads: a new
/// thread takes over the shard of an ended one, with its pages, so nothing moves when a thread ends.
///
/// Threads   any; one lock per batch.
class alignas(cache_line_bytes) heap_shard {
public:
    constexpr explicit heap_shard(heap_pages& pages, std::uint16_t tag_id = 0) noexcept : tag(tag_id), pages_(pages) {}
    /// Requires  no block of its pages is in use. The pages are released with their segments.
    ~heap_shard() = default;
    heap_shard(const heap_shard&) = delete;
    heap_shard& operator=(const heap_shard&) = delete;

    /// Allocates up to `count` blocks. The block with the lowest address comes last, so that a cache that pops its last
    /// block first allocates in address order.
    /// Returns   the number of blocks; fewer or none when the source fails.
    [[nodiscard]] std::size_t refill(std::size_t class_index, void** blocks, std::size_t count) noexcept;

    /// Returns blocks to the shards that own their pages.
    /// Requires  the blocks are in segments of this size.
    static void flush(void* const* blocks, std::size_t count, std::size_t segment_bytes, twice_freed& noted) noexcept;
    static void flush(void* const* blocks, std::size_t count, std::size_t segment_bytes) noexcept {
        twice_freed noted;
        flush(blocks, count, segment_bytes, noted);
    }

    /// Forgets every page without freeing it.
    /// Requires  no other thread uses the shard; the caller frees the pages.
    void forget_pages() noexcept;

    /// Decommits OS pages inside pages in use, if they hold only free blocks.
    /// Returns   the number of bytes.
    /// Cost      O(blocks), with a system call per run.
    std::size_t trim_pages() noexcept;
    /// The same for one page, if its owner's lock is free; marks it as purged. Any page record will do, also of a page
    /// that is being released. `is_awaited`: whether the lock was taken, or threads wait for it now.
    static std::size_t purge_page(small_page& page, heap_memory& memory, bool& is_awaited) noexcept;

    /// A copy of which blocks of a page are in use. Any page record will do, as for purge_page().
    /// Returns   false if it is no page.
    [[nodiscard]] static bool copy_use(const small_page& page, page_in_use& to) noexcept;

    /// Returns empty pages to the heap.
    /// Returns   the number of pages.
    std::size_t release_empty_pages() noexcept;

    [[nodiscard]] class_usage usage_of(std::size_t class_index) const noexcept;
    /// Bytes of the tag's blocks, in all of its shards, that are in use or in thread caches. Zero without a tag.
    [[nodiscard]] std::size_t held_by_tag() const noexcept {
        std::size_t bytes = 0;
        for (const heap_shard* each = first_of_tag; each != nullptr;
             each = each->next_of_tag.load(memory_order::acquire))
            bytes += each->held_bytes_.load(memory_order::relaxed);
        return bytes;
    }
    [[nodiscard]] bool valid() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

    const std::uint16_t tag;         ///< of all its pages; zero: none
    heap_shard* next = nullptr;      ///< in the heap's list, under the heap's lock
    std::size_t user_count = 0;      ///< number of threads that allocate from it, under the heap's lock
    heap_shard* first_of_tag = this; ///< the tag's first shard
    // Released with the shard, acquired by walks without the lock.
    atomic<heap_shard*> next_of_tag{}; ///< of the tag's shards, from its first one on; they are only added

private:
    struct freed_bits;
    template<bool Near>
    static std::size_t find_bits(void* const* blocks, std::size_t count, std::size_t segment_bytes,
                                 freed_bits* found) noexcept;
    [[nodiscard]] bool set_free(const freed_bits& freed) noexcept;
    void list(small_page& page) noexcept;
    void note_change(small_page& page) noexcept;
    void unlist(small_page& page) noexcept;
    void release(small_page& page) noexcept;
    void hold(std::size_t bytes) noexcept;
    [[nodiscard]] small_page* page_with_blocks(std::size_t class_index) noexcept;

    heap_pages& pages_;
    /// Guards everything below and the pages that it owns. Apart from the tag, which each free of a tagged block reads.
    alignas(cache_line_bytes) mutable platform::mutex mutex_;
    small_page* listed_[small_class_count]{}; ///< pages with available blocks
    std::size_t page_count_[small_class_count]{};
    std::size_t allocated_[small_class_count]{};
    freed_steps freed_;                 ///< pages in which blocks became free
    atomic<std::size_t> held_bytes_{0}; ///< written under the lock, relaxed: a counter
};

}
