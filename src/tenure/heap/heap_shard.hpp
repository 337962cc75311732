// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The owner of pages of small blocks: what threads take batches from and give batches back to. Private to this room.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_pages.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Blocks that are handed out, and those of them that wait in the caches of threads are among them.
struct class_usage {
    std::size_t pages = 0;
    std::size_t handed_out = 0;
    std::size_t cached = 0; ///< of these, in the caches of threads; zero of a single shard
};

enum class block_state : std::uint8_t { handed_out, free, no_begin };

/// Pages of which a block was found to be freed twice, the first eight. Noted under locks and reported at the end of
/// its life, because whoever hears of it may use the heap: it is declared before any lock is taken, and stands in the
/// frame of the function that leaves caches and pages whole.
class twice_freed {
public:
    twice_freed() noexcept = default;
    ~twice_freed() {
        if (count_ != 0) [[unlikely]]
            report();
    }
    twice_freed(const twice_freed&) = delete;
    twice_freed& operator=(const twice_freed&) = delete;

    void note(const small_page& page) noexcept {
        if (count_ < most) pages_[count_++] = page.begin;
    }

private:
    static constexpr std::size_t most = 8;
    TENURE_COLD void report() const noexcept;

    std::size_t count_ = 0;
    std::uintptr_t pages_[most];
};

/// A thread allocates from one shard, so that threads do not write to each other's pages; it frees whatever it is
/// given, and the batch goes to the pages' owners, a lock for each owner in it. Shards outlive threads: the next thread
/// takes over the shard of one that has ended, with its pages, and nothing has to be moved when a thread ends.
///
/// Threads   any; a lock per batch.
class alignas(cache_line_bytes) heap_shard {
public:
    constexpr explicit heap_shard(heap_pages& pages, std::uint16_t tag_id = 0) noexcept : tag(tag_id), pages_(pages) {}
    /// Requires  no block of its pages is used any more: they go back with the segments.
    ~heap_shard() = default;
    heap_shard(const heap_shard&) = delete;
    heap_shard& operator=(const heap_shard&) = delete;

    /// Takes up to `count` blocks, the one with the lowest address last, so that a cache that hands out its last first
    /// does so in the order of addresses. Returns   how many; fewer, or none, when the source refuses.
    [[nodiscard]] std::size_t refill(std::size_t class_index, void** blocks, std::size_t count) noexcept;

    /// Takes one block, which `draw` chooses among those of a page, full of freed_fill: how checked builds allocate, so
    /// that addresses are not foretold and a freed block rests a while. Null when the source refuses.
    [[nodiscard]] void* allocate_scattered(std::size_t class_index, std::uint64_t draw) noexcept;

    /// What is known of an address in a page. Requires  it lies in a page of a segment of this size.
    [[nodiscard]] static block_state state_of(const void* address, std::size_t segment_bytes) noexcept;

    /// Gives blocks back to the shards that own their pages. Requires  the blocks lie in segments of this size.
    static void flush(void* const* blocks, std::size_t count, std::size_t segment_bytes, twice_freed& noted) noexcept;
    static void flush(void* const* blocks, std::size_t count, std::size_t segment_bytes) noexcept {
        twice_freed noted;
        flush(blocks, count, segment_bytes, noted);
    }

    /// Forgets every page. Requires  no other thread uses it; the pages go back by other ways.
    void forget_pages() noexcept;

    /// Gives back what the system can have of pages that are in use: its pages that hold free blocks alone.
    /// Returns   the bytes. Cost      O(blocks), a system call for each run.
    std::size_t trim_pages() noexcept;

    /// Gives empty pages back to the heap. Returns   how many.
    std::size_t release_empty_pages() noexcept;

    [[nodiscard]] class_usage usage_of(std::size_t class_index) const noexcept;
    [[nodiscard]] bool valid() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

    std::uint16_t const tag;    ///< of all its pages; zero: none
    heap_shard* next = nullptr; ///< in the heap's list, under the heap's lock
    std::size_t user_count = 0; ///< threads that take from it, under the heap's lock

private:
    struct freed_bits;
    template<bool Near>
    static std::size_t find_bits(void* const* blocks, std::size_t count, std::size_t segment_bytes,
                                 freed_bits* found) noexcept;
    [[nodiscard]] bool set_free(const freed_bits& freed) noexcept;
    void list(small_page& page) noexcept;
    void unlist(small_page& page) noexcept;
    void release(small_page& page) noexcept;
    [[nodiscard]] small_page* page_with_blocks(std::size_t class_index) noexcept;

    heap_pages& pages_;
    mutable platform::mutex mutex_;           ///< of everything below and of the pages that it owns
    small_page* listed_[small_class_count]{}; ///< pages that have blocks to give
    std::size_t page_count_[small_class_count]{};
    std::size_t handed_out_[small_class_count]{};
};

}
