// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/small/heap_pages.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/purge/page_purge.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t max_slices_of_page = slices_of_page(small_class_count - 1);

}

/// Allocates a run of 1, 2, 4 or 8 slices, at a multiple of its length.
/// Returns   the first slice, or max_slices.
std::size_t heap_pages::allocate_slices(heap_segment& segment, std::size_t count, among which) const noexcept {
    constexpr bit_word every_bit = ~bit_word{0};
    constexpr bit_word every_of[] = {every_bit, every_bit / 0x3, every_bit / 0xF, every_bit / 0xFF};
    const bit_word first_of_each = every_of[lowest_bit(count)]; // every count-th bit
    for (std::size_t word = 0; word < slice_words; ++word) {
        bit_word free = segment.free_slices[word];
        if (which == among::touched) free &= segment.dirty_slices[word];
        // The first bit of each run stays set if all bits of the run are set.
        for (std::size_t joined = 1; joined < count; joined *= 2) free &= free >> joined;
        free &= first_of_each;
        if (free == 0) continue;
        const std::size_t bit = lowest_bit(free);
        const bit_word taken = low_bits(count) << bit;
        segment.free_slices[word] &= ~taken;
        segment.dirty_slices[word] |= taken;
        segment.stale_slices[word] &= ~taken;
        segment.free_count -= count;
        if (const bit_word recent = segment.purged_slices[word] | segment.purged_before[word]; (recent & taken) != 0) {
            memory_.count_thrash(count_bits(recent & taken) * slice_bytes);
            segment.purged_slices[word] &= ~taken;
            segment.purged_before[word] &= ~taken;
        }
        return word * bits_per_word + bit;
    }
    return max_slices;
}

void heap_pages::release_all() noexcept {
    while (first_ != nullptr) {
        heap_segment* const released = first_;
        first_ = released->next;
        memory_.release_segment(*released, released->mapped_bytes);
    }
    std::ranges::fill(first_free_, nullptr);
    segment_count_ = mapped_bytes_ = 0;
}

/// Call it when slices of the segment became free: pages of each length may fit now.
void heap_pages::list_free(heap_segment& segment) noexcept {
    for (std::size_t length = 0; length < page_lengths; ++length) {
        if (std::exchange(segment.is_listed_free[length], true)) continue;
        segment.next_free[length] = std::exchange(first_free_[length], &segment);
    }
}

/// Rebuilds the lists after segments were released.
void heap_pages::relist_free() noexcept {
    std::ranges::fill(first_free_, nullptr);
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        std::ranges::fill(segment->is_listed_free, false);
        if (segment->free_count != 0) list_free(*segment);
    }
}

/// Takes slices for a page of a segment that has them free. Touched memory first: it causes no page fault and does not
/// increase the process's memory.
/// Cost      amortized O(1) segments: one without room leaves the list until slices of it are freed.
/// Returns   nullptr if none has.
heap_segment* heap_pages::find_slices(std::size_t count, std::size_t& slice) noexcept {
    constexpr int looks_for_touched = 8;
    const std::size_t length = lowest_bit(count);
    heap_segment*& first = first_free_[length];
    heap_segment* segment = first;
    for (int look = 0; segment != nullptr && look < looks_for_touched; ++look, segment = segment->next_free[length]) {
        slice = allocate_slices(*segment, count, among::touched);
        if (slice != max_slices) return segment;
    }
    while (first != nullptr) {
        slice = allocate_slices(*first, count, among::all);
        if (slice != max_slices) return first;
        first->is_listed_free[length] = false;
        first = first->next_free[length];
    }
    return nullptr;
}

void heap_pages::add_slices(heap_segment& segment, std::size_t begin, std::size_t end) const noexcept {
    if (const std::size_t guard = guard_slices(end); guard != 0) {
        end -= guard;
        if (has(mitigations_on(), mitigation::records)) (void)platform::seal(segment.slice(end), guard * slice_bytes);
    }
    for (std::size_t slice = begin; slice < end; ++slice) segment.free_slices[slice / bits_per_word] |= bit_at(slice);
    if (!memory_.is_zeroed()) { // sweeps look for owners in slices where no page has begun yet
        for (std::size_t slice = begin; slice < end; ++slice)
            segment.pages[slice].owner.store(nullptr, std::memory_order_relaxed);
    }
    segment.free_count += end - begin;
}

