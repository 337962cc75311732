// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Bins of free ranges in two levels of bits, after Masmano, Ripoll, Crespo and Real, "TLSF: a new dynamic memory
/// allocator for real-time systems" (2004); the records outside the memory, found by number.

#include <tenure/offset/offset_allocator.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::uint32_t first_records = 2048; // 64 KiB of addresses, touched as they are used
constexpr std::uint32_t most_records = UINT32_MAX - 2;

}

offset_allocator::offset_allocator(std::uint64_t capacity, block_source& source) noexcept
    : capacity_(capacity <= most_capacity ? capacity : 0), collected_frame_(frame_clock::now()), source_(source) {
    std::fill(std::begin(bins_), std::end(bins_), none);
    std::fill(std::begin(waiting_of_), std::end(waiting_of_), none);
}

offset_allocator::~offset_allocator() {
    if (records_ != nullptr) source_.release(records_, record_room_ * sizeof(record));
}

// Bins: sizes below eight have one each; above, eight to each doubling. A bin's ranges have its least size or more.

std::size_t offset_allocator::bin_of(std::uint64_t size) noexcept {
    if (size < (1u << eighths_shift)) return static_cast<std::size_t>(size);
    auto const doubling = static_cast<unsigned>(std::bit_width(size)) - 1;
    std::uint64_t const eighth = (size >> (doubling - eighths_shift)) & ((1u << eighths_shift) - 1);
    return (std::size_t{doubling - eighths_shift + 1} << eighths_shift) + static_cast<std::size_t>(eighth);
}

/// The first bin of which every range has the size.
std::size_t offset_allocator::bin_that_holds(std::uint64_t size) noexcept {
    if (size < (1u << eighths_shift)) return static_cast<std::size_t>(size);
    auto const doubling = static_cast<unsigned>(std::bit_width(size)) - 1;
    return bin_of(size + low_bits(doubling - eighths_shift));
}

/// The first bin with a range in it, from this one on; bin_count when there is none.
std::size_t offset_allocator::next_bin(std::size_t from) const noexcept {
    std::size_t const top = from >> eighths_shift;
    if (top >= sizeof bin_bits_) return bin_count;
    unsigned const here = bin_bits_[top] & (0xFFu << (from & ((1u << eighths_shift) - 1)));
    if (here != 0) return (top << eighths_shift) + lowest_bit(here);
    bit_word const above = top + 1 < 64 ? top_bits_ & ~low_bits(top + 1) : 0;
    if (above == 0) return bin_count;
    std::size_t const found = lowest_bit(above);
    return (found << eighths_shift) + lowest_bit(bin_bits_[found]);
}

void offset_allocator::link(std::uint32_t which) noexcept {
    record& added = records_[which];
    std::size_t const bin = bin_of(added.size);
    added.previous = none;
    added.next = bins_[bin];
    if (added.next != none) records_[added.next].previous = which;
    bins_[bin] = which;
    bin_bits_[bin >> eighths_shift] |= static_cast<std::uint8_t>(1u << (bin & ((1u << eighths_shift) - 1)));
    top_bits_ |= bit_at(bin >> eighths_shift);
    ++free_count_;
}

void offset_allocator::unlink(std::uint32_t which) noexcept {
    record const& taken = records_[which];
    --free_count_;
    if (taken.next != none) records_[taken.next].previous = taken.previous;
    if (taken.previous != none) {
        records_[taken.previous].next = taken.next;
        return;
    }
    std::size_t const bin = bin_of(taken.size);
    bins_[bin] = taken.next;
    if (taken.next != none) return;
    std::uint8_t& bits = bin_bits_[bin >> eighths_shift];
    bits &= static_cast<std::uint8_t>(~(1u << (bin & ((1u << eighths_shift) - 1))));
    if (bits == 0) top_bits_ &= ~bit_at(bin >> eighths_shift);
}

// Records.

/// Sees to it that so many records can be taken. Returns   false when memory for them is refused.
bool offset_allocator::reserve_records(std::uint32_t count) noexcept {
    if (spare_count_ + (record_room_ - record_count_) >= count) return true;
    std::uint32_t const room = record_room_ == 0                 ? first_records
                               : record_room_ > most_records / 2 ? most_records
                                                                 : record_room_ * 2;
    if (room <= record_room_) return false;
    std::size_t const bytes = room * sizeof(record), before = record_room_ * sizeof(record);
    void* grown = nullptr;
    if (records_ == nullptr) {
        grown = source_.acquire(bytes, cache_line_bytes);
    } else if (source_.extend(records_, before, bytes)) {
        grown = records_;
    } else if (grown = source_.remap(records_, before, bytes, cache_line_bytes); grown == nullptr) {
        grown = source_.acquire(bytes, cache_line_bytes);
        if (grown == nullptr) return false;
        std::memcpy(grown, records_, record_count_ * sizeof(record));
        source_.release(records_, before);
    }
    if (grown == nullptr) return false;
    records_ = static_cast<record*>(grown);
    record_room_ = room;
    return true;
}

