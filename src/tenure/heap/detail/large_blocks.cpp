// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/large_blocks.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct list_place {
    std::size_t doubling;
    std::size_t list;
};

/// The list for a free run of this many units. Below eight units, each count has its own list.
[[nodiscard]] list_place place_of(std::size_t units) noexcept {
    if (units < 8) return {0, units};
    const auto exponent = static_cast<std::size_t>(std::bit_width(units)) - 1;
    return {exponent - 2, (units >> (exponent - 3)) & 7};
}

/// The smallest count whose list holds only runs of at least `units`.
[[nodiscard]] std::size_t rounded_up(std::size_t units) noexcept {
    if (units < 8) return units;
    const auto exponent = static_cast<std::size_t>(std::bit_width(units)) - 1;
    return units + (std::size_t{1} << (exponent - 3)) - 1;
}

[[nodiscard]] std::size_t units_for(std::size_t bytes) noexcept { return (bytes + unit_bytes - 1) / unit_bytes; }

}

/// Writes the size and state of a run to both of its ends.
void large_blocks::mark(large_run& run, std::size_t units, bool is_free) noexcept {
    large_run& last = *(&run + units - 1);
    run.units = last.units = static_cast<std::uint32_t>(units);
    run.is_free = last.is_free = is_free;
}

large_segment& large_blocks::segment_of(const void* inside) const noexcept {
    return *static_cast<large_segment*>(segment_head::of(inside, memory_.segment_bytes()));
}

std::size_t large_blocks::index_of(const large_run& run) const noexcept {
    return static_cast<std::size_t>(&run - segment_of(&run).runs);
}

std::uintptr_t large_blocks::begin_of(const large_run& run) const noexcept {
    return address_of(&segment_of(&run)) + index_of(run) * unit_bytes;
}

large_run& large_blocks::run_of(const void* block) const noexcept {
    return segment_of(block).runs[(address_of(block) & (memory_.segment_bytes() - 1)) / unit_bytes];
}

large_run* large_blocks::run_after(large_run& run) const noexcept {
    return index_of(run) + run.units == segment_of(&run).units ? nullptr : &run + run.units;
}

void large_blocks::forget_runs() noexcept {
    memory_.uncount_use(live_units_ * unit_bytes);
    live_units_ = live_count_ = 0;
    doublings_with_free_ = 0;
    for (std::size_t doubling = 0; doubling < doublings; ++doubling) {
        lists_with_free_[doubling] = 0;
        for (large_run*& list : lists_[doubling]) list = nullptr;
    }
}

void large_blocks::free_all() noexcept {
    const platform::lock_guard lock(mutex_);
    forget_runs();
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        segment->free_units = 0;
        large_run& whole = segment->runs[head_units()];
        mark(whole, segment->units - head_units(), true);
        insert(whole);
    }
}

void large_blocks::release_all() noexcept {
    while (first_ != nullptr) {
        large_segment* const released = first_;
        first_ = released->next;
        memory_.release_segment(*released, released->units * unit_bytes);
    }
    segment_count_ = mapped_units_ = 0;
    forget_runs();
}

void large_blocks::insert(large_run& run) noexcept {
    const auto [doubling, list] = place_of(run.units);
    push_front(lists_[doubling][list], run);
    lists_with_free_[doubling] = static_cast<std::uint8_t>(lists_with_free_[doubling] | (1u << list));
    doublings_with_free_ |= bit_at(doubling);
    segment_of(&run).free_units += run.units;
}

void large_blocks::remove(large_run& run) noexcept {
    const auto [doubling, list] = place_of(run.units);
    unlink(lists_[doubling][list], run);
    segment_of(&run).free_units -= run.units;
    if (lists_[doubling][list] != nullptr) return;
    lists_with_free_[doubling] = static_cast<std::uint8_t>(lists_with_free_[doubling] & ~(1u << list));
    if (lists_with_free_[doubling] == 0) doublings_with_free_ &= ~bit_at(doubling);
}

/// Best fit among the first runs of a list: the smallest that is large enough.
large_run* large_blocks::best_in(large_run* first, std::size_t units) noexcept {
    constexpr int max_looks = 16;
    large_run* best = nullptr;
    large_run* run = first;
    for (int looks = 0; run != nullptr && looks < max_looks; ++looks, run = run->next) {
        if (run->units >= units && (best == nullptr || run->units < best->units)) best = run;
    }
    return best;
}

