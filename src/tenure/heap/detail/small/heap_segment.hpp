// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Naturally aligned runs of pages of small blocks, and the bits that mark free blocks.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/checked/block_states.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a segment, at a multiple of its size:
//
//   | classes: a byte per slice | first slices | pages: 128 bytes per slice | long bits: 512 | slices of 32 KiB ... |
//
// In checked builds the states of all blocks lie behind the long bits: a byte per block.
//
// A page is one slice, or two to eight slices for blocks past 4 KiB. A free masks the pointer and reads the class of
// its slice; only when the cache is full does it read the page and the bits. Therefore blocks have no header, a free
// does not touch them, and the bytes that it reads for five million blocks fit in the first-level cache. A page of up
// to 512 blocks contains its own bits, so that page records are close together: random frees wait for the address
// translation of each record.

constexpr std::size_t own_words = 8;                                ///< words of bits in the page record itself
constexpr std::size_t long_words = 64;                              ///< words of bits elsewhere in the head
constexpr std::size_t blocks_per_page = long_words * bits_per_word; ///< maximum

/// Number of slices in a page of the class: enough for at least eight blocks. A page held by a few blocks is what a
/// heap wastes when its sizes drift.
[[nodiscard]] constexpr std::size_t slices_of_page(std::size_t class_index) noexcept {
    const std::size_t bytes = std::bit_ceil(class_bytes(class_index));
    return bytes <= slice_bytes / 8 ? 1 : bytes / (slice_bytes / 8);
}

// Pages are of 1, 2, 4 or 8 slices.
constexpr std::size_t page_lengths = 4;
static_assert(slices_of_page(small_class_count - 1) == std::size_t{1} << (page_lengths - 1));

// Replaces division by a class's size with one multiplication: 2^32 divided by the size, rounded up.
constexpr int inverse_bits = 32;
constexpr auto inverse_of_class = [] {
    std::array<std::uint32_t, small_class_count> inverses{};
    for (std::size_t index = 0; index < small_class_count; ++index) {
        const std::uint64_t bytes = class_bytes(index);
        inverses[index] = static_cast<std::uint32_t>(((std::uint64_t{1} << inverse_bits) + bytes - 1) / bytes);
    }
    return inverses;
}();

class heap_shard;

// Sweeps return what is free in a page in units of 4 KiB, or in larger OS pages, and record it in a bit per unit.
constexpr std::size_t units_per_slice = 8;
constexpr std::size_t purge_unit_bytes = slice_bytes / units_per_slice;

/// How long a page has been unchanged.
enum class page_age : std::uint8_t {
    changed, ///< since the last sweep
    quiet,   ///< the last sweep found it unchanged once
    purged,  ///< its free units have been returned
};

/// A page of blocks of one class. The owner's lock guards everything except `owner` and the fields that do not change
/// while the page is in use.
struct alignas(cache_line_bytes) small_page {
    std::uintptr_t begin;
    bit_word words_with_free; ///< one bit per nonzero word of bits
    small_page* next;         ///< in the owner's list of pages with available blocks
    small_page* previous;
    // Released with the page; who asks without a block acquires it. Relaxed under the owner's lock.
    atomic<heap_shard*> owner;
    std::uint32_t block_bytes;
    std::uint16_t capacity;
    std::uint16_t free_count; ///< number of bits that are set
    std::uint8_t words_used;  ///< words whose blocks have been allocated at least once
    std::uint8_t class_index;
    bool is_listed;
    // Relaxed: a hint for sweeps.
    atomic<page_age> age; ///< set by sweeps; reset, under the owner's lock, whenever a bit changes
    bool has_purged;      ///< whether one of its units may be purged
    /// Number of its blocks in the heap profile, and whether it belongs to an owner tag's shard. Written under the lock
    /// of the pages.
    // Relaxed: a block is counted before the program gets it, so who frees it reads a count with it.
    atomic<std::uint8_t> samples_and_tagged;
    std::uint16_t purged_in; ///< number of the sweep that purged the latest
    bit_word* bits;          ///< one bit per block that was allocated and freed: own_bits, or the segment's long bits
    alignas(cache_line_bytes) bit_word own_bits[own_words];

    static constexpr std::uint8_t max_samples = 127; ///< a page with so many keeps this number until it is released
    static constexpr std::uint8_t tagged_bit = 128;

    [[nodiscard]] std::uint8_t samples() const noexcept {
        return samples_and_tagged.load(memory_order::relaxed) & max_samples;
    }
    [[nodiscard]] bool is_tagged() const noexcept {
        return (samples_and_tagged.load(memory_order::relaxed) & tagged_bit) != 0;
    }
    void set_samples(std::size_t count) noexcept {
        const std::size_t tagged = is_tagged() ? tagged_bit : 0;
        samples_and_tagged.store(static_cast<std::uint8_t>(count | tagged), memory_order::relaxed);
    }

