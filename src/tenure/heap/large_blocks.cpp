// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/large_blocks.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct list_place {
    std::size_t doubling;
    std::size_t list;
};

/// The list that a free run of so many granules is in: below eight granules each count has one of its own.
[[nodiscard]] list_place place_of(std::size_t granules) noexcept {
    if (granules < 8) return {0, granules};
    auto const exponent = static_cast<std::size_t>(std::bit_width(granules)) - 1;
    return {exponent - 2, (granules >> (exponent - 3)) & 7};
}

/// The smallest count whose list holds only runs of at least `granules`.
[[nodiscard]] std::size_t rounded_up(std::size_t granules) noexcept {
    if (granules < 8) return granules;
    auto const exponent = static_cast<std::size_t>(std::bit_width(granules)) - 1;
    return granules + (std::size_t{1} << (exponent - 3)) - 1;
}

/// Writes what both ends of a run say of it.
void mark(large_run& run, std::size_t granules, bool is_free) noexcept {
    large_run& last = *(&run + granules - 1);
    run.granules = last.granules = static_cast<std::uint32_t>(granules);
    run.is_free = last.is_free = is_free;
}

[[nodiscard]] std::size_t granules_for(std::size_t bytes) noexcept {
    return (bytes + granule_bytes - 1) / granule_bytes;
}

}

large_segment& large_blocks::segment_of(const void* inside) const noexcept {
    return *static_cast<large_segment*>(segment_head::of(inside, memory_.segment_bytes()));
}

std::size_t large_blocks::index_of(const large_run& run) const noexcept {
    return static_cast<std::size_t>(&run - segment_of(&run).runs);
}

std::uintptr_t large_blocks::begin_of(const large_run& run) const noexcept {
    return address_of(&segment_of(&run)) + index_of(run) * granule_bytes;
}

large_run& large_blocks::run_of(const void* block) const noexcept {
    return segment_of(block).runs[(address_of(block) & (memory_.segment_bytes() - 1)) / granule_bytes];
}

large_run* large_blocks::run_after(large_run& run) const noexcept {
    return index_of(run) + run.granules == granule_count() ? nullptr : &run + run.granules;
}

void large_blocks::forget_runs() noexcept {
    memory_.uncount_use(live_granules_ * granule_bytes);
    live_granules_ = live_count_ = 0;
    doublings_with_free_ = 0;
    for (std::size_t doubling = 0; doubling < doublings; ++doubling) {
        lists_with_free_[doubling] = 0;
        for (large_run*& list : lists_[doubling]) list = nullptr;
    }
}

void large_blocks::free_all() noexcept {
    platform::lock_guard const lock(mutex_);
    forget_runs();
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        segment->free_granules = 0;
        large_run& whole = segment->runs[head_granules()];
        mark(whole, granule_count() - head_granules(), true);
        insert(whole);
    }
}

void large_blocks::release_all() noexcept {
    while (first_ != nullptr) {
        large_segment* const released = first_;
        first_ = released->next;
        memory_.withdraw(*released);
        memory_.release(released, memory_.segment_bytes());
    }
    segment_count_ = 0;
    forget_runs();
}

void large_blocks::insert(large_run& run) noexcept {
    auto const [doubling, list] = place_of(run.granules);
    large_run*& first = lists_[doubling][list];
    run.previous = nullptr;
    run.next = first;
    if (first != nullptr) first->previous = &run;
    first = &run;
    lists_with_free_[doubling] = static_cast<std::uint8_t>(lists_with_free_[doubling] | (1u << list));
    doublings_with_free_ |= bit_at(doubling);
    segment_of(&run).free_granules += run.granules;
}

void large_blocks::remove(large_run& run) noexcept {
    auto const [doubling, list] = place_of(run.granules);
    (run.previous != nullptr ? run.previous->next : lists_[doubling][list]) = run.next;
    if (run.next != nullptr) run.next->previous = run.previous;
    segment_of(&run).free_granules -= run.granules;
    if (lists_[doubling][list] != nullptr) return;
    lists_with_free_[doubling] = static_cast<std::uint8_t>(lists_with_free_[doubling] & ~(1u << list));
    if (lists_with_free_[doubling] == 0) doublings_with_free_ &= ~bit_at(doubling);
}

/// The best of the first runs in a list: the smallest that is large enough.
large_run* large_blocks::best_in(large_run* first, std::size_t granules) noexcept {
    constexpr int most_looks = 16;
    large_run* best = nullptr;
    large_run* run = first;
    for (int looks = 0; run != nullptr && looks < most_looks; ++looks, run = run->next) {
        if (run->granules >= granules && (best == nullptr || run->granules < best->granules)) best = run;
    }
    return best;
}

