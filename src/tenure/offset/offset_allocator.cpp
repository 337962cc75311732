// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Bins of free ranges in two levels of bits, after Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory
/// allocator for real-time systems" (2004). The records are outside the managed memory and refer to each other by
/// number.
///
/// Most of the time goes into cache misses, not into the search: a range's record and those of its neighbours can be
/// anywhere. Therefore bins are arrays and not linked lists, whose links would touch two more cache lines. A free range
/// too small for every request so far has no record. A deallocated range first prefetches its record, some calls later
/// those of its neighbours, and merges with them once they have arrived.

#include <tenure/offset/offset_allocator.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::uint32_t first_slots = 1024; // 32 KiB of address space, touched as they are used
constexpr detail::sole_use one_thread{
    "offset_allocator", "An offset_allocator serves one thread at a time: hold a lock during every call."};
TENURE_COLD void report_capacity(std::string_view call, std::uint64_t capacity) noexcept {
    report_argument(call, "capacity", capacity, "The largest capacity is max_capacity, 2^62 units.");
}

constexpr std::uint32_t max_slots = (UINT32_MAX >> 1) - 1;

}

offset_allocator::offset_allocator(std::uint64_t capacity, block_source& source) noexcept
    : capacity_(capacity <= max_capacity ? capacity : 0), collected_frame_(frame_clock::now()), source_(source) {
    std::fill(std::begin(waiting_of_), std::end(waiting_of_), none);
    if (checks::caller && capacity > max_capacity) report_capacity("The constructor of offset_allocator", capacity);
}

offset_allocator::offset_allocator(offset_allocator&& other) noexcept
    // NOLINTNEXTLINE(performance-move-constructor-init): all members are copied, and the other is made anew
    : offset_allocator(static_cast<const offset_allocator&>(other)) {
    ::new (&other) offset_allocator(capacity_, source_); // forgets the records
}

offset_allocator& offset_allocator::operator=(offset_allocator&& other) noexcept {
    if (this == &other) return *this;
    this->~offset_allocator();
    return *::new (this) offset_allocator(std::move(other));
}

offset_allocator::~offset_allocator() {
    if (slots_ != nullptr) source_.release(slots_, slot_room_ * sizeof(slot));
}

// Bins.

/// The first bin in which every range has at least the size. Requires  `size` is not zero.
TENURE_ALWAYS_INLINE std::size_t offset_allocator::bin_that_holds(std::uint64_t size) noexcept {
    const auto zeros = static_cast<unsigned>(std::countl_zero(size | 1));
    const bool is_more = size << zeros << (eighths_shift + 1) != 0; // than its bin's minimum
    return bin_of(size) + std::size_t{is_more};
}

/// The first bin that is not empty, from this one on; bin_count if there is none.
TENURE_ALWAYS_INLINE std::size_t offset_allocator::next_bin(std::size_t from) const noexcept {
    const std::size_t top = from >> eighths_shift;
    if (top >= sizeof bin_bits_) return bin_count;
    const unsigned here = bin_bits_[top] & (0xFFu << (from & ((1u << eighths_shift) - 1)));
    if (here != 0) return (top << eighths_shift) + lowest_bit(here);
    const bit_word above = top_bits_ & ~bit_word{1} << top; // top is less than 63
    if (above == 0) return bin_count;
    const std::size_t found = lowest_bit(above);
    return (found << eighths_shift) + lowest_bit(bin_bits_[found]);
}

TENURE_ALWAYS_INLINE void offset_allocator::note(std::size_t filled) noexcept {
    bin_bits_[filled >> eighths_shift] |= static_cast<std::uint8_t>(1u << (filled & ((1u << eighths_shift) - 1)));
    top_bits_ |= bit_at(filled >> eighths_shift);
}

TENURE_ALWAYS_INLINE void offset_allocator::note_empty(std::size_t emptied) noexcept {
    std::uint8_t& bits = bin_bits_[emptied >> eighths_shift];
    bits &= static_cast<std::uint8_t>(~(1u << (emptied & ((1u << eighths_shift) - 1))));
    if (bits == 0) top_bits_ &= ~bit_at(emptied >> eighths_shift);
}

/// Adds a free range to its bin. Requires  its size is final.
TENURE_ALWAYS_INLINE void offset_allocator::insert(std::uint32_t which) noexcept {
    record& added = at(which);
    const std::size_t of = bin_of(added.size);
    std::uint32_t first = bins_[of].first, place = bins_[of].count;
    if (place == ids_in_piece) {
        const std::uint32_t below = std::exchange(first, allocate_slot()); // reserve_ranges() guarantees a slot
        slots_[first].free.marked_below = below | piece::mark;
        place = 0;
        note(of);
    }
    slots_[first].free.ids[place] = which;
    added.link = first;
    added.what = static_cast<std::uint32_t>(of << place_shift) + place;
    bins_[of] = {first, place + 1};
}