/// Removes a free run of at least this many units from its list; nullptr if there is none. The list of the size itself
/// holds smaller and larger runs: a few looks there cost less than the fragments that a larger run would leave.
large_run* large_blocks::find(std::size_t units) noexcept {
    const auto [own_doubling, own_list] = place_of(units);
    large_run* found = best_in(lists_[own_doubling][own_list], units);
    if (found == nullptr) {
        auto [doubling, list] = place_of(rounded_up(units));
        unsigned lists = doubling < doublings ? lists_with_free_[doubling] & (0xFFu << list) : 0;
        if (lists == 0) {
            const bit_word larger = doubling + 1 < doublings ? doublings_with_free_ & ~low_bits(doubling + 1) : 0;
            if (larger != 0) {
                doubling = lowest_bit(larger);
                lists = lists_with_free_[doubling];
            }
        }
        if (lists != 0) found = best_in(lists_[doubling][lowest_bit(lists)], units);
    }
    if (found != nullptr) remove(*found);
    return found;
}

/// The last resort: any run that is large enough, however long the search takes.
large_run* large_blocks::find_any(std::size_t units) noexcept {
    const auto [doubling, list] = place_of(units);
    large_run* found = lists_[doubling][list];
    while (found != nullptr && found->units < units) found = found->next;
    if (found != nullptr) remove(*found);
    return found;
}

/// Adds a segment with a free run of at least this many units, as large as all segments so far.
/// Returns   the run, which is in no list.
large_run* large_blocks::add_segment(std::size_t units) noexcept {
    std::size_t mapped = 0;
    auto* const segment = static_cast<large_segment*>(
        memory_.acquire_segment(mapped_units_ * unit_bytes, (head_units() + units) * unit_bytes, large_class, mapped));
    if (segment == nullptr) return nullptr;
    segment->units = mapped / unit_bytes;
    segment->free_units = 0;
    segment->is_stuck = false;
    segment->next = first_;
    first_ = segment;
    ++segment_count_;
    mapped_units_ += segment->units;
    // The head is in front of the first run and is never free.
    segment->runs[head_units() - 1].is_free = false;
    large_run& whole = segment->runs[head_units()];
    mark(whole, segment->units - head_units(), true);
    std::memset(segment->dirty, 0, sizeof segment->dirty);
    std::memset(segment->stale, 0, sizeof segment->stale);
    std::memset(segment->purged, 0, sizeof segment->purged);
    std::memset(segment->purged_before, 0, sizeof segment->purged_before);
    return &whole;
}

/// Extends a segment by at least this many units, which join the free run at its end.
/// Returns   that run, which is in no list; nullptr when the segment cannot be extended, and nothing changes.
large_run* large_blocks::extend(large_segment& segment, std::size_t units) noexcept {
    const std::size_t before = segment.units;
    if (segment.is_stuck || (before + units) * unit_bytes > memory_.segment_bytes()) return nullptr;
    const std::size_t mapped =
        memory_.extend_segment(segment, before * unit_bytes, units * unit_bytes, large_class) / unit_bytes;
    segment.is_stuck = mapped == before;
    if (segment.is_stuck) return nullptr;
    segment.units = mapped;
    mapped_units_ += mapped - before;
    const large_run& last = segment.runs[before - 1];
    const std::size_t at_end = last.is_free ? last.units : 0;
    large_run& joined = segment.runs[before - at_end];
    if (at_end != 0) remove(joined);
    mark(joined, mapped - before + at_end, true);
    return &joined;
}

/// Extends a segment until a run of this many units is free at its end.
/// Returns   the run, which is in no list; nullptr when no segment can be extended.
large_run* large_blocks::extend_a_segment(std::size_t units) noexcept {
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        const large_run& last = segment->runs[segment->units - 1];
        const std::size_t at_end = last.is_free ? last.units : 0; // fewer than requested, or find() has missed it
        large_run* const extended = extend(*segment, units > at_end ? units - at_end : 1);
        if (extended != nullptr) return extended;
    }
    return nullptr;
}