/// Adds a segment, as large as all segments so far: a small program maps little, and a large one rarely extends.
heap_segment* heap_pages::add_segment() noexcept {
    std::size_t mapped = 0;
    auto* const segment = static_cast<heap_segment*>(
        memory_.acquire_segment(mapped_bytes_, (head_slices() + max_slices_of_page) * slice_bytes, no_class, mapped));
    if (segment == nullptr) return nullptr;
    // allocate() initializes page records and bits.
    std::memset(segment->free_slices, 0, sizeof segment->free_slices);
    std::memset(segment->dirty_slices, 0, sizeof segment->dirty_slices);
    std::memset(segment->stale_slices, 0, sizeof segment->stale_slices);
    std::memset(segment->purged_slices, 0, sizeof segment->purged_slices);
    std::memset(segment->purged_before, 0, sizeof segment->purged_before);
    segment->mapped_bytes = mapped;
    segment->free_count = 0;
    add_slices(*segment, head_slices(), segment->slice_count());
    if constexpr (checks::caller) seal_guards(*segment);
    segment->next = first_;
    std::ranges::fill(segment->is_listed_free, false);
    segment->is_stuck = false;
    first_ = segment;
    ++segment_count_;
    mapped_bytes_ += mapped;
    list_free(*segment);
    return segment;
}

/// Extends a segment whose mapped part is used up.
/// Returns   nullptr when none can be extended.
heap_segment* heap_pages::extend_a_segment() noexcept {
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        const std::size_t before = segment->mapped_bytes;
        if (segment->is_stuck || before == memory_.segment_bytes()) continue;
        const std::size_t after = memory_.extend_segment(*segment, before, memory_.segment_step(), no_class);
        segment->is_stuck = after == before;
        if (segment->is_stuck) continue;
        segment->mapped_bytes = after;
        mapped_bytes_ += after - before;
        add_slices(*segment, before / slice_bytes, after / slice_bytes);
        list_free(*segment);
        return segment;
    }
    return nullptr;
}

/// The source refuses everything: what has refused to extend may do so when memory was freed.
void heap_pages::may_extend_again() noexcept {
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) segment->is_stuck = false;
}

/// In checked builds: the records in the head lie between pages that fault. The page in front of them is the last one
/// of the segment before, if there is one.
void heap_pages::seal_guards(heap_segment& segment) const noexcept {
    if (!has_guards() || !has(mitigations_on(), mitigation::records)) return;
    const std::uintptr_t records_end =
        address_of(&segment) + heap_segment::states_offset(max_segment_bytes) + max_slices * states_per_slice;
    const std::uintptr_t first = align_up(records_end, platform::page_bytes());
    const std::uintptr_t head_end = align_down(address_of(segment.slice(head_slices())), platform::page_bytes());
    if (first < head_end) (void)platform::seal(pointer_at(first), head_end - first);
}

small_page* heap_pages::allocate(std::size_t class_index, bool is_tagged) noexcept {
    const std::size_t slices = slices_of_page(class_index);
    if (!memory_.may_use(slices * slice_bytes)) return nullptr;
    heap_segment* segment = nullptr;
    std::size_t slice = max_slices;
    {
        const platform::lock_guard lock(mutex_);
        segment = find_slices(slices, slice);
        if (segment == nullptr) {
            segment = extend_a_segment();
            if (segment == nullptr) segment = add_segment();
            if (segment == nullptr) {
                may_extend_again();
                return nullptr;
            }
            slice = allocate_slices(*segment, slices, among::all);
            if (slice == max_slices) return nullptr; // the segments are too small for a long page
        }
        // Under the lock, because count_allocations() changes the numbers of all pages.
        small_page& page = segment->pages[slice];
        page.class_index = static_cast<std::uint8_t>(class_index);
        page.samples_and_tagged.store(is_tagged ? small_page::tagged_bit : 0, std::memory_order_relaxed);
        set_numbers(*segment, page);
    }
    memory_.count_use(slices * slice_bytes);
    const std::size_t block_bytes = class_bytes(class_index);
    small_page& page = segment->pages[slice];
    page.begin = address_of(segment->slice(slice)) + front_bytes(class_index);
    page.words_with_free = 0;
    page.block_bytes = static_cast<std::uint32_t>(block_bytes);
    page.capacity = static_cast<std::uint16_t>(blocks_in_page(class_index));
    page.free_count = 0;
    page.words_used = 0;
    page.is_listed = false;
    page.age.store(page_age::changed, std::memory_order_relaxed);
    page.has_purged = false;
    page.bits = has_long_bits(class_index) ? segment->long_bits(slice, memory_.segment_bytes()) : page.own_bits;
    std::memset(page.bits, 0, page.word_count() * sizeof(bit_word));
    if (checks::caller && class_index >= first_checked_class) {
        std::memset(static_cast<void*>(segment->states(slice, memory_.segment_bytes())), state_fresh, page.capacity);
        platform::poison(segment->slice(slice), slices * slice_bytes);
    }
    for (std::size_t each = 0; each < slices; ++each) {
        segment->first_slice[slice + each] = static_cast<std::uint16_t>(slice);
        segment->purged_units[slice + each] = 0;
    }
    return &page;
}

