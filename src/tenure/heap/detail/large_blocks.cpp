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

/// Writes the size and state of a run to both of its ends.
void mark(large_run& run, std::size_t units, bool is_free) noexcept {
    large_run& last = *(&run + units - 1);
    run.units = last.units = static_cast<std::uint32_t>(units);
    run.is_free = last.is_free = is_free;
}

[[nodiscard]] std::size_t units_for(std::size_t bytes) noexcept { return (bytes + unit_bytes - 1) / unit_bytes; }

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
    return index_of(run) + run.units == unit_count() ? nullptr : &run + run.units;
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
        mark(whole, unit_count() - head_units(), true);
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

large_run* large_blocks::add_segment() noexcept {
    void* const memory = memory_.acquire(memory_.segment_bytes(), memory_.segment_bytes());
    if (memory == nullptr) return nullptr;
    auto* const segment = static_cast<large_segment*>(memory);
    if (!memory_.announce(*segment, large_class)) {
        memory_.release(memory, memory_.segment_bytes());
        return nullptr;
    }
    segment->free_units = 0;
    segment->next = first_;
    first_ = segment;
    ++segment_count_;
    // The head is in front of the first run and is never free.
    segment->runs[head_units() - 1].is_free = false;
    large_run& whole = segment->runs[head_units()];
    mark(whole, unit_count() - head_units(), true);
    std::memset(segment->dirty, 0, sizeof segment->dirty);
    std::memset(segment->stale, 0, sizeof segment->stale);
    return &whole;
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
    const std::size_t gap = alignment > unit_bytes ? alignment / unit_bytes - 1 : 0;
    const platform::lock_guard lock(mutex_);
    large_run* run = find(units + gap);
    if (run == nullptr) run = add_segment();
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
            release(run);
            return freed;
        }
    }
    report_misuse("a large heap block was freed twice, or the pointer is not the start of one", block,
                  "Look for a second owner of this block.");
    return {};
}

bool large_blocks::resize(void* block, std::size_t bytes) noexcept {
    if (bytes > memory_.segment_bytes()) return false;
    const std::size_t wanted = units_for(bytes);
    large_run& run = run_of(block);
    const platform::lock_guard lock(mutex_);
    const std::size_t before = run.units;
    if (wanted > before) {
        large_run* const after = run_after(run);
        if (after == nullptr || !after->is_free || before + after->units < wanted) return false;
        remove(*after);
        mark(run, before + std::exchange(after->units, 0), false);
        memory_.count_use((wanted - before) * unit_bytes);
    } else {
        memory_.uncount_use((before - wanted) * unit_bytes);
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
        any |= segment.dirty[word] & bits;
        segment.dirty[word] |= bits;
        segment.stale[word] &= ~bits;
    });
    return any == 0 && memory_.is_zeroed() ? contents::zero : contents::unknown;
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
        const std::size_t size = (last - first) * unit_bytes;
        if (!memory_.decommit(pointer_at(address_of(&segment) + first * unit_bytes), size)) continue;
        bytes += size;
        if (platform::page_bytes() > unit_bytes) continue; // the ends may still hold data
        for_each_word_of(first, last - first, [&](std::size_t word, bit_word bits) {
            segment.dirty[word] &= ~bits;
            segment.stale[word] &= ~bits;
        });
    }
    return bytes;
}

std::size_t large_blocks::trim() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (large_segment** link = &first_; *link != nullptr;) {
        large_segment* const segment = *link;
        if (segment->free_units == unit_count() - head_units()) {
            large_run& whole = segment->runs[head_units()];
            for (const bit_word word : segment->dirty) bytes += count_bits(word) * unit_bytes;
            bytes += head_units() * unit_bytes;
            remove(whole);
            *link = segment->next;
            --segment_count_;
            memory_.withdraw(*segment);
            memory_.release(segment, memory_.segment_bytes());
            continue;
        }
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (run->is_free) bytes += decommit_run(*run, 1, segment->dirty);
        }
        link = &segment->next;
    }
    return bytes;
}

// Pieces below 64 KiB stay: a system call for each of thousands would cost more than they hold.
constexpr std::size_t least_swept = std::size_t{64} * 1024 / unit_bytes;

std::size_t large_blocks::sweep() noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (large_segment* segment = first_; segment != nullptr; segment = segment->next) {
        for (large_run* run = &segment->runs[head_units()]; run != nullptr; run = run_after(*run)) {
            if (!run->is_free || run->units < least_swept) continue;
            bytes += decommit_run(*run, least_swept, segment->stale);
            for_each_word_of(index_of(*run), run->units, [&](std::size_t word, bit_word bits) {
                segment->stale[word] |= segment->dirty[word] & bits;
            });
        }
    }
    return bytes;
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
        bytes += platform::resident_bytes_in(segment, memory_.segment_bytes());
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