/// Keeps the first `units` of a run that is in no list, and frees the rest.
void large_blocks::split(large_run& run, std::size_t units) noexcept {
    const std::size_t rest = run.units - units;
    if (rest == 0) return;
    large_run& behind = *(&run + units);
    mark(run, units, run.is_free);
    mark(behind, rest, false);
    release(behind);
}

/// Frees a run and joins it with free neighbours.
void large_blocks::release(large_run& run) noexcept {
    large_run* first = &run;
    std::size_t units = run.units;
    if (large_run* const after = run_after(run); after != nullptr && after->is_free) {
        remove(*after);
        units += std::exchange(after->units, 0); // no run begins here any more
    }
    run.units = 0;
    if (const large_run& last_before = *(first - 1); last_before.is_free) {
        first -= last_before.units;
        remove(*first);
        units += first->units;
    }
    mark(*first, units, true);
    insert(*first);
}

void* large_blocks::allocate(std::size_t bytes, std::size_t alignment, contents& found, std::uint16_t tag) noexcept {
    if (!fits_segment(bytes, alignment, memory_.segment_bytes())) return nullptr;
    const std::size_t units = units_for(bytes);
    if (!memory_.may_use(units * unit_bytes)) return nullptr;
    const std::size_t gap = alignment > unit_bytes ? alignment / unit_bytes - 1 : 0;
    const platform::lock_guard lock(mutex_);
    large_run* run = find(units + gap);
    if (run == nullptr) run = extend_a_segment(units + gap);
    if (run == nullptr) run = add_segment(units + gap);
    if (run == nullptr) run = find_any(units + gap);
    if (run == nullptr) return nullptr;
    const std::size_t skipped = (align_up(begin_of(*run), alignment) - begin_of(*run)) / unit_bytes;
    if (skipped != 0) {
        large_run* const aligned = run + skipped;
        mark(*aligned, run->units - skipped, false);
        mark(*run, skipped, true);
        insert(*run); // its predecessor is not free, or both would be one run
        run = aligned;
    }
    mark(*run, run->units, false);
    split(*run, units);
    found = touch(*run, 0, units);
    run->tag = tag;
    live_units_ += units;
    ++live_count_;
    memory_.count_use(units * unit_bytes);
    return pointer_at(begin_of(*run));
}

freed_block large_blocks::deallocate(void* block) noexcept {
    large_run& run = run_of(block);
    {
        const platform::lock_guard lock(mutex_);
        if (!run.is_free && run.units != 0 && is_aligned(block, unit_bytes)) {
            live_units_ -= run.units;
            --live_count_;
            const freed_block freed{run.tag, run.units * unit_bytes};
            memory_.uncount_use(freed.bytes);
            freed_.add(memory_, freed.bytes);
            release(run);
            return freed;
        }
    }
    report_misuse("a large heap block was freed twice, or the pointer is not the start of one", block,
                  "Look for a second owner of this block.");
    return {};
}

/// Takes the free run behind a block from its list, extending the segment if the run ends there and is too short.
/// Returns   nullptr when fewer than `units` are free, and nothing changes.
large_run* large_blocks::run_behind(large_run& run, std::size_t units) noexcept {
    large_run* const after = run_after(run);
    if (after != nullptr && !after->is_free) return nullptr;
    const std::size_t free = after != nullptr ? after->units : 0;
    if (free >= units) {
        remove(*after);
        return after;
    }
    large_segment& segment = segment_of(&run);
    return index_of(run) + run.units + free == segment.units ? extend(segment, units - free) : nullptr;
}

bool large_blocks::resize(void* block, std::size_t bytes) noexcept {
    if (bytes > memory_.segment_bytes()) return false;
    const std::size_t wanted = units_for(bytes);
    large_run& run = run_of(block);
    const platform::lock_guard lock(mutex_);
    const std::size_t before = run.units;
    if (wanted > before) {
        if (!memory_.may_use((wanted - before) * unit_bytes)) return false;
        large_run* const after = run_behind(run, wanted - before);
        if (after == nullptr) return false;
        mark(run, before + std::exchange(after->units, 0), false);
        memory_.count_use((wanted - before) * unit_bytes);
    } else {
        memory_.uncount_use((before - wanted) * unit_bytes);
        freed_.add(memory_, (before - wanted) * unit_bytes);
    }
    split(run, wanted);
    if (wanted > before) static_cast<void>(touch(run, before, wanted - before));
    live_units_ += wanted - before;
    return true;
}

