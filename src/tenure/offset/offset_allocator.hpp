// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ranges of memory that is not ours: which part of a buffer, a file or a device is whose.
///
/// Use it for     GPU buffers and device memory, files, ring buffers, anything that is counted from 0 to a capacity.
/// Not for        memory of the process itself: heap/heap.hpp, pool/pool.hpp.
/// Memory from    a block source, for its records only; the ranges themselves are never touched.
/// Cost           allocate and deallocate O(1): bins of an eighth of a doubling in two levels of bits. What no bin can
///                promise is searched for among the ranges that may have it, whether it is then found or refused:
///                O(ranges of the size's bin, and of larger ones where the alignment is what does not fit).
/// Overhead       32 bytes for each range, allocated or free, and 5 for each free one; none in the memory. Sizes are
///                not rounded. A free range smaller than all that was ever asked for has no record.
/// Threads        one at a time, also of those that only look: a deallocated range joins its neighbours some calls
///                later, when they have come into the cache, or when somebody looks.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      refuses with an empty range and changes nothing, only when no free range of the size and alignment is
///                there, or no memory for the record.
/// Example        examples/offset_allocator.cpp

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

/// What an allocation returns; give it back as it is.
struct offset_range {
    static constexpr std::uint32_t no_id = UINT32_MAX;

    std::uint64_t offset = 0;
    std::uint32_t id = no_id; ///< of the record

    /// Whether it is one; not so when it was refused.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return id != no_id; }
    friend constexpr bool operator==(const offset_range&, const offset_range&) noexcept = default;
};

/// Figures of an offset allocator, in its own units.
struct offset_usage {
    std::uint64_t capacity = 0;
    std::uint64_t free = 0;         ///< in all free ranges
    std::uint64_t largest_free = 0; ///< the largest allocation at alignment 1 that would not be refused
    std::uint64_t waiting = 0;      ///< deallocated for a later frame; also one that has come, until collect()
    std::size_t range_count = 0;    ///< allocated, those that wait among them
    std::size_t free_count = 0;     ///< free ranges; no two of them touch
    std::size_t record_bytes = 0;   ///< memory taken for records

    /// The part of the free memory that is not in the largest free range: 0 when it is in one piece.
    [[nodiscard]] constexpr double fragmentation() const noexcept {
        return free == 0 ? 0 : 1 - static_cast<double>(largest_free) / static_cast<double>(free);
    }
};

class TENURE_API offset_allocator {
public:
    /// Frames that a deallocation may be put off.
    static constexpr unsigned max_latency = 63;
    static constexpr std::uint64_t max_capacity = std::uint64_t{1} << 62;

    /// Takes nothing from the source until the first allocation. The unit is yours: bytes, or blocks of a file.
    /// Requires  `capacity` is at most max_capacity, else it counts as zero; the source outlives the allocator.
    explicit offset_allocator(std::uint64_t capacity, block_source& source = page_source::process()) noexcept;
    ~offset_allocator();
    offset_allocator(const offset_allocator&) = delete;
    offset_allocator& operator=(const offset_allocator&) = delete;

    /// A size of zero counts as one. What was deallocated for a frame that has come is free before.
    /// Returns   a range whose offset is a multiple of `alignment`; an empty one when refused, or when the alignment is
    ///           no power of two.
    [[nodiscard]] offset_range allocate(std::uint64_t size, std::uint64_t alignment = 1) noexcept;

    /// Gives a range back; neighbours that are free become one with it. An empty range is allowed and does nothing.
    /// Requires  it is allocated; a range that was given back already is reported, unless its record serves another:
    /// at once with checks (level 1), else by one of the next calls.
    void deallocate(offset_range range) noexcept;

    /// Gives a range back when `frames` frames have ended from now (lifetime/lifetime.hpp: next_frame() ends them):
    /// when the device has done with it. It is free at the next allocate() or collect() after that. Requires  as
    /// deallocate(); `frames` is at most max_latency, else it counts as that.
    void deallocate_after(offset_range range, unsigned frames) noexcept;
    /// Frees what waits for frames that have come. Returns   how many ranges. Cost      O(those), and O(1) a frame.
    std::size_t collect() noexcept;

    /// More room at the end; allocations stay. Returns   false, and nothing has changed, when `capacity` is less than
    /// now or more than max_capacity, or memory for a record is refused.
    [[nodiscard]] bool grow(std::uint64_t capacity) noexcept;
    /// Less room; allocations stay. What waits for a frame that has come is free before. Returns   false, and the room
    /// has not changed, when one lies past the new end.
    [[nodiscard]] bool shrink(std::uint64_t capacity) noexcept;

    /// Everything is free; ranges from before must not be given back. Cost      O(1).
    void clear() noexcept;

    /// The size that a range was allocated with. Requires  it is allocated, or waits for its frame.
    [[nodiscard]] std::uint64_t size_of(offset_range range) const noexcept;
    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

    /// Cost      O(free ranges of the largest bin); O(ranges) when those without a record may be larger.
    [[nodiscard]] offset_usage usage() const noexcept;