void heap_pages::deallocate(small_page& page) noexcept {
    auto& segment = *static_cast<heap_segment*>(segment_head::of(&page, memory_.segment_bytes()));
    const auto slice = static_cast<std::size_t>(&page - segment.pages);
    const std::size_t slices = slices_of_page(page.class_index);
    page.owner.store(nullptr, std::memory_order_relaxed); // under the owner's lock, which orders it: purge_page()
    if (page.has_purged) memory_.uncount_holes(purged_bytes_of(page, memory_.segment_bytes()));
    page.has_purged = false;
    if constexpr (checks::caller) platform::unpoison(segment.slice(slice), slices * slice_bytes);
    memory_.uncount_use(slices * slice_bytes);
    const platform::lock_guard lock(mutex_);
    for (std::size_t each = 0; each < slices; ++each) segment.set_number(slice + each, no_class);
    freed_.add(memory_, slices * slice_bytes);
    segment.free_slices[slice / bits_per_word] |= low_bits(slices) << (slice % bits_per_word);
    segment.free_count += slices;
    list_free(segment);
}

std::size_t heap_pages::trim() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (heap_segment** link = &first_; *link != nullptr;) {
        heap_segment* const segment = *link;
        bit_word touched[slice_words];
        for (std::size_t word = 0; word < slice_words; ++word) {
            touched[word] = in_whole_os_pages(segment->free_slices[word]) & segment->dirty_slices[word];
            segment->dirty_slices[word] &= ~touched[word];
            touched[word] = os_pages_of(touched[word]);
            segment->stale_slices[word] = 0;
        }
        if (segment->free_count == page_slices(*segment)) {
            for (const bit_word word : touched) bytes += count_bits(word) * slice_bytes;
            bytes += head_slices() * slice_bytes;
            *link = segment->next;
            --segment_count_;
            ++releases_;
            mapped_bytes_ -= segment->mapped_bytes;
            memory_.release_segment(*segment, segment->mapped_bytes);
            continue;
        }
        for_each_run(touched, [&](std::size_t slice, std::size_t count) {
            if (memory_.decommit(segment->slice(slice), count * slice_bytes)) bytes += count * slice_bytes;
        });
        link = &segment->next;
    }
    relist_free();
    return bytes;
}

std::size_t heap_pages::release_tails() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        const std::size_t guard = guard_slices(segment->slice_count());
        std::size_t end = segment->slice_count() - guard;
        while (end > head_slices() && (segment->free_slices[(end - 1) / bits_per_word] & bit_at(end - 1)) != 0) --end;
        const std::size_t before = segment->mapped_bytes;
        const std::size_t after = align_up(end * slice_bytes, memory_.segment_step());
        if (after == before || !memory_.shrink_segment(*segment, before, after)) continue;
        for (std::size_t slice = after / slice_bytes; slice < before / slice_bytes; ++slice) {
            for (auto* const bits : {segment->free_slices, segment->dirty_slices, segment->stale_slices,
                                     segment->purged_slices, segment->purged_before})
                bits[slice / bits_per_word] &= ~bit_at(slice);
        }
        segment->free_count -= (before - after) / slice_bytes - guard;
        segment->mapped_bytes = after;
        segment->is_stuck = false;
        mapped_bytes_ -= before - after;
        bytes += before - after;
    }
    relist_free();
    return bytes;
}

void heap_pages::for_each_page(void (*visit)(void* context, small_page&), void* context) const noexcept {
    for (heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (std::size_t slice = head_slices(); slice < segment->slice_count();) {
            if (!is_page_number(segment->number_of(slice))) {
                ++slice;
                continue;
            }
            small_page& page = segment->pages[slice];
            slice += slices_of_page(page.class_index); // before the visit, which may free the page
            visit(context, page);
        }
    }
}

std::size_t heap_pages::committed_bytes() const noexcept {
    std::size_t slices = 0;
    const platform::lock_guard lock(mutex_);
    for (const heap_segment* segment = first_; segment != nullptr; segment = segment->next) {
        slices += head_slices();
        for (const bit_word word : segment->dirty_slices) slices += count_bits(word);
    }
    return slices * slice_bytes - std::min(memory_.hole_bytes(), slices * slice_bytes);
}

std::size_t heap_pages::resident_bytes() const noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (const heap_segment* segment = first_; segment != nullptr; segment = segment->next)
        bytes += platform::resident_bytes_in(segment, segment->mapped_bytes);
    return bytes;
}

std::size_t heap_pages::segment_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return segment_count_;
}

}
