// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Address ranges you manage yourself (GPU buffers, files): offset_allocator returns offsets, not pointers.
///
/// Use it for     GPU buffers and device memory, files, ring buffers: any range of numbers from 0 to a capacity.
/// Not for        memory of the process itself: heap/heap.hpp, pool/pool.hpp.
/// Memory from    a block source, for its records only; the managed ranges are never touched.
/// Cost           allocate and deallocate O(1): free ranges are in eight bins per doubling of size, found through two
///                levels of bits. If no bin guarantees a fit, allocate searches the ranges that may fit, in O(their
///                number): those in the size's own bin, and those in larger bins, which may lack only the alignment.
/// Overhead       32 bytes per range, allocated or free, and 5 more per free range; none in the managed memory. Sizes
///                are not rounded. A free range that is smaller than every request so far has no record.
/// Threads        one at a time. Const functions write nothing: several threads may call them while none calls any
///                other.
///                Checked builds report calls that overlap.
/// Fork           usable in the child, unless another thread was using it at the fork.
/// When full      returns an empty range and changes nothing. This happens only if no free range has the size and
///                alignment, or if there is no memory for a record.
/// Example        examples/offset_allocator.cpp

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

/// A range that allocate() returned. Pass it to deallocate() unchanged.
struct offset_range {
    static constexpr std::uint32_t no_id = UINT32_MAX;

    std::uint64_t offset = 0;
    std::uint32_t id = no_id; ///< number of its record

    /// Whether the range is allocated; false for the empty range of a failed allocation.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return id != no_id; }
    friend constexpr bool operator==(const offset_range&, const offset_range&) noexcept = default;
};

/// Figures of an offset allocator, in its own units.
struct offset_usage {
    std::uint64_t capacity = 0;
    std::uint64_t free = 0;         ///< total of all free ranges
    std::uint64_t largest_free = 0; ///< the largest allocation at alignment 1 that would succeed
    std::uint64_t waiting = 0;      ///< deallocated for a later frame; also after that frame, until collect()
    std::size_t range_count = 0;    ///< allocated ranges, including those that wait
    std::size_t free_count = 0;     ///< free ranges; no two of them are adjacent
    std::size_t record_bytes = 0;   ///< memory held for records

    /// Share of the free memory outside the largest free range: 0 when all of it is in one range.
    [[nodiscard]] constexpr double fragmentation() const noexcept {
        return free == 0 ? 0 : 1 - static_cast<double>(largest_free) / static_cast<double>(free);
    }
};

class TENURE_API offset_allocator {
public:
    /// Maximum number of frames that a deallocation can be delayed.
    static constexpr unsigned max_latency = 63;
    static constexpr std::uint64_t max_capacity = std::uint64_t{1} << 62;

    /// Takes nothing from the source until the first allocation. You choose the unit: bytes, or blocks of a file.
    /// Requires  `capacity` is at most max_capacity, otherwise it counts as zero; the source outlives the allocator.
    [[nodiscard]] explicit offset_allocator(std::uint64_t capacity,
                                            block_source& source = page_source::process()) noexcept;
    ~offset_allocator();
    /// Takes over the ranges of `other`, which then has its capacity and no range. Cost      a copy of 4.4 KiB.
    [[nodiscard]] offset_allocator(offset_allocator&& other) noexcept;
    offset_allocator& operator=(offset_allocator&& other) noexcept;

    /// Allocates a range. A size of zero counts as one. Ranges that waited for a frame that has ended are freed first.
    /// Returns   a range whose offset is a multiple of `alignment`; an empty one when no range fits, when out of
    ///           memory, or when the alignment is not a power of two.
    [[nodiscard]] offset_range allocate(std::uint64_t size, std::uint64_t alignment = 1) noexcept;

    /// Frees a range and merges it with its free neighbours. An empty range is allowed and does nothing.
    /// Requires  the range is allocated. A second deallocation is reported, unless the range's record is in use again:
    ///           with checks (level 1) at once, otherwise at the next deallocation or collect() at the latest.
    void deallocate(offset_range range) noexcept;

    /// Frees a range after `frames` more frames have ended, when the device no longer uses it (lifetime/lifetime.hpp:
    /// next_frame() ends a frame). The next allocate() or collect() after that frees it.
    /// Requires  the same as deallocate(). A `frames` above max_latency counts as max_latency.
    void deallocate_after(offset_range range, unsigned frames) noexcept;
    /// Frees the ranges whose frame has ended. Also completes earlier deallocations: otherwise a deallocated range
    /// merges with its neighbours some calls later, when they are in the cache. Returns   the number of ranges whose
    /// frame has ended. Cost      O(those ranges), and O(1) per frame.
    std::size_t collect() noexcept;