    [[nodiscard]] std::size_t word_count() const noexcept { return words_for(capacity); }
    [[nodiscard]] std::size_t blocks_used() const noexcept {
        const std::size_t used = std::size_t{words_used} * bits_per_word;
        return used < capacity ? used : capacity;
    }
    [[nodiscard]] bool has_blocks() const noexcept { return free_count != 0 || blocks_used() != capacity; }
    [[nodiscard]] bool is_empty() const noexcept { return free_count == blocks_used(); }
    [[nodiscard]] void* block(std::size_t index) const noexcept { return pointer_at(begin + index * block_bytes); }
    /// Whether the block was allocated and not returned to the page. A block in a thread's cache counts as handed out.
    [[nodiscard]] bool is_allocated(std::size_t index) const noexcept {
        return index < blocks_used() && (bits[index / bits_per_word] & bit_at(index)) == 0;
    }
};
static_assert(sizeof(small_page) == 2 * cache_line_bytes);

/// Bytes in front of a page's first block: none, or in checked builds room for a canary, so that each block has one in
/// front of it. Keeps the alignment of the class: blocks lie at multiples of the lowest bit of their size.
[[nodiscard]] constexpr std::size_t front_bytes(std::size_t class_index) noexcept {
    const std::size_t bytes = class_bytes(class_index);
    return checks::caller ? bytes & (~bytes + 1) : 0;
}
/// Number of blocks in a page of the class.
[[nodiscard]] constexpr std::size_t blocks_in_page(std::size_t class_index) noexcept {
    const std::size_t bytes = slices_of_page(class_index) * slice_bytes - front_bytes(class_index);
    return bytes / class_bytes(class_index) < blocks_per_page ? bytes / class_bytes(class_index) : blocks_per_page;
}

/// Where a block of a checked build is.
struct block_place {
    state_byte* state = nullptr;
    bool is_begin = false;
};

/// What checked builds look up for each class.
struct class_layout {
    std::uint32_t bytes, inverse, front, capacity;
};
constexpr auto class_layouts = [] {
    std::array<class_layout, small_class_count> layouts{};
    for (std::size_t index = 0; index < small_class_count; ++index) {
        layouts[index] = {static_cast<std::uint32_t>(class_bytes(index)), inverse_of_class[index],
                          static_cast<std::uint32_t>(front_bytes(index)),
                          static_cast<std::uint32_t>(blocks_in_page(index))};
    }
    return layouts;
}();

/// Whether a page of the class has more blocks than own bits.
[[nodiscard]] constexpr bool has_long_bits(std::size_t class_index) noexcept {
    return class_bytes(class_index) * own_words * bits_per_word < slice_bytes;
}

/// A block's page and its bits: enough to compute the number of any block in the page.
struct block_page {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0; ///< maximum, up to the end of the page
    std::uint64_t inverse = 0;
    small_page* page = nullptr;
    bit_word* bits = nullptr;

    [[nodiscard]] bool contains(const void* block) const noexcept { return address_of(block) - begin < bytes; }
    /// Requires  the block belongs to the page.
    [[nodiscard]] std::size_t number_of(const void* block) const noexcept {
        return ((address_of(block) - begin) * inverse) >> inverse_bits;
    }
};

constexpr std::size_t slice_words = max_slices / bits_per_word;

/// Calls `visit(first, count)` for each run of set bits.
template<class Visit>
void for_each_run(const bit_word (&words)[slice_words], Visit&& visit) noexcept {
    std::size_t begin = 0, count = 0;
    for (std::size_t slice = 0; slice < max_slices; ++slice) {
        if ((words[slice / bits_per_word] & bit_at(slice)) != 0) {
            if (count++ == 0) begin = slice;
        } else if (count != 0) {
            visit(begin, std::exchange(count, 0));
        }
    }
    if (count != 0) visit(begin, count);
}

struct heap_segment : segment_head {
    std::uint16_t first_slice[max_slices]; ///< first slice of the page that the slice belongs to
    /// One bit per unit of a slice: whether it was returned while its page was in use, and no block in it was handed
    /// out since. The lock of the page's owner guards it.
    std::uint8_t purged_units[max_slices];
    heap_segment* next;       ///< in the order of acquisition
    std::size_t mapped_bytes; ///< from the start; the slices behind it do not exist
    std::size_t free_count;   ///< number of free slices
    // By the length of a page: the lists of segments that may have room for one, and whether this segment is in them.
    heap_segment* next_free[page_lengths];
    bool is_listed_free[page_lengths];
    bool is_stuck; ///< its addresses end here: it could not be extended
    // For slices without a page: those touched since the system delivered them, and those found touched by the last
    // sweep.
    bit_word free_slices[slice_words];
    bit_word dirty_slices[slice_words];
    bit_word stale_slices[slice_words];
    // Slices that the latest sweep returned, and the one before it: taking them again soon is thrash.
    bit_word purged_slices[slice_words];
    bit_word purged_before[slice_words];
    small_page pages[max_slices]; ///< by first slice; as many as the segment has slices, then the long bits