// No lock: only the block's owner changes its record.
std::size_t large_blocks::usable_bytes(const void* block) const noexcept {
    return std::size_t{run_of(block).units} * unit_bytes;
}

bool large_blocks::is_block(const void* block) const noexcept {
    const std::size_t index = (address_of(block) & (memory_.segment_bytes() - 1)) / unit_bytes;
    if (!is_aligned(block, unit_bytes) || index < head_units()) return false;
    const platform::lock_guard lock(mutex_);
    for (large_run* run = &segment_of(block).runs[head_units()]; run != nullptr; run = run_after(*run)) {
        if (index_of(*run) >= index) return index_of(*run) == index && !run->is_free;
    }
    return false;
}

void large_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                            void* context) const noexcept {
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (!run->is_free) visit(context, pointer_at(begin_of(*run)), run->units * unit_bytes);
        }
    }
}

/// Marks units of a run as touched.
/// Returns   their contents before that.
/// Requires  the lock.
contents large_blocks::touch(large_run& run, std::size_t first, std::size_t count) noexcept {
    large_segment& segment = segment_of(&run);
    bit_word any = 0;
    for_each_word_of(index_of(run) + first, count, [&](std::size_t word, bit_word bits) {
        const bit_word touched = segment.dirty[word];
        any |= touched & bits;
        segment.dirty[word] = touched | bits;
        segment.stale[word] &= ~bits;
        if ((bits & ~touched) == 0) return; // none of them was purged
        if (const bit_word again = (segment.purged[word] | segment.purged_before[word]) & bits; again != 0) {
            memory_.count_thrash(count_bits(again) * unit_bytes);
            segment.purged[word] &= ~bits;
            segment.purged_before[word] &= ~bits;
        }
    });
    if (const std::size_t page = units_of_os_page(); page != 1) [[unlikely]] {
        const std::size_t begin = std::max(align_down(index_of(run) + first, page), head_units());
        const std::size_t end = align_up(index_of(run) + first + count, page); // segments end with an OS page
        for_each_word_of(begin, end - begin, [&](std::size_t word, bit_word bits) { segment.dirty[word] |= bits; });
    }
    return any == 0 && memory_.is_zeroed() ? contents::zero : contents::unknown;
}

std::size_t large_blocks::live_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_count_;
}

std::size_t large_blocks::live_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_units_ * unit_bytes;
}

std::size_t large_blocks::committed_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    std::size_t units = segment_count_ * head_units();
    for (const large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (const bit_word word : segment->dirty) units += count_bits(word);
    }
    return units * unit_bytes;
}

std::size_t large_blocks::resident_bytes() const noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (const large_segment* segment = first_; segment != nullptr; segment = segment->next)
        bytes += platform::resident_bytes_in(segment, segment->units * unit_bytes);
    return bytes;
}

std::size_t large_blocks::segment_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return segment_count_;
}

bool large_blocks::valid() const noexcept {
    const platform::lock_guard lock(mutex_);
    std::size_t free_runs = 0, live = 0;
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        std::size_t free = 0;
        bool was_free = false;
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            const large_run& last = *(run + run->units - 1);
            const bool ends_agree = last.units == run->units && last.is_free == run->is_free;
            if (run->units == 0 || !ends_agree || (was_free && run->is_free)) return false;
            was_free = run->is_free;
            free_runs += std::size_t{was_free};
            (was_free ? free : live) += run->units;
        }
        if (free != segment->free_units) return false;
    }
    std::size_t listed = 0;
    for (std::size_t doubling = 0; doubling < doublings; ++doubling) {
        if (((doublings_with_free_ & bit_at(doubling)) != 0) != (lists_with_free_[doubling] != 0)) return false;
        for (std::size_t list = 0; list < lists_per_doubling; ++list) {
            const large_run* run = lists_[doubling][list];
            if (((lists_with_free_[doubling] >> list & 1u) != 0) != (run != nullptr)) return false;
            for (; run != nullptr; run = run->next) {
                const auto place = place_of(run->units);
                if (!run->is_free || place.doubling != doubling || place.list != list) return false;
                ++listed;
            }
        }
    }
    return listed == free_runs && live == live_units_;
}

}
