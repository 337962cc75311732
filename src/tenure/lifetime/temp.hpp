// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Temp: per-thread scratch memory that is freed at the end of its scope, job or frame.
///
/// Use it for     memory that a function or a job needs only while it runs.
/// Not for        memory that another thread frees or that outlives the frame: see lifetime/temp_job.hpp.
/// Memory from    one address range per thread (option temp_budget_bytes), committed as needed; then TempJob's chunks.
///                The ranges of the first two threads are reserved when the program starts (at most five system
///                calls and two page faults, 8 MiB of addresses, 8 KiB of memory), so that their first blocks need no
///                system call.
/// Cost           allocate O(1): an add and a compare. Rewind O(1); O(chunks) after an overflow.
/// Overhead       no header (checked builds: 32 bytes around each block). Sizes are rounded up to 16 bytes. Frees in
/// reverse order therefore rewind block by block,
///                up to the first gap that a larger alignment left.
/// Threads        each thread has its own; other threads may read the memory while its scope lasts.
/// Fork           usable in the child. Temp memory of the parent's other threads stays readable and is not released.
/// When full      overflows into chunks and counts them. If the system is out of memory too, returns nullptr and
///                changes nothing.
/// Example        examples/lifetimes.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/lifetime/detail/temp_origin.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>

namespace tenure::inline TENURE_ABI {

/// Figures of the calling thread's Temp.
struct temp_stats {
    std::size_t budget_bytes = 0;        ///< reserved as one range
    std::size_t used_bytes = 0;          ///< in use now, overflow included
    std::size_t committed_bytes = 0;     ///< peak within the budget, rounded up to a doubling step
    std::uint64_t overflow_count = 0;    ///< chunks taken because the budget, or the previous chunk, was full
    std::uint64_t overflow_bytes = 0;    ///< bytes of those chunks
    std::size_t overflow_peak_bytes = 0; ///< maximum bytes of chunks held at a time
};

/// Temp as an allocator. It has no state of its own: every object of this class is the calling thread's Temp.
class temp {
public:
    /// Sizes are rounded up to this, and blocks start at multiples of it.
    static constexpr std::size_t rounding_bytes = default_alignment;
    /// Around each block, in checked builds: 16 bytes in front and at least 16 behind it. They count as used.
    static constexpr std::size_t guard_bytes = checks::caller ? 32 : 0;

    /// Zero bytes count as one.
    /// Requires  `alignment` is a power of two.
    /// Returns   memory valid until the end of the innermost temp_scope, reset() or frame; nullptr when out of memory.
    [[nodiscard]] TENURE_LOCAL static void* allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept;

    /// Rewinds if the block is the newest one. Frees in reverse order rewind block by block, up to a gap between
    /// blocks. Otherwise does nothing: the block is freed when its scope, reset or frame ends.
    /// Requires  allocate() returned `block` for `bytes` on this thread.
    TENURE_LOCAL static void deallocate(void* block, std::size_t bytes,
                                        std::size_t alignment = default_alignment) noexcept;

    /// Does nothing: the block is freed when its scope, reset or frame ends.
    /// Requires  allocate() returned `block` on this thread; checked builds verify it.
    TENURE_LOCAL static void deallocate(void* block) noexcept {
        if constexpr (checks::caller) deallocate_checked(block);
    }
    /// Frees an object that may be of a class derived from the one that takes `least_bytes`. Rewinds as with the size,
    /// unless the object is larger.
    /// Requires  allocate() returned `block`, for `least_bytes` or more, on this thread.
    TENURE_LOCAL static void deallocate_at_least(void* block, std::size_t least_bytes) noexcept {
        if constexpr (checks::caller) return rewind_if_size(block, least_bytes, max_object_bytes);
        // The newest block ends at the cursor, older ones before it: a size that is too small never rewinds.
        deallocate(block, least_bytes);
    }

    /// Memory for `count` elements. Nothing is constructed in it: T needs no constructor.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T> allocate(std::size_t count) noexcept {
        return detail::allocate_elements<T>(
            count, [](std::size_t bytes, std::size_t alignment) noexcept { return temp::allocate(bytes, alignment); });
    }
    /// Constructs an object, which must have no destructor. Returns   nullptr when out of memory.
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL static T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        detail::require_no_destructor<T>();
        return detail::make_object<T>(
            [](std::size_t bytes, std::size_t alignment) noexcept { return temp::allocate(bytes, alignment); },
            [](void* block, std::size_t bytes, std::size_t) noexcept { temp::deallocate(block, bytes); },
            std::forward<Arguments>(arguments)...);
    }
    /// Constructs `count` elements as T() does: numbers are zero. T must have no destructor.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        detail::require_no_destructor<T>();
        return detail::make_elements<T>(
            count, [](std::size_t bytes, std::size_t alignment) noexcept { return temp::allocate(bytes, alignment); },
            [](void* block, std::size_t bytes, std::size_t) noexcept { temp::deallocate(block, bytes); });
    }

    /// Prepares the calling thread's Temp, so that its next `bytes` do not wait for the operating system. Blocks count
    /// with their rounded sizes; bytes past the budget are not prepared.
    /// Returns   false if nothing was prepared: when out of memory, and after an overflow. With option `passthrough`
    ///           there is nothing to prepare, and the answer is true.
    /// Cost      a page fault or less per OS page that was not touched before.
    TENURE_API static bool warm_up(std::size_t bytes) noexcept;

    /// Empties the calling thread's Temp.
    TENURE_API static void reset() noexcept;

    /// Returns the memory after the newest block of the budget's range to the system.
    /// Returns   the number of bytes that were committed since the last trim.
    TENURE_API static std::size_t trim() noexcept;

    /// Whether the calling thread's Temp is consistent. Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API static bool valid() noexcept;

    /// Whether the pointer is in the calling thread's Temp. Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API static bool owns(const void* pointer) noexcept;

    [[nodiscard]] TENURE_API static temp_stats stats() noexcept;

    /// See stl_allocator: in checked builds a container remembers the scope in which it was made.
    class container_origin;

