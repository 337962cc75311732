// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/page_map.hpp>

#include <algorithm>
#include <new>
#include <span>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/profile/section_writer.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/resident.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace format = profile_format;

static_assert(purge_unit_bytes == format::page_bytes && unit_bytes == format::page_bytes);

void page_map::add(const void* range, std::size_t bytes, format::page_use use) noexcept {
    const bool is_block = use == format::page_use::large_block;
    const std::uint16_t live = is_block ? format::page_bytes : 0, blocks = is_block ? 1 : 0;
    platform::for_each_resident(pointer_at(address_of(range)), bytes, [&](void* part, std::size_t part_bytes) {
        const auto pages = static_cast<std::uint32_t>(part_bytes / format::page_bytes);
        if (pages != 0) runs_.add({address_of(part), pages, use, live, blocks, 0});
    });
}

void page_map::page_state::count(std::uintptr_t slice_begin) noexcept {
    std::fill(std::begin(units), std::end(units), unit_figures{});
    const std::size_t front = blocks.begin - slice_begin;
    for (std::size_t index = 0; index < blocks.blocks_used; ++index) {
        if (!blocks.is_allocated(index)) continue;
        std::size_t at = front + index * blocks.block_bytes;
        for (const std::size_t end = at + blocks.block_bytes; at < end;) {
            const std::size_t unit = at / format::page_bytes;
            if (unit >= units_per_page) break;
            const std::size_t next = std::min(end, (unit + 1) * format::page_bytes);
            units[unit].live_bytes = static_cast<std::uint16_t>(units[unit].live_bytes + (next - at));
            ++units[unit].blocks;
            at = next;
        }
    }
}

void heap_pages::map_segment(const heap_segment& segment, page_map& to) const noexcept {
    std::size_t bytes = 0;
    {
        const platform::lock_guard lock(mutex_);
        bytes = segment.mapped_bytes;
        std::copy(std::begin(segment.free_slices), std::end(segment.free_slices), to.segment.free_slices);
        std::copy_n(segment.first_slice, bytes / slice_bytes, to.segment.first_slice);
    }
    const std::uintptr_t begin = address_of(&segment);
    const std::size_t head = head_slices();
    std::size_t counted = max_slices; // the first slice of the page that has been counted
    bool is_page = false;
    platform::for_each_resident(pointer_at(begin), bytes, [&](void* part, std::size_t part_bytes) {
        for (std::uintptr_t at = address_of(part), end = at + part_bytes; at < end; at += format::page_bytes) {
            const std::size_t slice = (at - begin) / slice_bytes;
            format::page_run run{at, 1, format::page_use::free, 0, 0, 0};
            if (slice < head) {
                run.use = format::page_use::records;
            } else if ((to.segment.free_slices[slice / bits_per_word] & bit_at(slice)) == 0) {
                const std::size_t first = to.segment.first_slice[slice];
                if (counted != first) {
                    is_page = heap_shard::copy_use(segment.pages[first], to.page.blocks);
                    if (is_page) to.page.count(begin + first * slice_bytes);
                    counted = first;
                }
                const std::size_t unit = (at - begin - first * slice_bytes) / format::page_bytes;
                if (is_page && unit < page_map::units_per_page) {
                    run.use = format::page_use::small_blocks;
                    run.live_bytes = to.page.units[unit].live_bytes;
                    run.blocks = to.page.units[unit].blocks;
                    run.block_bytes = to.page.blocks.block_bytes;
                }
            }
            to.runs_.add(run);
        }
    });
}

void heap_pages::map(page_map& to) const noexcept {
    const auto next_of = [this](const heap_segment* const& link) {
        const platform::lock_guard lock(mutex_);
        return link;
    };
    const heap_segment* segment = next_of(first_);
    while (segment != nullptr) {
        map_segment(*segment, to);
        segment = next_of(segment->next);
    }
}

void large_blocks::map(page_map& to) const noexcept {
    const platform::lock_guard lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        to.add(segment, head_units() * unit_bytes, format::page_use::records);
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            to.add(pointer_at(begin_of(*run)), run->units * unit_bytes,
                   run->is_free ? format::page_use::free : format::page_use::large_block);
        }
    }
}

void huge_blocks::map(page_map& to) const noexcept {
    const platform::lock_guard lock(mutex_);
    for (const huge_block* block = live_.first; block != nullptr; block = block->next) {
        const std::uintptr_t begin = block->mapped + block->lead_bytes;
        const std::uintptr_t end = align_up(begin + block->bytes, format::page_bytes);
        const std::uintptr_t last = block->mapped + block->mapped_bytes;
        to.add(pointer_at(block->mapped), block->lead_bytes, format::page_use::records);
        to.add(pointer_at(begin), end - begin, format::page_use::large_block);
        if (end < last) to.add(pointer_at(end), last - end, format::page_use::slack);
    }
    for (const huge_block* block = kept_.first; block != nullptr; block = block->next)
        to.add(pointer_at(block->mapped), block->mapped_bytes, format::page_use::free);
}

void heap_core::map_pages(page_map& to) const noexcept {
    const platform::lock_guard no_sweep(purge_mutex_);
    pages_.map(to);
    large_.map(to);
    huge_.map(to);
}

void write_heap_pages(section_writer& to) noexcept {
    heap_core& core = process_core();
    alignas(page_map) static char place[sizeof(page_map)];
    const auto receive = [](void* context, std::span<const format::page_run> runs) noexcept {
        auto& writer = *static_cast<section_writer*>(context);
        writer.begin(format::section::pages, sizeof(format::page_run), runs.size());
        writer.words(runs.data(), runs.size_bytes());
    };
    auto* const map = ::new (place) page_map(receive, &to);
    core.map_pages(*map);
    map->~page_map();
    to.begin(format::section::cached, sizeof(format::cached_blocks), small_class_count);
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const format::cached_blocks cached{class_bytes(index), core.cached_count(index)};
        to.words(&cached, sizeof cached);
    }
}

}
