// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/purge/page_purge.hpp>

#include <algorithm>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/purge/sweep.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// A page has at most 8 slices of 8 units, so that one word has a bit for each.
constexpr std::size_t max_units_per_page = bits_per_word;
static_assert(slices_of_page(small_class_count - 1) * units_per_slice <= max_units_per_page);

[[nodiscard]] std::uint8_t* units_of(const small_page& page, std::size_t segment_bytes) noexcept {
    auto& segment = *static_cast<heap_segment*>(segment_head::of(&page, segment_bytes));
    return segment.purged_units + (&page - segment.pages);
}

[[nodiscard]] bit_word purged_units(const small_page& page, std::size_t segment_bytes) noexcept {
    const std::uint8_t* const units = units_of(page, segment_bytes);
    bit_word all = 0;
    for (std::size_t slice = slices_of_page(page.class_index); slice-- != 0;)
        all = all << units_per_slice | units[slice];
    return all;
}

void set_purged_units(const small_page& page, std::size_t segment_bytes, bit_word all) noexcept {
    std::uint8_t* const units = units_of(page, segment_bytes);
    for (std::size_t slice = 0; slice < slices_of_page(page.class_index); ++slice, all >>= units_per_slice)
        units[slice] = static_cast<std::uint8_t>(all);
}

/// The units from `first` to `last`.
[[nodiscard]] bit_word unit_range(std::size_t first, std::size_t last) noexcept {
    return first < last ? low_bits(last - first) << first : 0;
}

/// The units that lie in OS pages without a block in use. Units that no block has reached yet are not among them: few
/// were touched, by an earlier page in the same slices, and the next blocks of this page reach them.
[[nodiscard]] bit_word free_units(const small_page& page) noexcept {
    const std::size_t os_page = platform::page_bytes();
    // Where an OS page is larger than a slice, this page may begin inside one.
    const std::size_t lead = align_down(page.begin % os_page, purge_unit_bytes);
    const std::size_t page_bytes = slices_of_page(page.class_index) * slice_bytes;
    const std::size_t used = page.blocks_used();
    bit_word all = 0;
    for (std::size_t index = 0; index < used;) {
        const std::size_t first = index;
        while (index < used && !page.is_allocated(index)) ++index;
        // The rest of the page behind the last block is as free as that block.
        const std::size_t end = index == used ? page_bytes : index * page.block_bytes;
        const std::size_t begin = align_up(lead + first * page.block_bytes, os_page) - lead;
        const std::size_t last = std::max(align_down(lead + end, os_page), lead) - lead;
        if (index != first) all |= unit_range(begin / purge_unit_bytes, last / purge_unit_bytes);
        while (index < used && page.is_allocated(index)) ++index;
    }
    const std::size_t touched = align_up(lead + used * page.block_bytes, os_page) - lead;
    return all & unit_range(0, std::min(touched, page_bytes) / purge_unit_bytes);
}

}

std::size_t purge_free_units(small_page& page, heap_memory& memory, std::uint16_t sweep) noexcept {
    if (std::size_t{page.free_count} * page.block_bytes < platform::page_bytes()) return 0;
    const bit_word before = page.has_purged ? purged_units(page, memory.segment_bytes()) : 0;
    bit_word due = free_units(page) & ~before;
    bit_word purged = before;
    std::size_t bytes = 0;
    while (due != 0) {
        const std::size_t first = lowest_bit(due);
        const bit_word rest = ~(due >> first); // its lowest bit is the end of the run
        const std::size_t count = rest == 0 ? max_units_per_page - first : lowest_bit(rest);
        const bit_word run = unit_range(first, first + count);
        due &= ~run;
        if (!memory.decommit(pointer_at(page.begin + first * purge_unit_bytes), count * purge_unit_bytes)) continue;
        purged |= run;
        bytes += count * purge_unit_bytes;
    }
    if (bytes == 0) return 0;
    page.has_purged = true;
    page.purged_in = sweep;
    set_purged_units(page, memory.segment_bytes(), purged);
    memory.count_holes(bytes);
    return bytes;
}

void forget_purged_units(small_page& page, heap_memory& memory, std::uintptr_t begin, std::uintptr_t end) noexcept {
    const bit_word before = purged_units(page, memory.segment_bytes());
    const bit_word touched = before & unit_range((begin - page.begin) / purge_unit_bytes,
                                                 (end - page.begin + purge_unit_bytes - 1) / purge_unit_bytes);
    if (touched == 0) return;
    page.has_purged = before != touched;
    set_purged_units(page, memory.segment_bytes(), before & ~touched);
    const std::size_t bytes = count_bits(touched) * purge_unit_bytes;
    memory.uncount_holes(bytes);
    const auto sweeps_since = static_cast<std::uint16_t>(memory.sweeps() - page.purged_in);
    if (sweeps_since < sweeps_per_delay) memory.count_thrash(bytes);
}

std::size_t purged_bytes_of(const small_page& page, std::size_t segment_bytes) noexcept {
    return page.has_purged ? count_bits(purged_units(page, segment_bytes)) * purge_unit_bytes : 0;
}

}
