// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_usage.hpp>

#include <algorithm>
#include <mutex>

#include <tenure/affinity/affinity_group.hpp>

namespace tenure::inline TENURE_ABI {

using detail::page_place;

/// The longest run of free granules in a page, in bytes.
std::size_t affinity_group::largest_run_bytes(const page& which) const noexcept {
    const bit_word* const free =
        layout_.free_bits(layout_.block_of(&which)) + layout_.index_of(which) * layout_.words_per_page;
    std::size_t largest = 0, run = 0;
    for (std::size_t granule = 0; granule < layout_.words_per_page * bits_per_word; ++granule) {
        run = (free[granule / bits_per_word] & bit_at(granule)) != 0 ? run + 1 : 0;
        largest = std::max(largest, run);
    }
    return largest << layout_.granule_shift;
}

std::size_t affinity_group::large_count() const noexcept {
    const heap* const large = large_.load(std::memory_order_acquire);
    return large != nullptr ? large->stats().live_count : 0;
}

/// Bytes left in extents and in freed runs whose bits are not yet set.
std::size_t affinity_group::unused_bytes(const thread_part& part) noexcept {
    std::size_t bytes = 0;
    for (const stream& each : part.streams)
        bytes += static_cast<std::size_t>(each.end - each.next) +
                 static_cast<std::size_t>(each.freed_end - each.freed_begin) +
                 static_cast<std::size_t>(each.before_end - each.before_begin);
    return bytes;
}

allocator_stats affinity_group::stats() const noexcept {
    const heap* const large = large_.load(std::memory_order_acquire);
    allocator_stats answer = large != nullptr ? large->stats() : allocator_stats{};
    answer.live_count = size();
    answer.live_bytes += passthrough_.bytes();
    std::unique_lock lock(mutex_, std::defer_lock);
    if (is_shared_) lock.lock();
    std::size_t granules = 0;
    for (const block* each = blocks_; each != nullptr; each = each->next) {
        for (std::size_t index = 0; index < each->touched_pages; ++index) {
            const page& which = each->pages[layout_.first_page() + index];
            if (which.place != page_place::empty) granules += layout_.granules_in(which) - which.free_granules;
        }
    }
    answer.live_bytes += granules << layout_.granule_shift;
    if (!is_shared_) answer.live_bytes -= unused_bytes(own_);
    answer.peak_bytes += peak_pages_ * detail::affinity_page_bytes;
    answer.reserved_bytes += block_count_ * layout_.block_bytes;
    answer.source_blocks += block_count_;
    return answer;
}

affinity_usage affinity_group::usage() noexcept {
    affinity_usage answer;
    answer.name = name_;
    answer.live_count = size();
    if (const heap* const large = large_.load(std::memory_order_acquire)) {
        const allocator_stats of_large = large->stats();
        answer.large_count = of_large.live_count;
        answer.large_bytes = of_large.live_bytes;
    }
    settle_all();
    for (block* each = blocks_; each != nullptr; each = each->next) {
        const std::size_t behind = layout_.first_page() * detail::affinity_page_bytes;
        answer.bookkeeping_bytes += std::max(layout_.front_bytes, behind);
        for (std::size_t index = 0; index < layout_.usable_pages(); ++index) {
            const page& which = each->pages[layout_.first_page() + index];
            const std::size_t bytes = layout_.granules_in(which) << layout_.granule_shift;
            const bool is_used = index < each->touched_pages && which.place != page_place::empty;
            if (!is_used) {
                answer.available_bytes += bytes;
                if (index < each->touched_pages) answer.largest_free_bytes = std::max(answer.largest_free_bytes, bytes);
                continue;
            }
            const std::size_t free = std::size_t{which.free_granules} << layout_.granule_shift;
            const std::size_t largest = largest_run_bytes(which);
            answer.available_bytes += free;
            answer.reserved_bytes += bytes - free;
            answer.largest_free_bytes = std::max(answer.largest_free_bytes, largest);
            answer.free_bytes += free;
            answer.scattered_bytes += free - largest;
        }
    }
    answer.block_count = block_count_;
    answer.total_bytes = block_count_ * layout_.block_bytes;
    return answer;
}

void write_usage(const affinity_usage& usage, usage_form form, void (*write)(void* context, std::string_view piece),
                 void* context) {
    const detail::usage_figure figures[] = {
        {"live_count", "objects", usage.live_count, false},
        {"reserved_bytes", "in use in blocks", usage.reserved_bytes, true},
        {"available_bytes", "available in blocks", usage.available_bytes, true},
        {"bookkeeping_bytes", "bookkeeping of blocks", usage.bookkeeping_bytes, true},
        {"total_bytes", "blocks in all", usage.total_bytes, true},
        {"block_count", "blocks", usage.block_count, false},
        {"largest_free_bytes", "longest free run", usage.largest_free_bytes, true},
        {"free_bytes", "free between objects", usage.free_bytes, true},
        {"scattered_bytes", "free outside the longest run of each page", usage.scattered_bytes, true},
        {"large_count", "large objects, on the group's heap", usage.large_count, false},
        {"large_bytes", "bytes in large objects", usage.large_bytes, true},
    };
    detail::write_figures({form, write, context}, "affinity group", usage.name, figures);
    if (form == usage_form::json) write(context, "}\n");
}

}