/// Removes the newest range of a bin. Prefetches the next one, which the bin's next lookup reads.
TENURE_ALWAYS_INLINE void offset_allocator::pop(bin& from) noexcept {
    if (--from.count == 0) return drop_piece(from);
    prefetch_for_write(&slots_[slots_[from.first].free.ids[from.count - 1]]);
}

/// Frees the first piece of a bin, which is empty.
void offset_allocator::drop_piece(bin& of) noexcept {
    const std::uint32_t gone = of.first;
    of = {slots_[gone].free.below(), ids_in_piece};
    free_slot(gone);
    if (of.first == none) note_empty(static_cast<std::size_t>(&of - bins_));
}

/// Removes a free range from its bin; the bin's newest range takes its place.
TENURE_ALWAYS_INLINE void offset_allocator::remove(std::uint32_t which) noexcept {
    const std::uint32_t link = at(which).link, what = at(which).what;
    bin& from = bins_[what >> place_shift];
    const std::uint32_t moved = slots_[from.first].free.ids[from.count - 1];
    slots_[link].free.ids[what & ((1u << place_shift) - 1)] = moved;
    at(moved).link = link;
    at(moved).what = what;
    pop(from);
}

// Slots, for records and for pieces of bins.

/// Reserves slots for one more range with `count` more records, so that all ranges can later be deallocated one by one
/// without asking for memory. Free ranges are separated by allocated ones, so there is at most one more of them, and
/// their pieces number at most one per bin plus one for every four of them. Returns   false when out of memory.
TENURE_ALWAYS_INLINE bool offset_allocator::reserve_ranges(std::uint32_t count) noexcept {
    static_assert(ids_in_piece >= 4);
    const std::uint64_t free = range_count_ + 2,
                        ranges = std::uint64_t{range_slots_} + count; // including one more allocated range
    if (ranges + free / 4 + bin_count <= slot_room_) return true;
    return make_room(ranges + std::min<std::uint64_t>(free, free / 4 + bin_count)); // a few use fewer pieces than bins
}

/// Returns   false when out of memory.
TENURE_COLD bool offset_allocator::make_room(std::uint64_t count) noexcept {
    if (count <= slot_room_) return true;
    if (count > max_slots) return false;
    std::uint32_t room = std::max(slot_room_, first_slots);
    while (room < count) room = room > max_slots / 2 ? max_slots : room * 2;
    const std::size_t bytes = room * sizeof(slot), before = slot_room_ * sizeof(slot);
    [[maybe_unused]] const detail::caller_allocation allocation("for an offset_allocator's records", bytes);
    void* grown = nullptr;
    detail::allocation_attempt attempt;
    if (slots_ == nullptr) {
        grown = detail::acquire_aligned(source_, bytes, cache_line_bytes);
    } else if (source_.extend(slots_, before, bytes)) {
        grown = slots_;
    } else if (grown = source_.remap(slots_, before, bytes, cache_line_bytes); grown == nullptr) {
        grown = detail::acquire_aligned(source_, bytes, cache_line_bytes);
        if (grown == nullptr) return false;
        std::memcpy(grown, slots_, slot_count_ * sizeof(slot));
        source_.release(slots_, before);
    }
    if (grown == nullptr) return false;
    attempt.succeeded();
    slots_ = static_cast<slot*>(grown);
    slot_room_ = room;
    if (is_aligned(grown, cache_line_bytes)) [[likely]]
        return true;
    // The source moved the records to an address that is not aligned as requested.
    detail::misaligned_block odd;
    void* const aligned = odd.acquire(source_, bytes, cache_line_bytes);
    if (aligned == nullptr) std::abort(); // no place for the records
    std::memcpy(aligned, grown, slot_count_ * sizeof(slot));
    source_.release(grown, bytes);
    slots_ = static_cast<slot*>(aligned);
    static_cast<void>(detail::has_alignment(grown, cache_line_bytes)); // reports it
    return true;
}

/// Requires  reserve_ranges() succeeded.
TENURE_ALWAYS_INLINE std::uint32_t offset_allocator::allocate_slot() noexcept {
    if (spare_ == none) return slot_count_++;
    const std::uint32_t taken = spare_;
    spare_ = at(taken).link;
    return taken;
}

TENURE_ALWAYS_INLINE void offset_allocator::free_slot(std::uint32_t which) noexcept {
    at(which).what = unused;
    at(which).link = spare_;
    spare_ = which;
}