/// A free run of at least so many granules, taken out of its list; null when there is none. The list of the size itself
/// has smaller and larger ones: a few looks there cost less than what a larger run would leave in pieces.
large_run* large_blocks::find(std::size_t granules) noexcept {
    auto const [own_doubling, own_list] = place_of(granules);
    large_run* found = best_in(lists_[own_doubling][own_list], granules);
    if (found == nullptr) {
        auto [doubling, list] = place_of(rounded_up(granules));
        unsigned lists = doubling < doublings ? lists_with_free_[doubling] & (0xFFu << list) : 0;
        if (lists == 0) {
            bit_word const larger = doubling + 1 < doublings ? doublings_with_free_ & ~low_bits(doubling + 1) : 0;
            if (larger != 0) {
                doubling = lowest_bit(larger);
                lists = lists_with_free_[doubling];
            }
        }
        if (lists != 0) found = best_in(lists_[doubling][lowest_bit(lists)], granules);
    }
    if (found != nullptr) remove(*found);
    return found;
}

/// When nothing else is to be had: any run that is large enough, however long the look takes.
large_run* large_blocks::find_any(std::size_t granules) noexcept {
    auto const [doubling, list] = place_of(granules);
    large_run* found = lists_[doubling][list];
    while (found != nullptr && found->granules < granules) found = found->next;
    if (found != nullptr) remove(*found);
    return found;
}

large_run* large_blocks::add_segment() noexcept {
    void* const memory = memory_.acquire(memory_.segment_bytes(), memory_.segment_bytes());
    if (memory == nullptr) return nullptr;
    auto* const segment = static_cast<large_segment*>(memory);
    if (!memory_.announce(*segment, large_class)) {
        memory_.release(memory, memory_.segment_bytes());
        return nullptr;
    }
    segment->free_granules = 0;
    segment->next = first_;
    first_ = segment;
    ++segment_count_;
    // What lies before the first run is the head, which is never free.
    segment->runs[head_granules() - 1].is_free = false;
    large_run& whole = segment->runs[head_granules()];
    mark(whole, granule_count() - head_granules(), true);
    std::memset(segment->dirty, 0, sizeof segment->dirty);
    std::memset(segment->stale, 0, sizeof segment->stale);
    return &whole;
}

/// Leaves the first `granules` of a run that is in no list, and makes the rest a free run.
void large_blocks::split(large_run& run, std::size_t granules) noexcept {
    std::size_t const rest = run.granules - granules;
    if (rest == 0) return;
    large_run& behind = *(&run + granules);
    mark(run, granules, run.is_free);
    mark(behind, rest, false);
    release(behind);
}

/// Makes a run free and joins it with free neighbours.
void large_blocks::release(large_run& run) noexcept {
    large_run* first = &run;
    std::size_t granules = run.granules;
    if (large_run* const after = run_after(run); after != nullptr && after->is_free) {
        remove(*after);
        granules += std::exchange(after->granules, 0); // no run begins here any more
    }
    run.granules = 0;
    if (large_run const& last_before = *(first - 1); last_before.is_free) {
        first -= last_before.granules;
        remove(*first);
        granules += first->granules;
    }
    mark(*first, granules, true);
    insert(*first);
}

void* large_blocks::allocate(std::size_t bytes, std::size_t alignment, contents& found, std::uint16_t tag) noexcept {
    if (!fits_segment(bytes, alignment, memory_.segment_bytes())) return nullptr;
    std::size_t const granules = granules_for(bytes);
    std::size_t const gap = alignment > granule_bytes ? alignment / granule_bytes - 1 : 0;
    platform::lock_guard const lock(mutex_);
    large_run* run = find(granules + gap);
    if (run == nullptr) run = add_segment();
    if (run == nullptr) run = find_any(granules + gap);
    if (run == nullptr) return nullptr;
    std::size_t const skipped = (align_up(begin_of(*run), alignment) - begin_of(*run)) / granule_bytes;
    if (skipped != 0) {
        large_run* const aligned = run + skipped;
        mark(*aligned, run->granules - skipped, false);
        mark(*run, skipped, true);
        insert(*run); // what is before it is not free, or it would be part of it
        run = aligned;
    }
    mark(*run, run->granules, false);
    split(*run, granules);
    found = touch(*run, 0, granules);
    run->tag = tag;
    live_granules_ += granules;
    ++live_count_;
    memory_.count_use(granules * granule_bytes);
    return pointer_at(begin_of(*run));
}

