// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arena: bump allocation for objects that are freed together.
///
/// Use it for     the data of one request, one level, one build step.
/// Not for        objects that are freed one by one: see pool/pool.hpp.
/// Memory from    a block source, in chunks that double in size up to 8 MiB and are retained for reuse.
/// Cost           allocate O(1): one add and one compare; clear and rewind O(1); trim O(chunks).
/// Overhead       none per allocation; a 64-byte header per chunk.
/// Threads        one thread at a time; use one arena per thread. Checked builds report calls that overlap.
/// Fork           usable in the child, unless another thread was using it at the time of the fork.
/// When full      acquires another chunk; returns nullptr if that fails and leaves the arena unchanged.
/// Example        examples/arena.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

struct arena_chunk;
struct holder_kind;

/// In checked builds: the latest markers that may still be rewound to, in the order in which they were set.
struct marker_log {
    static constexpr std::size_t capacity = checks::caller ? 32 : 1;

    std::uint64_t last = 0;      ///< number of the newest marker ever
    std::uint64_t forgotten = 0; ///< nothing is known about this marker and those before it
    std::size_t count = 0;
    std::uint64_t open[capacity];
};

}

class TENURE_API arena {
public:
    static constexpr std::size_t default_first_chunk_bytes = std::size_t{64} * 1024;

    /// A position in the arena. rewind() drops everything allocated after it.
    class marker {
        friend class arena;
        detail::arena_chunk* chunk = nullptr;
        std::uintptr_t cursor = 0;
        std::uint64_t number = 0; // in checked builds, starts at 1
    };

    /// Acquires nothing from the source until the first allocation.
    /// Requires  `source` outlives the arena. A `first_chunk_bytes` below 1 KiB counts as 1 KiB.
    [[nodiscard]] explicit arena(std::size_t first_chunk_bytes = default_first_chunk_bytes,
                                 block_source& source = page_source::process()) noexcept;
    [[nodiscard]] explicit arena(block_source& source) noexcept : arena(default_first_chunk_bytes, source) {}

    /// Releases every chunk; runs no destructors.
    ~arena();
    /// Takes over the chunks of `other`, which is empty afterwards and can be used. Blocks stay where they are; markers
    /// of `other` become markers of this arena. Unique pointers follow, containers do not: adapt/stl_allocator.hpp.
    [[nodiscard]] arena(arena&& other) noexcept;
    arena& operator=(arena&& other) noexcept;

    /// Allocates `bytes` directly behind the previous allocation, without rounding: two blocks of 4 bytes are 4 bytes
    /// apart if their alignment allows it.
    /// Requires  `alignment` is a power of two. Zero bytes count as one.
    /// Returns   memory that stays valid until clear() or a rewind() to an earlier marker; nullptr if the source fails.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Frees the block if it is the newest one; otherwise does nothing until rewind() or clear().
    /// Requires  `block` was returned by allocate() for `bytes`.
    void deallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Memory for `count` elements. Nothing is constructed in it: T needs no constructor.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T> allocate(std::size_t count) noexcept {
        return detail::allocate_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); });
    }
    /// Constructs an object, which must have no destructor. Returns   nullptr when out of memory.
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        detail::require_no_destructor<T>();
        return detail::make_object<T>(
            [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t) noexcept { deallocate(block, bytes); },
            std::forward<Arguments>(arguments)...);
    }
    /// Constructs `count` elements as T() does: numbers are zero. T must have no destructor.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        detail::require_no_destructor<T>();
        return detail::make_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t) noexcept { deallocate(block, bytes); });
    }

    [[nodiscard]] marker mark() const noexcept;

    /// Drops everything allocated since the marker and retains the chunks.
    /// Requires  the marker is of this arena, and neither clear() nor a rewind() to an earlier marker was called after
    ///           it; checked builds know the latest 32 markers.
    void rewind(marker to) noexcept;

    /// Drops every allocation and retains the chunks.
    void clear() noexcept;

    /// Releases the empty chunks to the source. Returns   the bytes released.
    std::size_t trim() noexcept;

    /// Cost      O(chunks).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// live_bytes counts everything before the cursor, including alignment gaps. live_count is not counted: it is zero.
    /// peak_bytes is sampled at each rewind(), clear() and stats(): it may miss a block that was freed before.
    /// Cost      O(chunks).
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Whether the whole structure is consistent. Cost      O(chunks).
    [[nodiscard]] bool valid() const noexcept;

    /// Where the deleters of adapt/unique.hpp find this arena after it moves. Returns   nullptr when out of memory.
    using home_owner = arena;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept { return link_.of(this, "arena"); }

private:
    arena(const arena&) = default; // for the move, which makes the other one forget its chunks
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] void* allocate_passthrough(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] void* bump(std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate_checked(void* block, std::size_t bytes) noexcept;
    void drop_after(std::uintptr_t cursor) noexcept;
    [[nodiscard]] std::uint64_t log_marker() const noexcept;
    [[nodiscard]] bool is_open(marker to) const noexcept;
    [[nodiscard]] bool is_ours(const void* block) const noexcept;
    [[nodiscard]] detail::arena_chunk* next_chunk(std::size_t bytes, std::size_t alignment) noexcept;
    void enter(detail::arena_chunk* chunk, std::uintptr_t cursor) noexcept;
    void release_list(detail::arena_chunk* first) noexcept;
    static const detail::holder_kind as_holder;
    [[nodiscard]] std::size_t live_bytes() const noexcept;

    std::uintptr_t cursor_ = 0;
    std::uintptr_t limit_ = 0;
    detail::arena_chunk* current_ = nullptr;
    detail::arena_chunk* first_ = nullptr;
    block_source& source_;
    std::size_t next_bytes_;
    std::size_t peak_bytes_ = 0;
    mutable detail::marker_log markers_;
    bool passthrough_; // every block comes from malloc as a chunk of its own; cursor_ and limit_ stay zero
    detail::owner_link link_;
    [[no_unique_address]] mutable detail::sole_user user_;
};

inline void* arena::bump(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t size = bytes + (bytes == 0);
    const std::uintptr_t block = align_up(cursor_, alignment);
    // The sum of an address and half the address space never overflows; limit_ is zero when there is no chunk.
    if (size > max_object_bytes || block + size > limit_) return nullptr;
    cursor_ = block + size;
    return pointer_at(block);
}

inline void* arena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (!checks::caller) {
        if (void* const block = bump(bytes, alignment); block != nullptr) [[likely]]
            return block;
    }
    return allocate_slow(bytes, alignment);
}

inline void arena::deallocate(void* block, std::size_t bytes, std::size_t) noexcept {
    if constexpr (checks::caller) return deallocate_checked(block, bytes);
    if (address_of(block) + bytes + (bytes == 0) != cursor_) return;
    cursor_ = address_of(block);
}

inline arena::marker arena::mark() const noexcept {
    marker here;
    here.chunk = current_;
    here.cursor = cursor_;
    if constexpr (checks::caller) here.number = log_marker();
    return here;
}

}