    /// Calls `visit(offset, size, is_free)` for all ranges, lowest offset first. `visit` must not use the allocator.
    template<class Visit>
    void walk(Visit&& visit) const {
        for_each_range([&](std::uint64_t offset, std::uint64_t size, const record* range) {
            visit(offset, size, range == nullptr || range->is_free());
        });
    }

    /// Writes the usage and all ranges as one object of JSON, in pieces, for a picture.
    void write_json(void (*write)(void* context, std::string_view piece), void* context) const;

    /// Walks every record and bin and says whether all is consistent.
    [[nodiscard]] bool valid() const noexcept;

private:
    // Records are found by number, so that they may move when there come to be more.
    static constexpr std::uint32_t none = UINT32_MAX >> 1;
    static constexpr std::uint32_t ids_in_piece = 7;

    static constexpr unsigned eighths_shift = 3;
    static constexpr std::size_t bin_count = std::size_t{63} << eighths_shift; // of doublings up to max_capacity
    static constexpr unsigned place_shift = 3;
    static_assert(ids_in_piece <= 1u << place_shift);

    /// What a range is. Smaller numbers are the bin of a free one and its place in a piece of it.
    enum state : std::uint32_t { in_use = bin_count << place_shift, waits, leaves, unused };

    /// A range and its neighbours. Two of them share a cache line.
    struct record {
        std::uint64_t offset;
        std::uint64_t size;
        std::uint32_t left, right; ///< the neighbours in the memory that have a record
        std::uint32_t link;        ///< the piece that a free range is in; the next one that waits, or is unused
        std::uint32_t what;        ///< a state, or bin and place
        [[nodiscard]] bool is_free() const noexcept { return what < in_use; }
        [[nodiscard]] std::uint64_t end() const noexcept { return offset + size; }
    };
    /// Some of the free ranges of a bin; it lies among the records. All pieces of a bin but the first are full.
    struct piece {
        std::uint32_t ids[ids_in_piece];
        std::uint32_t marked_below; ///< the next piece; marked, so that in place of a record's `what` it is no state
        static constexpr std::uint32_t mark = none + 1;
        [[nodiscard]] std::uint32_t below() const noexcept { return marked_below & ~mark; }
    };
    union slot {
        record range;
        piece free;
    };
    static_assert(sizeof(slot) == 32);

    /// An empty bin has no piece, and no room in it.
    struct bin {
        std::uint32_t first = none;
        std::uint32_t count = ids_in_piece; ///< of free ranges in the first piece; the last of them is the newest
    };

    /// Bins: eight to each doubling; of sizes below eight some are never used. A bin's ranges have its least size or
    /// more. Requires  `size` is not zero.
    [[nodiscard]] static std::size_t bin_of(std::uint64_t size) noexcept {
        auto const zeros = static_cast<unsigned>(std::countl_zero(size | 1)); // says that it is not zero
        std::size_t const eighth = (size << zeros >> (63 - eighths_shift)) & ((1u << eighths_shift) - 1);
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
    [[nodiscard]] bool make_room(std::uint64_t slots) noexcept;
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
    [[nodiscard]] bool is_allocated(offset_range range) const noexcept;
    [[nodiscard]] bool is_held(offset_range range) const noexcept;
    [[nodiscard]] bool open() noexcept;
    void leave(offset_range range) noexcept;
    void merge(std::uint32_t which) noexcept;
    bool settle() noexcept;
    void settle() const noexcept { const_cast<offset_allocator*>(this)->settle(); }
    void report_not_allocated(offset_range range) const noexcept;

    /// Calls `visit(offset, size, record)` for all ranges, lowest first; those without a record have a null pointer.
    template<class Visit>
    void for_each_range(Visit&& visit) const {
        settle();
        std::uint64_t end = 0;
        for (std::uint32_t id = first_; id != none; id = at(id).right) {
            record const& range = at(id);
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

    std::uint32_t spare_ = none;   // slots that were used before
    std::uint32_t slot_count_ = 0; // that were ever used
    std::uint32_t slot_room_ = 0;
    std::uint32_t range_slots_ = 0;            // of ranges, allocated or free
    std::uint32_t first_ = none, last_ = none; // ranges at the begin and the end of the memory
    // Deallocated, not yet free.
    std::uint32_t leaves_first_ = none; // its neighbours' records are on the way
    offset_range leaves_next_;          // its own is
    std::uint64_t allocated_ = 0;
    std::uint64_t waiting_ = 0;
    std::size_t range_count_ = 0; // allocated
    std::size_t waiting_count_ = 0;
    // Gaps: free ranges without a record, each behind one that is not free.
    std::uint64_t least_asked_ = UINT64_MAX;
    std::size_t gap_count_ = 0;
    std::uint64_t gap_bound_ = 0; // none is larger
    std::uint64_t collected_frame_ = 0;
    std::uint32_t waiting_of_[max_latency + 1]; // lists by the frame at which they are free
    block_source& source_;
};

}
