// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Large blocks: past the small ones and below a segment, in runs of 4 KiB units.
///
/// Good fit in O(1) after Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems" (2004): free
/// lists by size, eight per doubling, and two levels of bits that mark the lists that are not empty. The records are in
/// the segment's head, not in the runs, so that a whole free run can be returned to the system.

#include <cstddef>
#include <cstdint>

#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/purge/sweep.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

class page_map;

constexpr std::size_t unit_bytes = 4096;
constexpr std::size_t max_units = max_segment_bytes / unit_bytes;

/// The record of a run, at its first unit. Its last unit repeats `units` and `is_free`.
struct large_run {
    large_run* next; ///< in the free list of its size, when it is free
    large_run* previous;
    std::uint32_t units;
    bool is_free;
    std::uint16_t tag; ///< owner tag of a block; zero: none
};
static_assert(sizeof(large_run) == 24);

struct large_segment : segment_head {
    large_segment* next;
    std::size_t units; ///< number of them that are mapped, with the head
    std::size_t free_units;
    bool is_stuck; ///< its addresses end here: it could not be extended
    // One bit per unit: those touched since the system delivered them, with the rest of their OS pages, and those of
    // them that the last sweep found free.
    bit_word dirty[max_units / bits_per_word];
    bit_word stale[max_units / bits_per_word];
    // Units that the latest sweep returned, and the one before it: taking them again soon is thrash.
    bit_word purged[max_units / bits_per_word];
    bit_word purged_before[max_units / bits_per_word];
    large_run runs[max_units]; ///< as many as the segment has units

    /// Number of units that the head takes in a segment of this size.
    [[nodiscard]] static constexpr std::size_t head_units(std::size_t segment_bytes) noexcept {
        constexpr std::size_t fixed = sizeof(segment_head) + 4 * sizeof(std::size_t) + 4 * max_units / 8;
        const std::size_t bytes = fixed + segment_bytes / unit_bytes * sizeof(large_run);
        return (bytes + unit_bytes - 1) / unit_bytes;
    }
};
static_assert(sizeof(large_segment) <= large_segment::head_units(max_segment_bytes) * unit_bytes);

/// The largest block that a segment of this size can hold.
[[nodiscard]] constexpr std::size_t max_large_bytes(std::size_t segment_bytes) noexcept {
    return segment_bytes - large_segment::head_units(segment_bytes) * unit_bytes;
}

/// Whether a segment of this size can hold a block, wherever its free run begins.
/// Requires  `alignment` is a power of two.
[[nodiscard]] constexpr bool fits_segment(std::size_t bytes, std::size_t alignment,
                                          std::size_t segment_bytes) noexcept {
    const std::size_t gap = alignment > unit_bytes ? alignment - unit_bytes : 0;
    return alignment <= segment_bytes / 2 && bytes <= segment_bytes && bytes + gap <= max_large_bytes(segment_bytes);
}

/// The block that was freed, for the statistics of its owner tag; zero when the free was rejected.
struct freed_block {
    std::uint16_t tag = 0;
    std::size_t bytes = 0;
};

/// The contents of a fresh block.
enum class contents : std::uint8_t { unknown, zero };

/// Threads   any; one lock per call.
/// Cost      allocate, deallocate and resize O(1); at most 16 runs are searched before a new segment is acquired.
class large_blocks {
public:
    constexpr explicit large_blocks(heap_memory& memory) noexcept : memory_(memory) {}
    ~large_blocks() { release_all(); }
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;

