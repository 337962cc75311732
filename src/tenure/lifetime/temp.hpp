// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Temp: scratch memory of the calling thread, gone at the end of its scope, job or frame.
///
/// Use it for     what a function or a job needs while it runs, and nothing after.
/// Not for        what another thread frees or what outlives the frame: see lifetime/temp_job.hpp.
/// Memory from    one address range per thread, option temp_budget_bytes, committed as it grows; past it, TempJob's
///                chunks.
/// Cost           allocate O(1), one add and one compare; rewind O(1), and O(chunks) when it had overflowed.
/// Overhead       sizes are rounded up to 16 bytes, so that a run freed in reverse rewinds without a link per block;
///                the run ends at a gap that a larger alignment left.
/// Threads        each has its own; a pointer may be read by others while its scope lasts.
/// Fork           usable in the child. What Temp of threads that the child does not have stays readable there, and is
///                not given back.
/// When full      overflows and counts it; null when the system refuses memory as well, and then nothing changes.
/// Example        examples/lifetimes.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/thread_lifetimes.hpp>

namespace tenure::inline TENURE_ABI {

/// What the calling thread's Temp has seen.
struct temp_stats {
    std::size_t budget_bytes = 0;        ///< reserved as one range
    std::size_t used_bytes = 0;          ///< in use now, overflow included
    std::size_t committed_bytes = 0;     ///< the peak within the budget, rounded up to a step of doubling
    std::uint64_t overflow_count = 0;    ///< chunks taken because the budget, or the chunk before, was full
    std::uint64_t overflow_bytes = 0;    ///< bytes of those chunks
    std::size_t overflow_peak_bytes = 0; ///< the most bytes of chunks held at a time
};

/// Temp as an allocator: it has no state of its own, so every object of this class is the calling thread's Temp.
class temp {
public:
    /// Sizes are rounded up to this, and blocks begin at multiples of it.
    static constexpr std::size_t rounding_bytes = default_alignment;

    /// Requires  `alignment` is a power of two. Zero bytes count as one.
    /// Returns   memory valid until the end of the innermost temp_scope, reset() or frame; null when refused.
    [[nodiscard]] TENURE_LOCAL static void* allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept;

    /// Rewinds when the block is the newest one, and so on down a run freed in reverse, as far as blocks lie without a
    /// gap between them; else nothing until the scope, reset or frame ends.
    /// Requires  `block` and `bytes` are what allocate() gave and was given on this thread.
    TENURE_LOCAL static void deallocate(void* block, std::size_t bytes,
                                        std::size_t alignment = default_alignment) noexcept;

    /// Does nothing: without its size a block waits for the end of its scope, reset or frame.
    /// Requires  as above, without the size; checked builds look at it.
    TENURE_LOCAL static void deallocate(void* block) noexcept {
        if constexpr (checks::caller) deallocate_checked(block);
    }

    /// Empties the calling thread's Temp.
    TENURE_API static void reset() noexcept;

    /// Gives the system back what lies past the newest block of the budget's range.
    /// Returns   the bytes of it that had been committed since the last time.
    TENURE_API static std::size_t trim() noexcept;

    /// Whether the calling thread's Temp is consistent. Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API static bool valid() noexcept;

    /// Whether the pointer is in the calling thread's Temp. Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API static bool owns(const void* pointer) noexcept;

    [[nodiscard]] TENURE_API static temp_stats stats() noexcept;

private:
    [[nodiscard]] TENURE_API static void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    /// Returns   whether the block is alive in the calling thread's Temp; reports it when not.
    TENURE_API static bool deallocate_checked(void* block) noexcept;
    TENURE_API static void rewind_checked(void* block, std::size_t bytes) noexcept;
    TENURE_API static void leave_chunk() noexcept;
    [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return align_up(bytes + (bytes == 0), rounding_bytes);
    }
};

/// What the calling thread allocates from Temp inside the scope is gone at its end. Scopes nest and end in reverse
/// order; reset() and next_frame() must not be called inside one.
///
/// A block from before the scope may be freed inside it. When it was the first one of an overflow chunk, what the scope
/// allocates afterwards stays until the scope around this one, reset or frame ends.
class [[nodiscard]] temp_scope {
public:
    TENURE_LOCAL temp_scope() noexcept;
    TENURE_LOCAL ~temp_scope();
    temp_scope(const temp_scope&) = delete;
    temp_scope& operator=(const temp_scope&) = delete;

private:
    [[nodiscard]] TENURE_API static std::uint32_t open() noexcept;
    TENURE_API static bool close(std::uint32_t depth) noexcept;
    TENURE_API static void rewind_slow(std::uintptr_t cursor, std::uint64_t chunk) noexcept;

    std::uintptr_t cursor_;
    std::uint64_t chunk_;
    std::uint32_t depth_ = 0; // of nesting, counted in checked builds
};

inline void* temp::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (!checks::caller) {
        detail::thread_lifetimes& thread = detail::this_thread;
        std::uintptr_t const block =
            alignment <= rounding_bytes ? thread.temp_cursor : align_up(thread.temp_cursor, alignment);
        // An address and half the address space never overflow together.
        if (bytes <= max_object_bytes - rounding_bytes && block + rounded(bytes) <= thread.temp_limit) [[likely]] {
            thread.temp_cursor = block + rounded(bytes);
            return pointer_at(block);
        }
    }
    return allocate_slow(bytes, alignment);
}

inline void temp::deallocate(void* block, std::size_t bytes, std::size_t) noexcept {
    if constexpr (checks::caller) return rewind_checked(block, bytes);
    detail::thread_lifetimes& thread = detail::this_thread;
    if (address_of(block) + rounded(bytes) != thread.temp_cursor) return;
    thread.temp_cursor = address_of(block);
    if (thread.temp_cursor == thread.temp_floor) [[unlikely]]
        leave_chunk();
}

inline temp_scope::temp_scope() noexcept
    : cursor_(detail::this_thread.temp_cursor), chunk_(detail::this_thread.temp_chunk) {
    if constexpr (checks::caller) depth_ = open();
}

inline temp_scope::~temp_scope() {
    // A tag counts what was allocated under it, so under a tag the slow path looks at the cursor before it goes back.
    bool const plain = detail::this_thread.temp_chunk == chunk_ && detail::current_tag.id == 0 && cursor_ != 0;
    if (!checks::caller && plain) [[likely]] {
        // Lower already when a block from before the scope was freed inside it.
        if (cursor_ < detail::this_thread.temp_cursor) detail::this_thread.temp_cursor = cursor_;
        return;
    }
    if (checks::caller && !close(depth_)) return;
    rewind_slow(cursor_, chunk_);
}

}