freed_block large_blocks::deallocate(void* block) noexcept {
    large_run& run = run_of(block);
    {
        platform::lock_guard const lock(mutex_);
        if (!run.is_free && run.granules != 0 && is_aligned(block, granule_bytes)) {
            live_granules_ -= run.granules;
            --live_count_;
            freed_block const freed{run.tag, run.granules * granule_bytes};
            memory_.uncount_use(freed.bytes);
            release(run);
            return freed;
        }
    }
    report_misuse("a large heap block was freed twice, or is not the begin of one", block,
                  "Look for a second owner of this block.");
    return {};
}

bool large_blocks::resize(void* block, std::size_t bytes) noexcept {
    if (bytes > memory_.segment_bytes()) return false;
    std::size_t const wanted = granules_for(bytes);
    large_run& run = run_of(block);
    platform::lock_guard const lock(mutex_);
    std::size_t const before = run.granules;
    if (wanted > before) {
        large_run* const after = run_after(run);
        if (after == nullptr || !after->is_free || before + after->granules < wanted) return false;
        remove(*after);
        mark(run, before + std::exchange(after->granules, 0), false);
        memory_.count_use((wanted - before) * granule_bytes);
    } else {
        memory_.uncount_use((before - wanted) * granule_bytes);
    }
    split(run, wanted);
    if (wanted > before) static_cast<void>(touch(run, before, wanted - before));
    live_granules_ += wanted - before;
    return true;
}

// Without the lock: nobody but the block's owner changes its record.
std::size_t large_blocks::usable_bytes(const void* block) const noexcept {
    return std::size_t{run_of(block).granules} * granule_bytes;
}

bool large_blocks::is_block(const void* block) const noexcept {
    std::size_t const index = (address_of(block) & (memory_.segment_bytes() - 1)) / granule_bytes;
    if (!is_aligned(block, granule_bytes) || index < head_granules()) return false;
    platform::lock_guard const lock(mutex_);
    for (large_run* run = &segment_of(block).runs[head_granules()]; run != nullptr; run = run_after(*run)) {
        if (index_of(*run) >= index) return index_of(*run) == index && !run->is_free;
    }
    return false;
}

void large_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                            void* context) const noexcept {
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_granules()]; run != nullptr; run = run_after(*run)) {
            if (!run->is_free) visit(context, pointer_at(begin_of(*run)), run->granules * granule_bytes);
        }
    }
}

/// Notes that granules of a run are to be written. Returns   what is in them until then. Requires  the lock.
contents large_blocks::touch(large_run& run, std::size_t first, std::size_t count) noexcept {
    large_segment& segment = segment_of(&run);
    bit_word any = 0;
    for_each_word_of(index_of(run) + first, count, [&](std::size_t word, bit_word bits) {
        any |= segment.dirty[word] & bits;
        segment.dirty[word] |= bits;
        segment.stale[word] &= ~bits;
    });
    return any == 0 && memory_.gives_zero() ? contents::zero : contents::unknown;
}

/// Gives to the system what of a free run is among the granules in the set, where it makes at least so many in a row.
/// Returns   the bytes. Requires  the lock.
std::size_t large_blocks::give_back(large_run& run, std::size_t at_least, const bit_word* among) noexcept {
    large_segment& segment = segment_of(&run);
    std::size_t const end = index_of(run) + run.granules;
    std::size_t bytes = 0;
    for (std::size_t at = index_of(run); at < end;) {
        bit_word const rest = among[at / bits_per_word] >> (at % bits_per_word);
        if (rest == 0) { // none up to the end of the word
            at = (at / bits_per_word + 1) * bits_per_word;
            continue;
        }
        std::size_t const first = at + lowest_bit(rest);
        std::size_t last = first;
        while (last < end && (among[last / bits_per_word] & bit_at(last)) != 0) ++last;
        at = last + 1;
        if (first >= end || last - first < at_least) continue;
        std::size_t const size = (last - first) * granule_bytes;
        if (!memory_.decommit(pointer_at(address_of(&segment) + first * granule_bytes), size)) continue;
        bytes += size;
        if (platform::page_bytes() > granule_bytes) continue; // the ends may still hold something
        for_each_word_of(first, last - first, [&](std::size_t word, bit_word bits) {
            segment.dirty[word] &= ~bits;
            segment.stale[word] &= ~bits;
        });
    }
    return bytes;
}