    /// Requires  `bytes` is not zero; `alignment` is a power of two.
    /// Returns   nullptr when a segment cannot hold the block or the source fails; nothing changes then. `found`
    ///           receives the block's contents.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, contents& found,
                                 std::uint16_t tag = 0) noexcept;
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        contents found{};
        return allocate(bytes, alignment, found);
    }
    /// Frees a block. Reports a block that is already free, or an address that is not the start of a block.
    freed_block deallocate(void* block) noexcept;

    /// Makes a block larger or smaller in place.
    /// Returns   whether it succeeded; if not, nothing changes.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;
    [[nodiscard]] std::uint16_t tag_of(const void* block) const noexcept { return run_of(block).tag; }

    /// Returns empty segments and the memory of free runs to the source.
    /// Returns   the number of bytes returned.
    std::size_t trim() noexcept;
    /// A sweep, one segment at a time: decommits units that were free and touched, and already so at the previous
    /// sweep, in runs of at least 64 KiB or, if it is thorough, of any size. Releases segments that have been empty for
    /// longer. The lock is held for one system call at a time. Requires  the caller excludes trim() and release_all()
    /// during each call.
    class sweep_place {
        friend large_blocks;
        large_segment* next = nullptr;
        std::size_t releases = 0;
    };
    [[nodiscard]] sweep_place begin_sweep() const noexcept;
    /// Returns   whether there is more to sweep.
    bool sweep_some(sweep_place& place, sweep_scope scope, sweep_result& result) noexcept;
    /// Returns the addresses behind the last block of each segment, where the source can take them.
    /// Returns   the number of bytes.
    std::size_t release_tails() noexcept;
    /// Decommits free memory in pieces of at least 64 KiB, until `at_most` bytes are reached or exceeded by one run.
    std::size_t release_free(std::size_t at_most) noexcept;
    /// Frees every block; keeps the segments.
    void free_all() noexcept;
    /// Releases every segment, including those in use.
    void release_all() noexcept;

    /// Calls `visit(context, block, bytes)` for every block.
    /// Requires  no other thread uses the heap meanwhile.
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    /// What each OS page is used for: profile/page_map.cpp.
    /// Requires  the caller excludes trim() and release_all().
    void map(page_map& to) const noexcept;
    /// Whether a block begins here.
    /// Requires  `block` is in a segment of large blocks.
    [[nodiscard]] bool is_block(const void* block) const noexcept;

    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept;
    [[nodiscard]] std::size_t segment_count() const noexcept;
    /// Bytes of heads, of blocks in use, and of free units that were touched.
    /// Cost      O(segments), with the lock.
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    /// The resident part of them.
    /// Cost      O(OS pages), with the lock.
    [[nodiscard]] std::size_t resident_bytes() const noexcept;
    /// Cost      O(runs), with the lock.
    [[nodiscard]] bool valid() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    static constexpr std::size_t lists_per_doubling = 8;
    static constexpr std::size_t doublings = 14;

    [[nodiscard]] static large_run* best_in(large_run* first, std::size_t units) noexcept;
    [[nodiscard]] large_run* find(std::size_t units) noexcept;
    [[nodiscard]] large_run* find_any(std::size_t units) noexcept;
    [[nodiscard]] large_run* add_segment(std::size_t units) noexcept;
    [[nodiscard]] large_run* extend(large_segment& segment, std::size_t units) noexcept;
    [[nodiscard]] large_run* extend_a_segment(std::size_t units) noexcept;
    [[nodiscard]] large_run* run_behind(large_run& run, std::size_t units) noexcept;
    void forget_runs() noexcept;
    static void mark(large_run& run, std::size_t units, bool is_free) noexcept;
    void insert(large_run& run) noexcept;
    void remove(large_run& run) noexcept;
    void split(large_run& run, std::size_t units) noexcept;
    void release(large_run& run) noexcept;
    [[nodiscard]] large_segment& segment_of(const void* inside) const noexcept;
    [[nodiscard]] std::size_t index_of(const large_run& run) const noexcept;
    [[nodiscard]] std::uintptr_t begin_of(const large_run& run) const noexcept;
    [[nodiscard]] large_run& run_of(const void* block) const noexcept;
    [[nodiscard]] large_run* run_after(large_run& run) const noexcept;
    [[nodiscard]] std::size_t head_units() const noexcept { return large_segment::head_units(memory_.segment_bytes()); }
    [[nodiscard]] static std::size_t units_of_os_page() noexcept;
    [[nodiscard]] contents touch(large_run& run, std::size_t first, std::size_t count) noexcept;
    std::size_t decommit_units(large_segment& segment, std::size_t first, std::size_t last) noexcept;
    void decommit_in_steps(large_segment& segment, const bit_word* among, std::size_t at_least,
                           sweep_result& result) noexcept;
    void release_segment(large_segment** link) noexcept;
    [[nodiscard]] bool release_if_idle(large_segment& segment) noexcept;
    std::size_t decommit_run(large_run& run, std::size_t at_least, const bit_word* among) noexcept;

    heap_memory& memory_;
    mutable platform::mutex mutex_; ///< guards everything below and all records
    large_segment* first_ = nullptr;
    std::size_t segment_count_ = 0;
    std::size_t releases_ = 0;     ///< of segments, ever
    std::size_t mapped_units_ = 0; ///< of all segments
    freed_steps freed_;
    std::size_t live_units_ = 0;
    std::size_t live_count_ = 0;
    bit_word doublings_with_free_ = 0;
    std::uint8_t lists_with_free_[doublings]{};
    large_run* lists_[doublings][lists_per_doubling]{};
};

}
