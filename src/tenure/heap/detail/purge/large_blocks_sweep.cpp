// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Returns the memory of free runs of large blocks to the source: on call, and when it was free for a purge delay.

#include <tenure/heap/detail/large_blocks.hpp>

#include <algorithm>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// Pieces below 64 KiB stay, if a caller sweeps: a system call for each of thousands would cost more than they hold.
constexpr std::size_t least_swept = std::size_t{64} * 1024 / unit_bytes;

}

/// Number of units in an OS page; 1 where an OS page is no larger.
std::size_t large_blocks::units_of_os_page() noexcept {
    return std::max<std::size_t>(platform::page_bytes() / unit_bytes, 1);
}

/// Decommits the free units from `first` to `last`, where they fill whole OS pages.
/// Returns   the number of bytes.
/// Requires  the lock.
std::size_t large_blocks::decommit_units(large_segment& segment, std::size_t first, std::size_t last) noexcept {
    first = align_up(first, units_of_os_page());
    last = align_down(last, units_of_os_page());
    if (first >= last) return 0;
    const std::size_t bytes = (last - first) * unit_bytes;
    if (!memory_.decommit(pointer_at(address_of(&segment) + first * unit_bytes), bytes)) return 0;
    for_each_word_of(first, last - first, [&](std::size_t word, bit_word bits) {
        segment.dirty[word] &= ~bits;
        segment.stale[word] &= ~bits;
    });
    return bytes;
}

/// Releases the segment behind a link of the list.
/// Requires  the lock; the segment has no block.
void large_blocks::release_segment(large_segment** link) noexcept {
    large_segment* const segment = *link;
    remove(segment->runs[head_units()]);
    *link = segment->next;
    --segment_count_;
    ++releases_;
    mapped_units_ -= segment->units;
    memory_.release_segment(*segment, segment->units * unit_bytes);
}

/// Decommits the units of a free run that are in the set `among`, in sequences of at least `at_least` units.
/// Returns   the number of bytes.
/// Requires  the lock.
std::size_t large_blocks::decommit_run(large_run& run, std::size_t at_least, const bit_word* among) noexcept {
    large_segment& segment = segment_of(&run);
    const std::size_t end = index_of(run) + run.units;
    std::size_t bytes = 0;
    for (std::size_t at = index_of(run); at < end;) {
        const bit_word rest = among[at / bits_per_word] >> (at % bits_per_word);
        if (rest == 0) { // none up to the end of the word
            at = (at / bits_per_word + 1) * bits_per_word;
            continue;
        }
        const std::size_t first = at + lowest_bit(rest);
        std::size_t last = first;
        while (last < end && (among[last / bits_per_word] & bit_at(last)) != 0) ++last;
        at = last + 1;
        if (first >= end || last - first < at_least) continue;
        bytes += decommit_units(segment, first, last);
    }
    return bytes;
}

std::size_t large_blocks::trim() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (large_segment** link = &first_; *link != nullptr;) {
        large_segment* const segment = *link;
        if (segment->free_units == segment->units - head_units()) {
            for (const bit_word word : segment->dirty) bytes += count_bits(word) * unit_bytes;
            bytes += head_units() * unit_bytes;
            release_segment(link);
            continue;
        }
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (run->is_free) bytes += decommit_run(*run, 1, segment->dirty);
        }
        link = &segment->next;
    }
    return bytes;
}

large_blocks::sweep_place large_blocks::begin_sweep() const noexcept {
    const platform::lock_guard lock(mutex_);
    sweep_place place;
    place.next = first_;
    place.releases = releases_;
    return place;
}

bool large_blocks::sweep_some(sweep_place& place, sweep_scope scope, sweep_result& result) noexcept {
    large_segment* const segment = place.next;
    const std::size_t at_least = scope.is_thorough ? 1 : least_swept;
    bit_word old[max_units / bits_per_word]{};
    {
        const platform::lock_guard lock(mutex_);
        if (segment == nullptr || place.releases != releases_) return false; // the next sweep sees the others
        place.next = segment->next;
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (!run->is_free || run->units < at_least) continue;
            for_each_word_of(index_of(*run), run->units, [&](std::size_t word, bit_word bits) {
                const bit_word touched = segment->dirty[word] & bits;
                old[word] |= scope.is_urgent ? touched : touched & segment->stale[word];
                segment->stale[word] |= touched;
                result.young_bytes += count_bits(touched & ~old[word]) * unit_bytes;
            });
        }
        for (std::size_t word = 0; word < max_units / bits_per_word; ++word)
            segment->purged_before[word] = std::exchange(segment->purged[word], 0);
    }
    decommit_in_steps(*segment, old, at_least, result);
    if (release_if_idle(*segment)) {
        ++place.releases;
        result.returned_bytes += head_units() * unit_bytes;
    }
    return place.next != nullptr;
}