/// Creates the first range, which covers all the managed memory. Returns   false when out of memory.
bool offset_allocator::open() noexcept {
    if (first_ != none || capacity_ == 0) return true;
    if (!reserve_ranges(1)) return false;
    first_ = last_ = allocate_slot();
    at(first_) = {0, capacity_, none, none, none, unused};
    range_slots_ = 1;
    insert(first_);
    return true;
}

/// Adds a range at the start of `which`, a free range or a former one; the caller makes that one smaller.
/// Requires  reserve_ranges() succeeded.
TENURE_ALWAYS_INLINE std::uint32_t offset_allocator::add_before(std::uint32_t which, std::uint64_t offset,
                                                                std::uint64_t size) noexcept {
    const std::uint32_t added = allocate_slot(), left = at(which).left;
    at(added) = {offset, size, left, which, none, in_use};
    (left != none ? at(left).right : first_) = added;
    at(which).left = added;
    ++range_slots_;
    return added;
}

// Allocation.

/// Whether a range can hold a size at an alignment.
TENURE_ALWAYS_INLINE bool offset_allocator::fits(const record& range, std::uint64_t size,
                                                 std::uint64_t alignment) noexcept {
    const std::uint64_t gap = (0 - range.offset) & (alignment - 1);
    return gap <= range.size && range.size - gap >= size;
}

/// The newest free range of a bin that has room for a size at an alignment; none if no bin guarantees one.
TENURE_ALWAYS_INLINE std::uint32_t offset_allocator::find(std::uint64_t size, std::uint64_t alignment) const noexcept {
    // First the newest range of the size's own bin: this reuses a hole of exactly that size.
    if (const std::size_t own = bin_of(size); bins_[own].first != none) {
        if (const std::uint32_t newest = newest_of(own); fits(at(newest), size, alignment)) return newest;
    }
    const std::uint64_t whole = size + (alignment - 1); // below 2^64 because of the limits of both
    const std::size_t other = whole <= capacity_ ? next_bin(bin_that_holds(whole)) : bin_count;
    return other != bin_count ? newest_of(other) : none;
}

/// The same among ranges that may be too small.
std::uint32_t offset_allocator::search(std::uint64_t size, std::uint64_t alignment) const noexcept {
    for (std::size_t of = next_bin(bin_of(size)); of != bin_count; of = next_bin(of + 1)) {
        std::uint32_t count = bins_[of].count;
        for (std::uint32_t part = bins_[of].first; part != none;
             part = slots_[part].free.below(), count = ids_in_piece) {
            const piece& ranges = slots_[part].free;
            for (std::uint32_t i = count; i-- != 0;)
                if (fits(at(ranges.ids[i]), size, alignment)) return ranges.ids[i];
        }
    }
    return none;
}

/// Tries everything that find() leaves out, in turn. It fails only if no range fits.
TENURE_COLD std::uint32_t offset_allocator::find_late(std::uint64_t size, std::uint64_t alignment) noexcept {
    if (!open()) return none;
    settle();
    std::uint32_t found = find(size, alignment);
    if (found != none) return found;
    found = search(size, alignment);
    if (found == none && gap_count_ != 0 && size <= gap_bound_) {
        list_gaps(size);
        found = search(size, alignment);
    }
    if (found != none) { // make it its bin's newest
        remove(found);
        insert(found);
    }
    return found;
}

/// Gives every gap of at least `least` a record, until out of memory.
void offset_allocator::list_gaps(std::uint64_t least) noexcept {
    std::uint64_t bound = 0;
    for (std::uint32_t id = first_; id != none; id = at(id).right) {
        const std::uint32_t right = at(id).right;
        const std::uint64_t end = at(id).end(), next = right != none ? at(right).offset : capacity_;
        if (next == end) continue;
        if (next - end < least || !reserve_ranges(1)) {
            bound = std::max(bound, next - end);
            continue;
        }
        const std::uint32_t added = allocate_slot();
        at(added) = {end, next - end, id, right, none, unused};
        at(id).right = added;
        (right != none ? at(right).left : last_) = added;
        ++range_slots_;
        --gap_count_;
        insert(added);
        id = added;
    }
    gap_bound_ = bound;
}

std::uint64_t offset_allocator::largest_gap() const noexcept {
    std::uint64_t largest = 0, end = 0;
    for (std::uint32_t id = first_; id != none; id = at(id).right) {
        largest = std::max(largest, at(id).offset - end);
        end = at(id).end();
    }
    return std::max(largest, capacity_ - end);
}

