// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What each OS page of a heap that is in memory is used for: for the file of a profile.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/heap/detail/profile/page_runs.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>

namespace tenure::inline TENURE_ABI::detail {

class section_writer;

/// Writes what each OS page of the process heap is used for, and the free blocks of caches, which the pages do not show.
void write_heap_pages(section_writer& to) noexcept;

/// Collects the figures of pages. It is large: give it static memory.
///
/// Threads   one at a time.
class page_map {
public:
    page_map(page_runs::receiver receive, void* context) noexcept : runs_(receive, context) {}
    ~page_map() = default;
    page_map(const page_map&) = delete;
    page_map& operator=(const page_map&) = delete;

    /// Adds the part of a range that is in memory. Requires  the same figures hold for all its OS pages.
    void add(const void* range, std::size_t bytes, profile_format::page_use use) noexcept;

private:
    friend heap_pages; // fills `segment` and `page`

    static constexpr std::size_t units_per_page = slices_of_page(small_class_count - 1) * units_per_slice;
    /// Figures of the OS pages of one page of small blocks.
    struct unit_figures {
        std::uint16_t live_bytes, blocks;
    };

    /// What is known of a segment as of one moment.
    struct segment_state {
        bit_word free_slices[slice_words];
        std::uint16_t first_slice[max_slices];
    };
    /// The blocks of a page of small blocks, and what they take.
    struct page_state {
        page_in_use blocks;
        unit_figures units[units_per_page];
        /// Counts what the blocks in use take of each OS page, from the slice on in which the page begins.
        void count(std::uintptr_t slice_begin) noexcept;
    };

    segment_state segment;
    page_state page;

    page_runs runs_;
};

}
