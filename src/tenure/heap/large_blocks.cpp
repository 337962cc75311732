// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/large_blocks.hpp>

#include <bit>
#include <cstring>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/sanitizer.hpp>

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

[[nodiscard]] large_segment& segment_of(const void* inside) noexcept {
    return *static_cast<large_segment*>(pointer_at(align_down(address_of(inside), heap_segment_bytes)));
}

[[nodiscard]] std::size_t index_of(const large_run& run) noexcept {
    return static_cast<std::size_t>(&run - segment_of(&run).runs);
}

[[nodiscard]] std::uintptr_t begin_of(const large_run& run) noexcept {
    return address_of(&segment_of(&run)) + index_of(run) * granule_bytes;
}

[[nodiscard]] large_run& run_of(const void* block) noexcept {
    return segment_of(block).runs[(address_of(block) & (heap_segment_bytes - 1)) / granule_bytes];
}

[[nodiscard]] large_run* run_after(large_run& run) noexcept {
    return index_of(run) + run.granules == granules_per_segment ? nullptr : &run + run.granules;
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

large_blocks::~large_blocks() {
    while (first_ != nullptr) {
        large_segment* const released = first_;
        first_ = released->next;
        platform::remove_leak_root(released, heap_segment_bytes);
        source_.release(released, heap_segment_bytes);
    }
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

/// A free run of at least so many granules, taken out of its list; null when there is none.
large_run* large_blocks::find(std::size_t granules) noexcept {
    auto [doubling, list] = place_of(rounded_up(granules));
    unsigned lists = doubling < doublings ? lists_with_free_[doubling] & (0xFFu << list) : 0;
    if (lists == 0) {
        bit_word const larger = doubling + 1 < doublings ? doublings_with_free_ & ~low_bits(doubling + 1) : 0;
        if (larger != 0) {
            doubling = lowest_bit(larger);
            lists = lists_with_free_[doubling];
        }
    }
    large_run* found = lists != 0 ? lists_[doubling][lowest_bit(lists)] : nullptr;
    if (found == nullptr) {
        // The list of the size itself has smaller and larger ones; a few looks are cheaper than a segment.
        auto const [own_doubling, own_list] = place_of(granules);
        found = lists_[own_doubling][own_list];
        for (int looks = 0; found != nullptr && found->granules < granules; ++looks)
            found = looks < 16 ? found->next : nullptr;
    }
    if (found != nullptr) remove(*found);
    return found;
}

large_run* large_blocks::add_segment() noexcept {
    void* const memory = source_.acquire(heap_segment_bytes, heap_segment_bytes);
    if (memory == nullptr) return nullptr;
    auto* const segment = static_cast<large_segment*>(memory);
    std::memset(segment->class_of_slice, large_class, sizeof segment->class_of_slice);
    segment->free_granules = 0;
    segment->next = first_;
    first_ = segment;
    ++segment_count_;
    platform::add_leak_root(memory, heap_segment_bytes);
    // What lies before the first run is the head, which is never free.
    segment->runs[large_header_granules - 1].is_free = false;
    large_run& whole = segment->runs[large_header_granules];
    mark(whole, granules_per_segment - large_header_granules, true);
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

void* large_blocks::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const granules = granules_for(bytes);
    std::size_t const gap = alignment > granule_bytes ? alignment / granule_bytes - 1 : 0;
    if (granules + gap > granules_per_segment - large_header_granules) return nullptr;
    std::lock_guard const lock(mutex_);
    large_run* run = find(granules + gap);
    if (run == nullptr) run = add_segment();
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
    live_granules_ += granules;
    return pointer_at(begin_of(*run));
}

void large_blocks::deallocate(void* block) noexcept {
    large_run& run = run_of(block);
    std::lock_guard const lock(mutex_);
    if (run.is_free || run.granules == 0 || !is_aligned(block, granule_bytes)) {
        report_misuse("a large heap block was freed twice, or is not the begin of one", block,
                      "Look for a second owner of this block.");
        return;
    }
    live_granules_ -= run.granules;
    release(run);
}

bool large_blocks::resize(void* block, std::size_t bytes) noexcept {
    std::size_t const wanted = granules_for(bytes);
    large_run& run = run_of(block);
    std::lock_guard const lock(mutex_);
    std::size_t const before = run.granules;
    if (wanted > before) {
        large_run* const after = run_after(run);
        if (after == nullptr || !after->is_free || before + after->granules < wanted) return false;
        remove(*after);
        mark(run, before + std::exchange(after->granules, 0), false);
    }
    split(run, wanted);
    live_granules_ += wanted - before;
    return true;
}

std::size_t large_blocks::usable_bytes(const void* block) const noexcept {
    std::lock_guard const lock(mutex_);
    return std::size_t{run_of(block).granules} * granule_bytes;
}

std::size_t large_blocks::trim() noexcept {
    std::size_t bytes = 0;
    std::lock_guard const lock(mutex_);
    for (large_segment** link = &first_; *link != nullptr;) {
        large_segment* const segment = *link;
        if (segment->free_granules == granules_per_segment - large_header_granules) {
            remove(segment->runs[large_header_granules]);
            *link = segment->next;
            --segment_count_;
            platform::remove_leak_root(segment, heap_segment_bytes);
            source_.release(segment, heap_segment_bytes);
            bytes += heap_segment_bytes;
            continue;
        }
        for (large_run* run = &segment->runs[large_header_granules]; run != nullptr; run = run_after(*run)) {
            std::size_t const size = std::size_t{run->granules} * granule_bytes;
            if (run->is_free && source_.decommit(pointer_at(begin_of(*run)), size)) bytes += size;
        }
        link = &segment->next;
    }
    return bytes;
}

std::size_t large_blocks::live_bytes() const noexcept {
    std::lock_guard const lock(mutex_);
    return live_granules_ * granule_bytes;
}

std::size_t large_blocks::segment_count() const noexcept {
    std::lock_guard const lock(mutex_);
    return segment_count_;
}

bool large_blocks::valid() const noexcept {
    std::lock_guard const lock(mutex_);
    std::size_t free_runs = 0, live = 0;
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        std::size_t free = 0;
        bool was_free = false;
        for (large_run* run = &segment->runs[large_header_granules]; run != nullptr; run = run_after(*run)) {
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