/// Counts a free range next to an allocated one that gets no record.
TENURE_ALWAYS_INLINE void offset_allocator::count_gap(std::uint64_t size) noexcept {
    gap_count_ += std::size_t{size != 0};
    if (size > gap_bound_) gap_bound_ = size;
}

offset_range offset_allocator::allocate(std::uint64_t size, std::uint64_t alignment) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return {};
    if (size == 0) size = 1;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        if constexpr (checks::caller) report_alignment("An offset_allocator", alignment);
        return {};
    }
    if (size > capacity_) return {};
    if (waiting_count_ != 0 && frame_clock::now() != collected_frame_) collect_due();
    std::uint32_t found = find(size, alignment);
    if (found == none && (found = find_late(size, alignment)) == none) return {};
    const std::uint64_t begin = at(found).offset, offset = begin + ((0 - begin) & (alignment - 1));
    const std::uint64_t gap = offset - begin, rest = at(found).end() - (offset + size);
    const std::uint64_t least = std::min(least_asked_, size);
    if (!reserve_ranges((rest >= least ? 1u : 0u) + (gap >= least ? 1u : 0u)))
        return settle() ? allocate(size, alignment) : offset_range{}; // a slot may have become free
    least_asked_ = least;
    record& whole = at(found);
    const std::uint32_t from = whole.what >> place_shift;
    std::uint32_t taken = found;
    if (rest >= least) {
        // The rest keeps its record, and its place if it stays in the same bin.
        taken = add_before(found, offset, size);
        whole.offset = offset + size;
        whole.size = rest;
        if (bin_of(rest) != from) {
            pop(bins_[from]);
            insert(found);
        }
    } else {
        whole.offset = offset;
        whole.size = size;
        whole.what = in_use;
        pop(bins_[from]);
        count_gap(rest);
    }
    if (gap < least)
        count_gap(gap);
    else
        insert(add_before(taken, begin, gap));
    allocated_ += size;
    ++range_count_;
    return {offset, taken};
}

/// Whether the range is allocated and was not deallocated in one of the previous calls.
bool offset_allocator::is_held(offset_range range) const noexcept {
    return is_allocated(range) && range != leaves_next_;
}

TENURE_COLD void offset_allocator::report_not_allocated(offset_range range) const noexcept {
    report_text message;
    message.text("offset_allocator: the range at offset ").number(range.offset).text(" with id ").number(range.id);
    message.text(" is not allocated. It was freed before, or belongs to another allocator: look for a second owner.");
    report(report_kind::misuse, message.view());
}

/// Makes a range free and merges it with its free neighbours and the gaps next to it.
TENURE_ALWAYS_INLINE void offset_allocator::merge(std::uint32_t which) noexcept {
    slot* const table = slots_;
    record& freed = table[which].range;
    const std::uint32_t left = freed.left, right = freed.right;
    const std::uint64_t freed_begin = freed.offset, size = freed.size, freed_end = freed_begin + size;
    allocated_ -= size;
    --range_count_;
    std::uint64_t begin = 0, end = capacity_;
    std::uint32_t merged = which, beyond = right;
    if (left != none) {
        record& before = table[left].range;
        begin = before.offset;
        if (before.is_free()) {
            merged = left;
            remove(left);
            free_slot(which);
            --range_slots_;
        } else {
            begin += before.size;
            gap_count_ -= std::size_t{begin != freed_begin};
        }
    }
    if (right != none) {
        record& after = table[right].range;
        end = after.offset;
        if (after.is_free()) {
            end += after.size;
            beyond = after.right;
            remove(right);
            free_slot(right);
            --range_slots_;
        } else {
            gap_count_ -= std::size_t{end != freed_end};
        }
    } else {
        gap_count_ -= std::size_t{end != freed_end};
    }
    (beyond != none ? table[beyond].range.left : last_) = merged;
    record& whole = table[merged].range;
    whole.right = beyond;
    whole.offset = begin;
    whole.size = end - begin;
    insert(merged);
}

/// Starts to free a range and continues with the ranges before it.
TENURE_ALWAYS_INLINE void offset_allocator::leave(offset_range range) noexcept {
    prefetch_for_write(&slots_[range.id]);
    const std::uint32_t first = leaves_first_;
    const offset_range next = leaves_next_;
    leaves_next_ = range;
    leaves_first_ = none;
    if (next) {
        if (is_allocated(next)) {
            record& leaving = at(next.id);
            leaving.what = leaves;
            leaves_first_ = next.id;
            prefetch_for_write(&slots_[leaving.left]);
            prefetch_for_write(&slots_[leaving.right]);
        } else {
            report_not_allocated(next);
        }
    }
    if (first != none) merge(first);
}