/// Requires  reserve_records() has said so.
std::uint32_t offset_allocator::take_record() noexcept {
    if (spare_ == none) return record_count_++;
    std::uint32_t const taken = spare_;
    spare_ = records_[taken].next;
    --spare_count_;
    return taken;
}

void offset_allocator::free_record(std::uint32_t which) noexcept {
    records_[which].previous = none;
    records_[which].size = 0;
    records_[which].next = spare_;
    spare_ = which;
    ++spare_count_;
}

/// The first range, of all the memory. Returns   false when memory for it is refused.
bool offset_allocator::open() noexcept {
    if (first_ != none || capacity_ == 0) return true;
    if (!reserve_records(1)) return false;
    first_ = last_ = take_record();
    records_[first_] = {0, capacity_, none, none, none, none};
    free_ = capacity_;
    link(first_);
    return true;
}

// Allocation.

/// Whether a range has a size at an alignment.
bool offset_allocator::fits(const record& range, std::uint64_t size, std::uint64_t alignment) noexcept {
    std::uint64_t const gap = (0 - range.offset) & (alignment - 1);
    return gap <= range.size && range.size - gap >= size;
}

/// A free range for a size and an alignment; none when there is none.
std::uint32_t offset_allocator::find(std::uint64_t size, std::uint64_t alignment) const noexcept {
    std::uint64_t const whole = size + (alignment - 1); // less than 2^64, as both are
    std::size_t const bin = whole <= capacity_ ? next_bin(bin_that_holds(whole)) : bin_count;
    if (bin != bin_count) prefetch_for_write(&records_[bins_[bin]]);
    // The newest of the size's own bin is looked at first: a hole of just the size is used again.
    std::uint32_t const own = bins_[bin_of(size)];
    if (own != none && fits(records_[own], size, alignment)) return own;
    return bin != bin_count ? bins_[bin] : search(size, alignment);
}

/// The same among ranges that need not have it.
std::uint32_t offset_allocator::search(std::uint64_t size, std::uint64_t alignment) const noexcept {
    for (std::size_t bin = next_bin(bin_of(size)); bin != bin_count; bin = next_bin(bin + 1)) {
        for (std::uint32_t at = bins_[bin]; at != none; at = records_[at].next) {
            if (fits(records_[at], size, alignment)) return at;
        }
    }
    return none;
}

offset_range offset_allocator::allocate(std::uint64_t size, std::uint64_t alignment) noexcept {
    if (size == 0) size = 1;
    if (!std::has_single_bit(alignment) || size > capacity_) return {};
    if (waiting_count_ != 0 && frame_clock::now() != collected_frame_) collect();
    if (!open()) return {};
    std::uint32_t const found = find(size, alignment);
    if (found == none) return {};
    std::uint64_t const gap = (0 - records_[found].offset) & (alignment - 1);
    std::uint32_t const pieces = (gap != 0 ? 1u : 0u) + (records_[found].size - gap != size ? 1u : 0u);
    if (!reserve_records(pieces)) return {};
    unlink(found);
    if (std::uint32_t const next = records_[found].next; next != none) prefetch_for_write(&records_[next]);
    std::uint32_t taken = found;
    if (gap != 0) {
        taken = take_record();
        record& front = records_[found];
        records_[taken] = {front.offset + gap, front.size - gap, found, front.right, none, none};
        (front.right != none ? records_[front.right].left : last_) = taken;
        front.right = taken;
        front.size = gap;
        link(found);
    }
    if (records_[taken].size != size) {
        std::uint32_t const rest = take_record();
        record& kept = records_[taken];
        records_[rest] = {kept.offset + size, kept.size - size, taken, kept.right, none, none};
        (kept.right != none ? records_[kept.right].left : last_) = rest;
        kept.right = rest;
        kept.size = size;
        link(rest);
    }
    records_[taken].previous = in_use;
    free_ -= size;
    ++range_count_;
    return {records_[taken].offset, taken};
}

bool offset_allocator::is_allocated(offset_range range) const noexcept {
    return range.id < record_count_ && records_[range.id].previous == in_use &&
           records_[range.id].offset == range.offset;
}

void offset_allocator::report_not_allocated(offset_range range) const noexcept {
    report_text message;
    message.text("offset_allocator: the range at offset ").number(range.offset).text(" with id ").number(range.id);
    message.text(" is not allocated. It was given back before, or is another allocator's: look for a second owner.");
    report(report_kind::misuse, message.view());
}

