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
///                promise is searched for among those that may have it before it is refused: O(ranges of the size's
///                bin, and of larger ones where the alignment is what does not fit).
/// Overhead       32 bytes for each range, allocated or free; none in the memory. Sizes are not rounded.
/// Threads        one at a time.
/// When full      refuses with an empty range and changes nothing, only when no free range of the size and alignment is
///                there, or no memory for the record.
/// Example        examples/offset_allocator.cpp

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
    std::uint64_t waiting = 0;      ///< deallocated for a later frame
    std::size_t range_count = 0;    ///< allocated, those that wait among them
    std::size_t free_count = 0;     ///< free ranges
    std::size_t record_bytes = 0;   ///< memory taken for records

    /// The part of the free memory that is not in the largest free range: 0 when it is in one piece.
    [[nodiscard]] constexpr double fragmentation() const noexcept {
        return free == 0 ? 0 : 1 - static_cast<double>(largest_free) / static_cast<double>(free);
    }
};

class TENURE_API offset_allocator {
public:
    /// Frames that a deallocation may be put off.
    static constexpr unsigned most_latency = 63;
    static constexpr std::uint64_t most_capacity = std::uint64_t{1} << 62;

    /// Takes nothing from the source until the first allocation. The unit is yours: bytes, or blocks of a file.
    /// Requires  `capacity` is at most most_capacity, else it counts as zero; the source outlives the allocator.
    explicit offset_allocator(std::uint64_t capacity, block_source& source = page_source::process()) noexcept;
    ~offset_allocator();
    offset_allocator(const offset_allocator&) = delete;
    offset_allocator& operator=(const offset_allocator&) = delete;

    /// A size of zero counts as one. What was deallocated for a frame that has come is free before.
    /// Returns   a range whose offset is a multiple of `alignment`; an empty one when refused, or when the alignment is
    ///           no power of two.
    [[nodiscard]] offset_range allocate(std::uint64_t size, std::uint64_t alignment = 1) noexcept;

    /// Gives a range back; neighbours that are free become one with it. An empty range is allowed and does nothing.
    /// Requires  it is allocated; a range that was given back already is reported, unless its record serves another.
    void deallocate(offset_range range) noexcept;

    /// Gives a range back when `frames` frames have ended from now (base/frame_clock.hpp: next_frame() ends them): when
    /// the device has done with it. It is free at the next allocate() or collect() after that.
    /// Requires  as deallocate(); `frames` is at most most_latency, else it counts as that.
    void deallocate_after(offset_range range, unsigned frames) noexcept;
    /// Frees what waits for frames that have come. Returns   how many ranges. Cost      O(those), and O(1) a frame.
    std::size_t collect() noexcept;

    /// More room at the end; allocations stay. Returns   false, and nothing has changed, when `capacity` is less than
    /// now or more than most_capacity, or memory for a record is refused.
    [[nodiscard]] bool grow(std::uint64_t capacity) noexcept;
    /// Less room; allocations stay. Returns   false, and nothing has changed, when one lies past the new end.
    [[nodiscard]] bool shrink(std::uint64_t capacity) noexcept;

    /// Everything is free; ranges from before must not be given back. Cost      O(1).
    void clear() noexcept;

    /// The size that a range was allocated with. Requires  it is allocated, or waits for its frame.
    [[nodiscard]] std::uint64_t size_of(offset_range range) const noexcept;
    [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

    /// Cost      O(free ranges of the largest bin).
    [[nodiscard]] offset_usage usage() const noexcept;

    /// Calls `visit(offset, size, is_free)` for all ranges, lowest offset first. `visit` must not use the allocator.
    template<class Visit>
    void walk(Visit&& visit) const {
        if (first_ == none && capacity_ != 0) visit(std::uint64_t{0}, capacity_, true);
        for (std::uint32_t at = first_; at != none; at = records_[at].right)
            visit(records_[at].offset, records_[at].size, is_free(at));
    }

    /// Writes the usage and all ranges as one object of JSON, in pieces, for a picture.
    void write_json(void (*write)(void* context, std::string_view piece), void* context) const;

    /// Walks every record and bin and says whether all is consistent.
    [[nodiscard]] bool valid() const noexcept;

private:
    // Records are found by number, so that they may move when there come to be more.
    static constexpr std::uint32_t none = UINT32_MAX;
    static constexpr std::uint32_t in_use = UINT32_MAX - 1; // in place of `previous`
    static constexpr std::uint32_t waits = UINT32_MAX - 2;

    /// A range and its neighbours. Two of them share a cache line.
    struct record {
        std::uint64_t offset;
        std::uint64_t size;
        std::uint32_t left, right;    ///< the neighbours in the memory
        std::uint32_t previous, next; ///< in the list of a free range's bin; `next` of records without a range
    };
    static_assert(sizeof(record) == 32);

    static constexpr unsigned eighths_shift = 3;
    static constexpr std::size_t bin_count = std::size_t{62} << eighths_shift;

    [[nodiscard]] static std::size_t bin_of(std::uint64_t size) noexcept;
    [[nodiscard]] static std::size_t bin_that_holds(std::uint64_t size) noexcept;
    [[nodiscard]] static bool fits(const record& range, std::uint64_t size, std::uint64_t alignment) noexcept;
    [[nodiscard]] std::size_t next_bin(std::size_t from) const noexcept;
    [[nodiscard]] std::uint32_t find(std::uint64_t size, std::uint64_t alignment) const noexcept;
    [[nodiscard]] std::uint32_t search(std::uint64_t size, std::uint64_t alignment) const noexcept;
    [[nodiscard]] bool reserve_records(std::uint32_t count) noexcept;
    [[nodiscard]] std::uint32_t take_record() noexcept;
    void free_record(std::uint32_t which) noexcept;
    void link(std::uint32_t which) noexcept;
    void unlink(std::uint32_t which) noexcept;
    [[nodiscard]] bool is_free(std::uint32_t which) const noexcept {
        return records_[which].previous != in_use && records_[which].previous != waits;
    }
    [[nodiscard]] bool is_allocated(offset_range range) const noexcept;
    [[nodiscard]] bool open() noexcept;
    void release(std::uint32_t which) noexcept;
    void report_not_allocated(offset_range range) const noexcept;

    record* records_ = nullptr;
    std::uint64_t capacity_;
    std::uint64_t top_bits_ = 0; // which of the bytes below are not zero
    std::uint8_t bin_bits_[bin_count >> eighths_shift] = {};
    std::uint32_t bins_[bin_count];

    std::uint32_t spare_ = none;     // records without a range
    std::uint32_t record_count_ = 0; // that were ever used
    std::uint32_t record_room_ = 0;
    std::uint32_t spare_count_ = 0;
    std::uint32_t first_ = none, last_ = none; // ranges at the begin and the end of the memory
    std::uint64_t free_ = 0;
    std::uint64_t waiting_ = 0;
    std::size_t range_count_ = 0;
    std::size_t free_count_ = 0;
    std::size_t waiting_count_ = 0;
    std::uint64_t collected_frame_ = 0;
    std::uint32_t waiting_of_[most_latency + 1]; // lists by the frame at which they are free
    block_source& source_;
};

}