std::size_t large_blocks::trim() noexcept {
    std::size_t bytes = 0;
    platform::lock_guard const lock(mutex_);
    for (large_segment** link = &first_; *link != nullptr;) {
        large_segment* const segment = *link;
        if (segment->free_granules == granule_count() - head_granules()) {
            large_run& whole = segment->runs[head_granules()];
            for (bit_word const word : segment->dirty) bytes += count_bits(word) * granule_bytes;
            bytes += head_granules() * granule_bytes;
            remove(whole);
            *link = segment->next;
            --segment_count_;
            memory_.withdraw(*segment);
            memory_.release(segment, memory_.segment_bytes());
            continue;
        }
        for (large_run* run = &segment->runs[head_granules()]; run != nullptr; run = run_after(*run)) {
            if (run->is_free) bytes += give_back(*run, 1, segment->dirty);
        }
        link = &segment->next;
    }
    return bytes;
}

// Pieces below 64 KiB stay: a system call for each of thousands would cost more than they hold.
constexpr std::size_t least_swept = std::size_t{64} * 1024 / granule_bytes;

std::size_t large_blocks::sweep() noexcept {
    std::size_t bytes = 0;
    platform::lock_guard const lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_granules()]; run != nullptr; run = run_after(*run)) {
            if (!run->is_free || run->granules < least_swept) continue;
            bytes += give_back(*run, least_swept, segment->stale);
            for_each_word_of(index_of(*run), run->granules, [&](std::size_t word, bit_word bits) {
                segment->stale[word] |= segment->dirty[word] & bits;
            });
        }
    }
    return bytes;
}

std::size_t large_blocks::release_free(std::size_t at_most) noexcept {
    std::size_t bytes = 0;
    platform::lock_guard const lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_granules()]; run != nullptr; run = run_after(*run)) {
            if (bytes >= at_most) return bytes;
            if (run->is_free && run->granules >= least_swept) bytes += give_back(*run, least_swept, segment->dirty);
        }
    }
    return bytes;
}

std::size_t large_blocks::live_count() const noexcept {
    platform::lock_guard const lock(mutex_);
    return live_count_;
}

std::size_t large_blocks::live_bytes() const noexcept {
    platform::lock_guard const lock(mutex_);
    return live_granules_ * granule_bytes;
}

std::size_t large_blocks::committed_bytes() const noexcept {
    platform::lock_guard const lock(mutex_);
    std::size_t granules = segment_count_ * head_granules();
    for (large_segment const* segment = first_; segment != nullptr; segment = segment->next) {
        for (bit_word const word : segment->dirty) granules += count_bits(word);
    }
    return granules * granule_bytes;
}

std::size_t large_blocks::resident_bytes() const noexcept {
    std::size_t bytes = 0;
    platform::lock_guard const lock(mutex_);
    for (large_segment const* segment = first_; segment != nullptr; segment = segment->next)
        bytes += platform::resident_bytes_in(segment, memory_.segment_bytes());
    return bytes;
}

std::size_t large_blocks::segment_count() const noexcept {
    platform::lock_guard const lock(mutex_);
    return segment_count_;
}

bool large_blocks::valid() const noexcept {
    platform::lock_guard const lock(mutex_);
    std::size_t free_runs = 0, live = 0;
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        std::size_t free = 0;
        bool was_free = false;
        for (large_run* run = &segment->runs[head_granules()]; run != nullptr; run = run_after(*run)) {
            large_run const& last = *(run + run->granules - 1);
            bool const ends_agree = last.granules == run->granules && last.is_free == run->is_free;
            if (run->granules == 0 || !ends_agree || (was_free && run->is_free)) return false;
            was_free = run->is_free;
            free_runs += std::size_t{was_free};
            (was_free ? free : live) += run->granules;
        }
        if (free != segment->free_granules) return false;
    }
    std::size_t listed = 0;
    for (std::size_t doubling = 0; doubling < doublings; ++doubling) {
        if (((doublings_with_free_ & bit_at(doubling)) != 0) != (lists_with_free_[doubling] != 0)) return false;
        for (std::size_t list = 0; list < lists_per_doubling; ++list) {
            large_run const* run = lists_[doubling][list];
            if (((lists_with_free_[doubling] >> list & 1u) != 0) != (run != nullptr)) return false;
            for (; run != nullptr; run = run->next) {
                auto const place = place_of(run->granules);
                if (!run->is_free || place.doubling != doubling || place.list != list) return false;
                ++listed;
            }
        }
    }
    return listed == free_runs && live == live_granules_;
}

}