    /// Raises the capacity; allocations stay.
    /// Returns   false, and changes nothing, when `capacity` is below the current one or above max_capacity, or when
    ///           there is no memory for a record.
    [[nodiscard]] bool grow(std::uint64_t capacity) noexcept;
    /// Lowers the capacity; allocations stay. Ranges that waited for a frame that has ended are freed first.
    /// Returns   false, and keeps the capacity, if `capacity` is above it or an allocated range ends past the new end.
    [[nodiscard]] bool shrink(std::uint64_t capacity) noexcept;

    /// Frees everything; do not deallocate earlier ranges afterwards. Cost      O(1).
    void clear() noexcept;

    /// The size that a range was allocated with. Requires  the range is allocated, or waits for its frame.
    [[nodiscard]] std::uint64_t size_of(offset_range range) const noexcept;
    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

    /// The figures are exact; deallocated ranges count as free at once.
    /// Cost      O(free ranges of the largest bin); O(ranges) when a free range without a record may be larger.
    [[nodiscard]] offset_usage usage() const noexcept;

    /// Calls `visit(offset, size, is_free)` for every range, lowest offset first. Shows free ranges merged, as usage()
    /// counts them. `visit` must not change the allocator.
    /// Cost      O(ranges).
    template<class Visit>
    void walk(Visit&& visit) const {
        for_each_range([&](std::uint64_t offset, std::uint64_t size, const record* range) {
            visit(offset, size, range == nullptr);
        });
    }

    /// Writes the usage and all ranges as one JSON object, in pieces, for drawing.
    void write_json(void (*write)(void* context, std::string_view piece), void* context) const;

    /// Whether every record and bin is consistent.
    [[nodiscard]] bool valid() const noexcept;

private:
    offset_allocator(const offset_allocator&) = default; // for the move, which makes the other one forget its records

    // Records refer to each other by number, so that the array can move when it grows.
    static constexpr std::uint32_t none = UINT32_MAX >> 1;
    static constexpr std::uint32_t ids_in_piece = 7;

    static constexpr unsigned eighths_shift = 3;
    static constexpr std::size_t bin_count = std::size_t{63} << eighths_shift; // of doublings up to max_capacity
    static constexpr unsigned place_shift = 3;
    static_assert(ids_in_piece <= 1u << place_shift);

    /// State of a range. A smaller number means that the range is free: it holds its bin and its place in a piece.
    enum state : std::uint32_t { in_use = bin_count << place_shift, waits, leaves, unused };

    /// A range and its neighbours. Two records share a cache line.
    struct record {
        std::uint64_t offset;
        std::uint64_t size;
        std::uint32_t left, right; ///< adjacent ranges that have a record
        std::uint32_t link;        ///< free: the piece it is in; waiting or unused: the next one
        std::uint32_t what;        ///< a state, or bin and place
        [[nodiscard]] bool is_free() const noexcept { return what < in_use; }
        [[nodiscard]] std::uint64_t end() const noexcept { return offset + size; }
    };
    /// Part of a bin's free ranges, stored in a slot among the records. All pieces of a bin except the first are full.
    struct piece {
        std::uint32_t ids[ids_in_piece];
        std::uint32_t marked_below; ///< the next piece, marked so that it is never a valid `what` of a record
        static constexpr std::uint32_t mark = none + 1;
        [[nodiscard]] std::uint32_t below() const noexcept { return marked_below & ~mark; }
    };
    union slot {
        record range;
        piece free;
    };
    static_assert(sizeof(slot) == 32);

    /// An empty bin has no piece, and therefore no room.
    struct bin {
        std::uint32_t first = none;
        std::uint32_t count = ids_in_piece; ///< free ranges in the first piece; the last one is the newest
    };