/// Finishes freeing all ranges that leave() has started. Returns   whether there were any.
bool offset_allocator::settle() noexcept {
    const bool any = leaves_first_ != none || leaves_next_;
    leave({});
    leave({});
    return any;
}

void offset_allocator::deallocate(offset_range range) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return;
    if (!range) return;
    if (checks::caller && !is_held(range)) return report_not_allocated(range);
    leave(range);
}

void offset_allocator::deallocate_after(offset_range range, unsigned frames) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return;
    collect_due();
    if (!range || frames == 0) return deallocate(range);
    if (!is_held(range)) return report_not_allocated(range);
    record& waiting = at(range.id);
    const std::uint64_t due = collected_frame_ + std::min(frames, max_latency);
    waiting.what = waits;
    waiting.link = std::exchange(waiting_of_[due % (max_latency + 1)], range.id);
    waiting_ += waiting.size;
    ++waiting_count_;
}

std::size_t offset_allocator::collect() noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return 0;
    const std::size_t count = collect_due();
    settle();
    return count;
}

/// Starts to free the ranges whose frame has ended. Returns   their number.
std::size_t offset_allocator::collect_due() noexcept {
    const std::uint64_t now = frame_clock::now();
    std::size_t count = 0;
    // No range waits for more frames than there are lists.
    const std::uint64_t passed = std::min<std::uint64_t>(now - collected_frame_, max_latency + 1);
    collected_frame_ = now;
    if (waiting_count_ == 0) return 0;
    for (std::uint64_t frame = now - passed + 1; frame <= now; ++frame) {
        std::uint32_t which = std::exchange(waiting_of_[frame % (max_latency + 1)], none);
        for (; which != none; ++count) {
            const std::uint32_t next = at(which).link;
            waiting_ -= at(which).size;
            --waiting_count_;
            at(which).what = in_use;
            leave({at(which).offset, which});
            which = next;
        }
    }
    return count;
}

// The managed memory as a whole.

bool offset_allocator::grow(std::uint64_t capacity) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return false;
    if (capacity < capacity_ || capacity > max_capacity) return false;
    if (first_ != none && capacity != capacity_) {
        settle();
        const std::uint64_t end = at(last_).end();
        if (at(last_).is_free()) {
            remove(last_);
            at(last_).size = capacity - at(last_).offset;
        } else {
            if (!reserve_ranges(1)) return false;
            if (end != capacity_) --gap_count_;
            const std::uint32_t added = allocate_slot();
            at(added) = {end, capacity - end, last_, none, none, unused};
            at(last_).right = added;
            last_ = added;
            ++range_slots_;
        }
        insert(last_);
    }
    capacity_ = capacity;
    return true;
}

bool offset_allocator::shrink(std::uint64_t capacity) noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return false;
    if (capacity > capacity_) return false;
    collect_due();
    if (first_ != none && capacity != capacity_) {
        settle();
        const std::uint64_t end = at(last_).end();
        if (!at(last_).is_free()) {
            if (end > capacity) return false;
            if (end == capacity) --gap_count_; // there was a gap, because the old end was larger
        } else {
            if (at(last_).offset > capacity) return false;
            remove(last_);
            at(last_).size = capacity - at(last_).offset;
            if (at(last_).size != 0) {
                insert(last_);
            } else {
                const std::uint32_t gone = std::exchange(last_, at(last_).left);
                (last_ != none ? at(last_).right : first_) = none;
                free_slot(gone);
                --range_slots_;
            }
        }
    }
    capacity_ = capacity;
    return true;
}

void offset_allocator::clear() noexcept {
    const detail::sole_call call(user_, one_thread, this);
    if (!call) return;
    std::fill(std::begin(bins_), std::end(bins_), bin{});
    std::fill(std::begin(bin_bits_), std::end(bin_bits_), std::uint8_t{0});
    leaves_first_ = none;
    leaves_next_ = {};
    std::fill(std::begin(waiting_of_), std::end(waiting_of_), none);
    top_bits_ = 0;
    spare_ = first_ = last_ = none;
    slot_count_ = range_slots_ = 0;
    allocated_ = waiting_ = 0;
    range_count_ = waiting_count_ = 0;
    least_asked_ = UINT64_MAX;
    gap_count_ = 0;
    gap_bound_ = 0;
}

std::uint64_t offset_allocator::size_of(offset_range range) const noexcept {
    const bool is_waiting = range.id < slot_count_ && at(range.id).what == waits && at(range.id).offset == range.offset;
    if (is_waiting || is_held(range)) return at(range.id).size;
    report_not_allocated(range);
    return 0;
}

}