/// Decommits units that a sweep found free, in sequences of at least `at_least` units. Each step holds the lock for one
/// system call, and first looks whether the units are still free: stale units are.
void large_blocks::decommit_in_steps(large_segment& segment, const bit_word* among, std::size_t at_least,
                                     sweep_result& result) noexcept {
    constexpr std::size_t most_at_once = (std::size_t{1} << 20) / unit_bytes;
    const std::size_t unit_count = memory_.segment_bytes() / unit_bytes; // the segment may shrink meanwhile
    for (std::size_t at = head_units(); at < unit_count;) {
        if (among[at / bits_per_word] >> (at % bits_per_word) == 0) {
            at = (at / bits_per_word + 1) * bits_per_word;
            continue;
        }
        const platform::lock_guard lock(mutex_);
        const auto is_due = [&](std::size_t unit) {
            return (among[unit / bits_per_word] & segment.stale[unit / bits_per_word] & bit_at(unit)) != 0;
        };
        std::size_t last = at;
        while (last < unit_count && last - at < most_at_once && is_due(last)) ++last;
        if (last - at == most_at_once) last = align_down(last, units_of_os_page()); // the next step begins a page
        if (last - at >= at_least) {
            const std::size_t bytes = decommit_units(segment, at, last);
            if (bytes != 0)
                for_each_word_of(at, last - at, [&](std::size_t word, bit_word bits) { segment.purged[word] |= bits; });
            result.returned_bytes += bytes;
        }
        at = last == at ? at + 1 : last;
    }
}

std::size_t large_blocks::release_tails() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        const std::size_t before = segment->units;
        const large_run& last = segment->runs[before - 1];
        if (!last.is_free) continue;
        large_run& tail = *(&segment->runs[before] - last.units);
        const std::size_t begin = index_of(tail);
        const std::size_t after = align_up(begin * unit_bytes, memory_.segment_step()) / unit_bytes;
        if (after >= before) continue;
        remove(tail);
        const bool is_shrunk = memory_.shrink_segment(*segment, before * unit_bytes, after * unit_bytes);
        if (is_shrunk) {
            for_each_word_of(after, before - after, [&](std::size_t word, bit_word bits) {
                segment->dirty[word] &= ~bits;
                segment->stale[word] &= ~bits;
                segment->purged[word] &= ~bits;
                segment->purged_before[word] &= ~bits;
            });
            segment->units = after;
            segment->is_stuck = false;
            mapped_units_ -= before - after;
            bytes += (before - after) * unit_bytes;
        }
        if (begin == segment->units) continue;
        mark(tail, segment->units - begin, true);
        insert(tail);
    }
    return bytes;
}

/// Releases a segment without a block that earlier sweeps have returned entirely, except for the last.
bool large_blocks::release_if_idle(large_segment& segment) noexcept {
    const platform::lock_guard lock(mutex_);
    if (segment.free_units != segment.units - head_units() || segment_count_ == 1) return false;
    bit_word touched = 0;
    // The units that share an OS page with the head stay touched.
    const std::size_t first = align_up(head_units(), units_of_os_page());
    for_each_word_of(first, max_units - first, [&](std::size_t word, bit_word bits) {
        touched |= (segment.dirty[word] | segment.purged[word] | segment.purged_before[word]) & bits;
    });
    if (touched != 0) return false;
    large_segment** link = &first_;
    while (*link != &segment) link = &(*link)->next;
    release_segment(link);
    return true;
}

std::size_t large_blocks::release_free(std::size_t at_most) noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (bytes >= at_most) return bytes;
            if (run->is_free && run->units >= least_swept) bytes += decommit_run(*run, least_swept, segment->dirty);
        }
    }
    return bytes;
}

}