    /// The bin of a size. Each doubling has eight bins; for sizes below eight some are never used. All ranges in a bin
    /// have at least its minimum size. Requires  `size` is not zero.
    [[nodiscard]] static std::size_t bin_of(std::uint64_t size) noexcept {
        const auto zeros = static_cast<unsigned>(std::countl_zero(size | 1)); // tells the compiler it is not zero
        const std::size_t eighth = (size << zeros >> (63 - eighths_shift)) & ((1u << eighths_shift) - 1);
        return (std::size_t{63 - zeros} << eighths_shift) + eighth;
    }
    [[nodiscard]] static std::size_t bin_that_holds(std::uint64_t size) noexcept;
    void note(std::size_t filled) noexcept;
    void note_empty(std::size_t emptied) noexcept;
    [[nodiscard]] static bool fits(const record& range, std::uint64_t size, std::uint64_t alignment) noexcept;
    [[nodiscard]] record& at(std::uint32_t id) const noexcept { return slots_[id].range; }
    /// Requires  the bin is not empty.
    [[nodiscard]] std::uint32_t newest_of(std::size_t of) const noexcept {
        return slots_[bins_[of].first].free.ids[bins_[of].count - 1];
    }
    [[nodiscard]] std::size_t next_bin(std::size_t from) const noexcept;
    [[nodiscard]] std::uint32_t find(std::uint64_t size, std::uint64_t alignment) const noexcept;
    [[nodiscard]] std::uint32_t search(std::uint64_t size, std::uint64_t alignment) const noexcept;
    [[nodiscard]] std::uint32_t find_late(std::uint64_t size, std::uint64_t alignment) noexcept;
    [[nodiscard]] bool reserve_ranges(std::uint32_t count) noexcept;
    [[nodiscard]] bool make_room(std::uint64_t count) noexcept;
    void count_gap(std::uint64_t size) noexcept;
    [[nodiscard]] std::uint32_t allocate_slot() noexcept;
    void free_slot(std::uint32_t which) noexcept;
    void insert(std::uint32_t which) noexcept;
    void remove(std::uint32_t which) noexcept;
    void pop(bin& from) noexcept;
    void drop_piece(bin& of) noexcept;
    [[nodiscard]] std::uint32_t add_before(std::uint32_t which, std::uint64_t offset, std::uint64_t size) noexcept;
    void list_gaps(std::uint64_t least) noexcept;
    [[nodiscard]] std::uint64_t largest_gap() const noexcept;
    [[nodiscard]] TENURE_ALWAYS_INLINE bool is_allocated(offset_range range) const noexcept {
        return range.id < slot_count_ && at(range.id).what == in_use && at(range.id).offset == range.offset;
    }
    [[nodiscard]] bool is_held(offset_range range) const noexcept;
    [[nodiscard]] bool is_vacant(std::uint32_t which) const noexcept;
    void add_pending(offset_usage& to) const noexcept;
    [[nodiscard]] bool open() noexcept;
    void leave(offset_range range) noexcept;
    void merge(std::uint32_t which) noexcept;
    bool settle() noexcept;
    std::size_t collect_due() noexcept;
    void report_not_allocated(offset_range range) const noexcept;

    /// Calls `visit(offset, size, record)` for all ranges, lowest first; the record is nullptr if the range is free.
    /// Whatever lies between two ranges that are not free is one free range, merged or not.
    template<class Visit>
    void for_each_range(Visit&& visit) const {
        std::uint64_t end = 0; // of the last range that is not free
        for (std::uint32_t id = first_; id != none; id = at(id).right) {
            if (is_vacant(id)) continue;
            const record& range = at(id);
            if (range.offset != end) visit(end, range.offset - end, static_cast<const record*>(nullptr));
            visit(range.offset, range.size, &range);
            end = range.end();
        }
        if (end != capacity_) visit(end, capacity_ - end, static_cast<const record*>(nullptr));
    }

    slot* slots_ = nullptr;
    std::uint64_t capacity_;
    std::uint64_t top_bits_ = 0; // which of the bytes below are not zero
    std::uint8_t bin_bits_[bin_count >> eighths_shift] = {};
    bin bins_[bin_count];

    std::uint32_t spare_ = none;   // free list of slots
    std::uint32_t slot_count_ = 0; // slots ever used
    std::uint32_t slot_room_ = 0;
    std::uint32_t range_slots_ = 0;            // records of ranges, allocated or free
    std::uint32_t first_ = none, last_ = none; // first and last range of the managed memory
    // Pending: deallocated, not yet merged and in a bin.
    std::uint32_t leaves_first_ = none; // its neighbours' records are being prefetched
    offset_range leaves_next_;          // its own record is being prefetched
    std::uint64_t allocated_ = 0;
    std::uint64_t waiting_ = 0;
    std::size_t range_count_ = 0; // allocated
    std::size_t waiting_count_ = 0;
    // Gaps: free ranges without a record, each after a range that is not free.
    std::uint64_t least_asked_ = UINT64_MAX;
    std::size_t gap_count_ = 0;
    std::uint64_t gap_bound_ = 0; // no gap is larger
    std::uint64_t collected_frame_ = 0;
    std::uint32_t waiting_of_[max_latency + 1]; // lists by the frame in which they become free
    block_source& source_;
    [[no_unique_address]] detail::sole_user user_;
};

}