    /// Number of slices that the head takes in a segment of this size.
    [[nodiscard]] static constexpr std::size_t head_slices(std::size_t segment_bytes) noexcept {
        constexpr std::size_t fixed = sizeof(segment_head) + max_slices * 3 + 5 * max_slices / 8 + 4 * 64;
        constexpr std::size_t each = sizeof(small_page) + long_words * sizeof(bit_word) + states_per_slice;
        return (fixed + segment_bytes / slice_bytes * each + slice_bytes - 1) / slice_bytes;
    }
    [[nodiscard]] void* slice(std::size_t index) noexcept { return pointer_at(address_of(this) + index * slice_bytes); }
    [[nodiscard]] std::size_t slice_count() const noexcept { return mapped_bytes / slice_bytes; }
    /// The bits of a page with more blocks than own bits.
    [[nodiscard]] bit_word* long_bits(std::size_t slice, std::size_t segment_bytes) noexcept {
        return static_cast<bit_word*>(static_cast<void*>(pages + segment_bytes / slice_bytes)) + slice * long_words;
    }
    [[nodiscard]] static constexpr std::size_t states_offset(std::size_t segment_bytes) noexcept {
        constexpr std::size_t each = sizeof(small_page) + long_words * sizeof(bit_word);
        return sizeof(heap_segment) - sizeof(small_page) * max_slices + segment_bytes / slice_bytes * each;
    }
    /// The states of a page's blocks, in checked builds.
    [[nodiscard]] state_byte* states(std::size_t slice, std::size_t segment_bytes) noexcept {
        void* const first = pointer_at(address_of(this) + states_offset(segment_bytes));
        return static_cast<state_byte*>(first) + slice * states_per_slice;
    }
    /// Requires  the address is in a page of the class, at least the first checked one.
    [[nodiscard]] static TENURE_ALWAYS_INLINE block_place checked_place(const void* block, std::size_t class_index,
                                                                        std::size_t segment_bytes) noexcept {
        return checked_place(block, class_index, segment_bytes - 1, states_offset(segment_bytes));
    }
    /// The same, with numbers that depend on the size of the segment only.
    [[nodiscard]] static TENURE_ALWAYS_INLINE block_place checked_place(const void* block, std::size_t class_index,
                                                                        std::uintptr_t mask,
                                                                        std::size_t states_at) noexcept {
        const std::uintptr_t begin = address_of(block) & ~mask;
        const auto* const segment = static_cast<const heap_segment*>(pointer_at(begin));
        const std::size_t first = segment->first_slice[(address_of(block) & mask) / slice_bytes];
        const class_layout& layout = class_layouts[class_index];
        const std::uint64_t offset = address_of(block) - begin - first * slice_bytes - layout.front;
        const std::uint64_t index = offset * layout.inverse >> inverse_bits;
        const bool is_begin = index * layout.bytes == offset && index < layout.capacity;
        auto* const states = static_cast<state_byte*>(pointer_at(begin + states_at + first * states_per_slice));
        return {states + (is_begin ? index : 0), is_begin};
    }
    /// Requires  the block belongs to a page.
    [[nodiscard]] static small_page& page_of(const void* block, std::size_t segment_bytes) noexcept {
        auto* const segment = static_cast<heap_segment*>(segment_head::of(block, segment_bytes));
        return segment->pages[segment->first_slice[slice_of(block, segment_bytes)]];
    }
    /// The block's page and its bits. Reads the page record only if the slice's number is not the class.
    [[nodiscard]] static block_page place_of(const void* block, std::size_t segment_bytes) noexcept {
        auto* const segment = static_cast<heap_segment*>(segment_head::of(block, segment_bytes));
        const std::size_t slice = slice_of(block, segment_bytes), first = segment->first_slice[slice];
        small_page& page = segment->pages[first];
        const std::size_t number = segment->number_of(slice);
        std::size_t class_index = number;
        if (number >= small_class_count)
            class_index = is_counted_number(number) ? number - counted_classes : page.class_index;
        bit_word* const bits = has_long_bits(class_index) ? segment->long_bits(first, segment_bytes) : page.own_bits;
        const std::size_t front = front_bytes(class_index);
        return {address_of(segment) + first * slice_bytes + front, (slice - first + 1) * slice_bytes - front,
                inverse_of_class[class_index], &page, bits};
    }
};
static_assert(sizeof(heap_segment) <= heap_segment::head_slices(max_segment_bytes) * slice_bytes);

}
