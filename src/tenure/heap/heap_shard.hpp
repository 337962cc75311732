// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The owner of pages of small blocks: what threads take batches from and give batches back to. Private to this room.

#include <cstddef>
#include <mutex>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_pages.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Blocks that are handed out, and those of them that wait in the caches of threads are among them.
struct class_usage {
    std::size_t pages = 0;
    std::size_t handed_out = 0;
};

/// A thread allocates from one shard, so that threads do not write to each other's pages; it frees whatever it is
/// given, and the batch goes to the pages' owners, a lock for each owner in it. Shards outlive threads: the next thread
/// takes over the shard of one that has ended, with its pages, and nothing has to be moved when a thread ends.
///
/// Threads   any; a lock per batch.
class alignas(cache_line_bytes) heap_shard {
public:
    explicit heap_shard(heap_pages& pages) noexcept : pages_(pages) {}
    /// Requires  no block of its pages is used any more: they go back with the segments.
    ~heap_shard() = default;
    heap_shard(const heap_shard&) = delete;
    heap_shard& operator=(const heap_shard&) = delete;

    /// Takes up to `count` blocks, the one with the lowest address last, so that a cache that hands out its last first
    /// does so in the order of addresses. Returns   how many; fewer, or none, when the source refuses.
    [[nodiscard]] std::size_t take(std::size_t class_index, void** blocks, std::size_t count) noexcept;

    /// Gives blocks back to the shards that own their pages.
    static void give(void* const* blocks, std::size_t count) noexcept;

    /// Gives empty pages back to the heap. Returns   how many.
    std::size_t release_empty_pages() noexcept;

    [[nodiscard]] class_usage usage_of(std::size_t class_index) const noexcept;
    [[nodiscard]] bool valid() const noexcept;

private:
    struct freed_bits;
    void set_free(const freed_bits& freed) noexcept;
    void list(small_page& page) noexcept;
    void unlist(small_page& page) noexcept;
    void release(small_page& page) noexcept;
    [[nodiscard]] small_page* page_with_blocks(std::size_t class_index) noexcept;

    heap_pages& pages_;
    mutable std::mutex mutex_;                ///< of everything below and of the pages that it owns
    small_page* listed_[small_class_count]{}; ///< pages that have blocks to give
    std::size_t page_count_[small_class_count]{};
    std::size_t handed_out_[small_class_count]{};
};

}