/// Makes a range free, one with its free neighbours.
void offset_allocator::release(std::uint32_t which) noexcept {
    std::uint32_t const left = records_[which].left, right = records_[which].right;
    free_ += records_[which].size;
    --range_count_;
    bool const joins_left = left != none && is_free(left), joins_right = right != none && is_free(right);
    // The lists' neighbours lie anywhere: fetched side by side.
    if (joins_left && records_[left].next != none) prefetch_for_write(&records_[records_[left].next]);
    if (joins_right && records_[right].next != none) prefetch_for_write(&records_[records_[right].next]);
    std::uint32_t merged = which;
    if (joins_left) {
        unlink(left);
        records_[left].size += records_[which].size;
        records_[left].right = right;
        (right != none ? records_[right].left : last_) = left;
        free_record(which);
        merged = left;
    }
    if (joins_right) {
        unlink(right);
        std::uint32_t const beyond = records_[right].right;
        records_[merged].size += records_[right].size;
        records_[merged].right = beyond;
        (beyond != none ? records_[beyond].left : last_) = merged;
        free_record(right);
    }
    link(merged);
}

void offset_allocator::deallocate(offset_range range) noexcept {
    if (!range) return;
    if (!is_allocated(range)) return report_not_allocated(range);
    release(range.id);
}

void offset_allocator::deallocate_after(offset_range range, unsigned frames) noexcept {
    collect();
    if (!range || frames == 0) return deallocate(range);
    if (!is_allocated(range)) return report_not_allocated(range);
    record& waiting = records_[range.id];
    std::uint64_t const due = collected_frame_ + std::min(frames, most_latency);
    waiting.previous = waits;
    waiting.next = waiting_of_[due % (most_latency + 1)];
    waiting_of_[due % (most_latency + 1)] = range.id;
    waiting_ += waiting.size;
    ++waiting_count_;
}

std::size_t offset_allocator::collect() noexcept {
    std::uint64_t const now = frame_clock::now();
    std::size_t count = 0;
    // Nothing waits for longer than the lists go.
    std::uint64_t const passed = std::min<std::uint64_t>(now - collected_frame_, most_latency + 1);
    collected_frame_ = now;
    if (waiting_count_ == 0) return 0;
    for (std::uint64_t frame = now - passed + 1; frame <= now; ++frame) {
        std::uint32_t at = std::exchange(waiting_of_[frame % (most_latency + 1)], none);
        for (; at != none; ++count) {
            std::uint32_t const next = records_[at].next;
            waiting_ -= records_[at].size;
            --waiting_count_;
            release(at);
            at = next;
        }
    }
    return count;
}

// The memory as a whole.

bool offset_allocator::grow(std::uint64_t capacity) noexcept {
    if (capacity < capacity_ || capacity > most_capacity) return false;
    std::uint64_t const more = capacity - capacity_;
    if (first_ == none || more == 0) {
        capacity_ = capacity;
        return true;
    }
    if (is_free(last_)) {
        unlink(last_);
        records_[last_].size += more;
    } else {
        if (!reserve_records(1)) return false;
        std::uint32_t const added = take_record();
        records_[added] = {capacity_, more, last_, none, none, none};
        records_[last_].right = added;
        last_ = added;
    }
    link(last_);
    free_ += more;
    capacity_ = capacity;
    return true;
}

bool offset_allocator::shrink(std::uint64_t capacity) noexcept {
    if (capacity > capacity_) return false;
    std::uint64_t const less = capacity_ - capacity;
    if (first_ == none || less == 0) {
        capacity_ = capacity;
        return true;
    }
    if (!is_free(last_) || records_[last_].size < less) return false;
    unlink(last_);
    records_[last_].size -= less;
    free_ -= less;
    capacity_ = capacity;
    if (records_[last_].size != 0) {
        link(last_);
        return true;
    }
    std::uint32_t const gone = last_;
    last_ = records_[gone].left;
    (last_ != none ? records_[last_].right : first_) = none;
    free_record(gone);
    return true;
}

void offset_allocator::clear() noexcept {
    std::fill(std::begin(bins_), std::end(bins_), none);
    std::fill(std::begin(bin_bits_), std::end(bin_bits_), std::uint8_t{0});
    std::fill(std::begin(waiting_of_), std::end(waiting_of_), none);
    top_bits_ = 0;
    spare_ = first_ = last_ = none;
    record_count_ = spare_count_ = 0;
    free_ = waiting_ = 0;
    range_count_ = free_count_ = waiting_count_ = 0;
}

std::uint64_t offset_allocator::size_of(offset_range range) const noexcept {
    bool const is_waiting =
        range.id < record_count_ && records_[range.id].previous == waits && records_[range.id].offset == range.offset;
    if (is_waiting || is_allocated(range)) return records_[range.id].size;
    report_not_allocated(range);
    return 0;
}

}