private:
    [[nodiscard]] TENURE_API static void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    /// Returns   whether the block is allocated in the calling thread's Temp; reports it if not.
    TENURE_API static bool deallocate_checked(void* block) noexcept;
    /// The same; `bytes` receives the size of a block with guards.
    static bool look_before_free(void* block, std::size_t& bytes) noexcept;
    TENURE_API static void rewind_if_size(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept;
    TENURE_API static void leave_chunk() noexcept;
    [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
        return align_up(bytes + (bytes == 0), rounding_bytes);
    }
};

/// Frees everything that the calling thread allocates from Temp inside the scope. Scopes nest and end in reverse order.
/// Do not call reset() or next_frame() inside a scope.
///
/// A block from before the scope may be freed inside it. If that block was the first of an overflow chunk, later
/// allocations of this scope stay until the enclosing scope, reset or frame ends. In checked builds such a free only
/// checks the block; its memory is reused after the enclosing scope, reset or frame ends.
///
/// Ends       on the thread, and in the temp_state, where it began; checked builds report another one.
class [[nodiscard]] temp_scope {
public:
    [[nodiscard]] TENURE_LOCAL temp_scope() noexcept;
    TENURE_LOCAL ~temp_scope();
    temp_scope(const temp_scope&) = delete;
    temp_scope& operator=(const temp_scope&) = delete;

    // The forms of `temp`, whose memory the innermost scope frees: call them on that scope.
    [[nodiscard]] TENURE_LOCAL static void* allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept {
        return temp::allocate(bytes, alignment);
    }
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T> allocate(std::size_t count) noexcept {
        return temp::allocate<T>(count);
    }
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL static T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        return temp::make<T>(std::forward<Arguments>(arguments)...);
    }
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        return temp::make_array<T>(count);
    }

private:
    friend class scratch_scope;
    [[nodiscard]] TENURE_API static std::uint64_t open() noexcept;
    TENURE_API static bool close(std::uint64_t opened) noexcept;
    TENURE_API static void rewind_slow(std::uintptr_t cursor, std::uint64_t chunk) noexcept;

    std::uintptr_t cursor_;
    std::uint64_t chunk_;
    std::uint64_t depth_ = 0; // in checked builds: nesting depth and stack
};

class temp::container_origin : public detail::temp_origin {
public:
    explicit container_origin(const temp&) noexcept : temp_origin(false) {}
};

inline void* temp::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (!checks::caller) {
        detail::thread_lifetimes& thread = detail::this_thread();
        const std::uintptr_t block =
            alignment <= rounding_bytes ? thread.temp_cursor : align_up(thread.temp_cursor, alignment);
        // An address plus half the address space never overflows.
        if (bytes <= max_object_bytes - rounding_bytes && block + rounded(bytes) <= thread.temp_limit) [[likely]] {
            thread.temp_cursor = block + rounded(bytes);
            return pointer_at(block);
        }
    }
    return allocate_slow(bytes, alignment);
}

inline void temp::deallocate(void* block, std::size_t bytes, std::size_t) noexcept {
    if constexpr (checks::caller) return rewind_if_size(block, bytes, bytes);
    detail::thread_lifetimes& thread = detail::this_thread();
    if (address_of(block) + rounded(bytes) != thread.temp_cursor) return;
    thread.temp_cursor = address_of(block);
    if (thread.temp_cursor == thread.temp_floor) [[unlikely]]
        leave_chunk();
}

inline temp_scope::temp_scope() noexcept
    : cursor_(detail::this_thread().temp_cursor), chunk_(detail::this_thread().temp_chunk) {
    if constexpr (checks::caller) depth_ = open();
}

inline temp_scope::~temp_scope() {
    // Bytes are counted per tag, so under a tag the slow path reads the cursor before it moves back.
    const bool plain = detail::this_thread().temp_chunk == chunk_ && detail::this_thread_tag().id == 0 && cursor_ != 0;
    if (!checks::caller && plain) [[likely]] {
        // Already lower if a block from before the scope was freed inside it.
        if (cursor_ < detail::this_thread().temp_cursor) detail::this_thread().temp_cursor = cursor_;
        return;
    }
    if (checks::caller && !close(depth_)) return;
    rewind_slow(cursor_, chunk_);
}

}
