// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The blocks that an affinity group has from its source, and their empty pages.

#include <cstddef>
#include <cstdint>

#include <tenure/affinity/affinity_usage.hpp>
#include <tenure/affinity/detail/affinity_bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/engine/misuse_log.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What a group's pages contain, by their records and bits.
struct affinity_census {
    std::size_t objects = 0;
    std::size_t listed_pages = 0; ///< partial and measured ones
    bool is_complete = true;      ///< false where pages of mixed sizes have no start bits
};

/// Threads   one at a time: the group's lock protects them. owns() takes no lock.
class affinity_blocks {
public:
    affinity_blocks(const affinity_bits& bits, block_source& source, std::size_t max_retained_bytes,
                    misuse_log& misuse) noexcept
        : bits_(bits), source_(&source), misuse_(misuse), max_retained_bytes_(max_retained_bytes) {}
    /// Releases every block, including those in use.
    ~affinity_blocks();
    affinity_blocks(const affinity_blocks&) = delete;
    affinity_blocks& operator=(const affinity_blocks&) = delete;

    /// Exchanges the blocks of two groups, whose bits are exchanged too. Cost      O(blocks).
    void exchange(affinity_blocks& other) noexcept;

    /// A page without objects, in no list, with all bits zero. Behind the stream's page before it if possible:
    /// traversals in address order are faster when a size has several pages in a row, because processors prefetch.
    /// Returns   nullptr when the source fails.
    [[nodiscard]] affinity_page* acquire_page(std::size_t stream) noexcept;
    /// Requires  the whole page is free, and the page is in no list.
    void release_page(affinity_page& page) noexcept;

    /// Makes every page untouched and keeps the blocks. Requires  no list has a page.
    void clear() noexcept;
    /// Releases empty blocks, and decommits empty pages of others.
    /// Returns   the number of bytes decommitted.
    std::size_t trim() noexcept;

    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return block_count_ * bits_.block_bytes; }
    /// Whether the block's record is as this group wrote it.
    [[nodiscard]] bool is_intact(const affinity_block& block) const noexcept;
    void add_to(allocator_stats& stats) const noexcept;
    void add_to(affinity_usage& usage) const noexcept;
    /// Requires  no page is active.
    [[nodiscard]] bool valid(affinity_census& found) const noexcept;
    /// Calls `visit(object)` for each object, in checked builds, where bits are exact and mark every start.
    template<class Visit>
    void for_each_object(Visit&& visit) const {
        for_each_page([&](const affinity_page& page) {
            if (!page.is_used()) return;
            unsigned char* const begin = bits_.begin_of(page);
            unsigned char* const end = begin + (std::size_t{page.capacity} << bits_.granule_shift);
            for (unsigned char* at = begin; at < end; at += bits_.granule_bytes())
                if (bits_.is_start(at) && !bits_.is_free(at)) visit(at);
        });
    }

private:
    void mark_as_ours() noexcept;
    [[nodiscard]] affinity_page* next_page(std::size_t stream) const noexcept;
    [[nodiscard]] affinity_page* fresh_page(std::size_t stream) noexcept;
    [[nodiscard]] affinity_page* page_set_aside() const noexcept;
    [[nodiscard]] affinity_page* first_of_row(affinity_page* page) const noexcept;
    [[nodiscard]] affinity_block* add() noexcept;
    void release(affinity_block* block) noexcept;
    void release_empty(affinity_block* block) noexcept;
    /// Calls `visit(page)` for each touched page.
    template<class Visit>
    void for_each_page(Visit&& visit) const {
        for (affinity_block* block = first_; block != nullptr; block = block->next)
            for (std::size_t index = 0; index < block->touched_pages; ++index)
                visit(block->pages[bits_.first_page() + index]);
    }

    const affinity_bits& bits_;
    block_source* source_;
    misuse_log& misuse_;
    std::size_t max_retained_bytes_;
    affinity_block* first_ = nullptr;
    affinity_block* last_ = nullptr;
    affinity_block* newest_ = nullptr; ///< the first block that may have untouched pages
    affinity_page* empty_ = nullptr;
    affinity_page* latest_[affinity_stream_count] = {};     ///< the page that each stream acquired last
    std::uint8_t fresh_counts_[affinity_stream_count] = {}; ///< fresh pages of each stream, up to max_row_pages
    std::size_t block_count_ = 0;
    std::size_t empty_block_count_ = 0;
    std::size_t used_pages_ = 0;
    std::size_t peak_pages_ = 0;
};

}
