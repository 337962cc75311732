// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Sweeps of pages: what has been free for a purge delay goes back to the source.

#include <atomic>
#include <utility>

#include <tenure/heap/detail/small/heap_pages.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

heap_pages::sweep_place heap_pages::begin_sweep() const noexcept {
    const platform::lock_guard lock(mutex_);
    sweep_place place;
    place.segment = first_;
    place.releases = releases_;
    return place;
}

bool heap_pages::sweep_some(sweep_place& place, sweep_scope scope, sweep_result& result) noexcept {
    heap_segment* const segment = place.segment;
    heap_segment* next = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        if (segment == nullptr || place.releases != releases_) return false; // the next sweep sees the others
        next = segment->next;
    }
    if (scope.is_thorough) sweep_pages(*segment, place.word, scope, result);
    sweep_free_slices(*segment, place.word, scope, result);
    if (++place.word != slice_words) return true;
    if (release_if_idle(*segment)) {
        ++place.releases;
        result.returned_bytes += head_slices() * slice_bytes;
    }
    place.segment = next;
    place.word = 0;
    return next != nullptr;
}

/// Decommits free slices of a word. They are nobody's meanwhile, so that the pages' lock is
/// free during the system call; that of the memory is not.
void heap_pages::sweep_free_slices(heap_segment& segment, std::size_t word, sweep_scope scope,
                                   sweep_result& result) noexcept {
    bit_word hidden[slice_words]{};
    {
        const platform::lock_guard lock(mutex_);
        const bit_word touched = in_whole_os_pages(segment.free_slices[word]) & segment.dirty_slices[word];
        const bit_word young = scope.is_urgent ? 0 : touched & ~segment.stale_slices[word];
        hidden[word] = os_pages_of(touched) & ~os_pages_of(young);
        segment.stale_slices[word] = touched & ~hidden[word];
        segment.purged_before[word] = std::exchange(segment.purged_slices[word], 0);
        segment.free_slices[word] &= ~hidden[word];
        segment.free_count -= count_bits(hidden[word]);
        result.young_bytes += count_bits(touched & ~hidden[word]) * slice_bytes;
    }
    if (hidden[word] == 0) return;
    bit_word returned = 0;
    for_each_run(hidden, [&](std::size_t slice, std::size_t count) {
        if (!memory_.decommit(segment.slice(slice), count * slice_bytes)) return;
        returned |= low_bits(count) << (slice % bits_per_word);
        result.returned_bytes += count * slice_bytes;
    });
    const platform::lock_guard lock(mutex_);
    segment.free_slices[word] |= hidden[word];
    segment.dirty_slices[word] &= ~returned;
    segment.stale_slices[word] |= hidden[word] & ~returned; // refused, as locked memory is: no work for the next sweeps
    segment.purged_slices[word] |= returned;
    segment.free_count += count_bits(hidden[word]);
    list_free(segment);
}

/// Decommits what is free in pages in use, if the page has not changed since the previous sweep.
void heap_pages::sweep_pages(heap_segment& segment, std::size_t word, sweep_scope scope,
                             sweep_result& result) noexcept {
    const bit_word used = [&] {
        const platform::lock_guard lock(mutex_);
        return segment.dirty_slices[word] & ~segment.free_slices[word];
    }();
    for_each_bit(used, [&](std::size_t bit) {
        small_page& page = segment.pages[word * bits_per_word + bit];
        if (page.owner.load(std::memory_order_acquire) == nullptr) return; // not the first slice of a page
        const page_age age = page.age.load(std::memory_order_relaxed);
        if (age == page_age::changed && !scope.is_urgent) {
            // A change at this moment goes unnoticed once; the page is then purged at half the delay.
            page.age.store(page_age::quiet, std::memory_order_relaxed);
            result.young_bytes += slice_bytes;
        } else if (age != page_age::purged) {
            bool is_awaited = false;
            const std::size_t bytes = heap_shard::purge_page(page, memory_, is_awaited);
            result.returned_bytes += bytes;
            if (!is_awaited) return;
            if (bytes == 0) result.young_bytes += slice_bytes; // may have been left to the next sweep
            platform::sleep_ns(pause_for_waiters_ns);
        }
    });
}

/// Releases a segment without a page that earlier sweeps have returned entirely, except for the last.
bool heap_pages::release_if_idle(heap_segment& segment) noexcept {
    const platform::lock_guard lock(mutex_);
    bit_word touched = 0;
    for (std::size_t word = 0; word < slice_words; ++word)
        touched |= (in_whole_os_pages(segment.free_slices[word]) & segment.dirty_slices[word]) |
                   segment.purged_slices[word] | segment.purged_before[word];
    if (touched != 0 || segment.free_count != page_slices(segment) || segment_count_ == 1) return false;
    heap_segment** link = &first_;
    while (*link != &segment) link = &(*link)->next;
    *link = segment.next;
    --segment_count_;
    ++releases_;
    mapped_bytes_ -= segment.mapped_bytes;
    memory_.release_segment(segment, segment.mapped_bytes);
    relist_free();
    return true;
}

}
