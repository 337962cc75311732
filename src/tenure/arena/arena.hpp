// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that dies together: allocate freely, give it all back at once.
///
/// Use it for     data of one request, one level, one build step.
/// Not for        single objects that die early: see pool/pool.hpp.
/// Memory from    a block source; grows by chunks that double up to 8 MiB, keeps them for the next time.
/// Cost           allocate O(1), one add and one compare; clear and rewind O(1); trim O(chunks).
/// Overhead       none per allocation; one header of 64 bytes per chunk.
/// Threads        one thread at a time; give each thread its own.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      asks the source; if refused, returns null and changes nothing.
/// Example        examples/arena.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/platform/page_source.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

struct arena_chunk;

/// Markers that may still be rewound to, in checked builds: the latest so many, in the order in which they were set.
struct marker_log {
    static constexpr std::size_t capacity = checks::caller ? 32 : 1;

    std::uint64_t last = 0;      ///< number of the newest marker ever
    std::uint64_t forgotten = 0; ///< of this one and those before it nothing is known
    std::size_t count = 0;
    std::uint64_t open[capacity];
};

}

class TENURE_API arena {
public:
    /// A place in the arena: everything allocated after it can be dropped by rewind().
    class marker {
        friend class arena;
        detail::arena_chunk* chunk = nullptr;
        std::uintptr_t cursor = 0;
        std::uint64_t number = 0; // in checked builds, from 1
    };

    /// Takes nothing from the source until the first allocation.
    /// Requires  `source` outlives the arena. `first_chunk_bytes` is how much is taken first; at least 1 KiB is.
    explicit arena(block_source& source = page_source::process(), std::size_t first_chunk_bytes = 64 * 1024) noexcept;

    /// Gives every chunk back; runs no destructors.
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    /// Allocates `bytes` after what was allocated last, without rounding: two blocks of 4 bytes lie 4 bytes apart.
    /// Requires  `alignment` is a power of two. Zero bytes count as one.
    /// Returns   memory valid until the next clear() or a rewind() to an earlier marker; null when the source refuses.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Takes the block back when it is the newest one; otherwise does nothing until rewind() or clear().
    /// Requires  `block` and `bytes` are what allocate() gave and was given.
    void deallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    [[nodiscard]] marker mark() const noexcept;

    /// Everything allocated since the marker is gone; chunks are kept.
    /// Requires  the marker is of this arena, and neither clear() nor a rewind to an earlier marker came after it;
    ///           checked builds know the latest 32 markers.
    void rewind(marker to) noexcept;

    /// Everything allocated is gone; its chunks are kept.
    void clear() noexcept;

    /// Gives back the chunks that hold nothing.
    /// Returns   the bytes given back to the source.
    std::size_t trim() noexcept;

    /// Cost      O(chunks).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// live_bytes counts what lies before the cursor, alignment gaps included; live_count is not known and zero;
    /// peak_bytes is as of rewinds, clears and this call, so that a block that deallocate() took back may be missing.
    /// Cost      O(chunks).
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Walks everything and says whether it is consistent. Cost      O(chunks).
    [[nodiscard]] bool valid() const noexcept;

private:
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] void* allocate_passthrough(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] void* bump(std::size_t bytes, std::size_t alignment) noexcept;
    void drop_after(std::uintptr_t cursor) noexcept;
    [[nodiscard]] std::uint64_t log_marker() const noexcept;
    [[nodiscard]] bool is_open(marker to) const noexcept;
    [[nodiscard]] bool is_ours(const void* block) const noexcept;
    [[nodiscard]] detail::arena_chunk* next_chunk(std::size_t bytes, std::size_t alignment) noexcept;
    void enter(detail::arena_chunk* chunk, std::uintptr_t cursor) noexcept;
    void release_list(detail::arena_chunk* first) noexcept;
    [[nodiscard]] std::size_t live_bytes() const noexcept;

    std::uintptr_t cursor_ = 0;
    std::uintptr_t limit_ = 0;
    detail::arena_chunk* current_ = nullptr;
    detail::arena_chunk* first_ = nullptr;
    block_source& source_;
    std::size_t next_bytes_;
    std::size_t peak_bytes_ = 0;
    mutable detail::marker_log markers_;
    bool passthrough_; // every block comes from malloc: each is a chunk of its own, and cursor_ and limit_ stay zero
};

inline void* arena::bump(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const size = bytes + (bytes == 0);
    std::uintptr_t const block = align_up(cursor_, alignment);
    // An address and half the address space never overflow together; limit_ is zero when there is no chunk.
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
    if constexpr (checks::caller) {
        if (!is_ours(block)) return;
    }
    if (address_of(block) + bytes + (bytes == 0) != cursor_) return;
    if constexpr (checks::caller) drop_after(address_of(block));
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
