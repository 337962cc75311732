// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Supplies the chunks that TempJob consists of and Temp overflows into.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/address_map.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a chunk, which starts at a multiple of 64 KiB:
//
//   chunk                    chunk + 64             begin()                                    chunk + bytes
//   | header (a cache line)  | states: 4096 bytes   | blocks ...            | not yet touched  |
//
// The states belong to TempJob (job_state): one byte for every 16 bytes of the chunk's first 64 KiB. In an empty chunk
// all states are `none`, so it can be filled again without clearing. Temp does not use them.
struct alignas(cache_line_bytes) lifetime_chunk {
    lifetime_chunk* next = nullptr;
    std::size_t bytes = 0;            ///< including this header and the states
    std::uintptr_t cursor_below = 0;  ///< Temp: cursor in the chunk, or the range, that this one overflowed from
    std::size_t first_live = 0;       ///< TempJob: every word of states before this one is empty
    std::size_t first_unreported = 0; ///< TempJob: every block before this one is freed or was reported as a leak
    std::uint64_t frame = 0;          ///< frame it was opened in; in the supply: frame it was released in
    union {
        std::size_t large_bytes = 0; ///< TempJob: size of its only block; zero for a chunk of many blocks
        std::uint64_t number;        ///< Temp: counts the thread's chunks
    };
    block_source* source = nullptr; ///< where it is released to; nullptr: malloc, one block each (Temp passthrough)

    [[nodiscard]] std::uintptr_t begin() const noexcept {
        return address_of(this) + sizeof(lifetime_chunk) + (source == nullptr ? 0 : job_state_count);
    }
    [[nodiscard]] std::uintptr_t limit() const noexcept { return address_of(this) + bytes; }
    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return address_of(pointer) - begin() < limit() - begin();
    }
};
static_assert(sizeof(lifetime_chunk) == cache_line_bytes);

/// Bytes of a chunk that cannot hold blocks.
constexpr std::size_t chunk_lead_bytes = sizeof(lifetime_chunk) + job_state_count;

/// States are read one word at a time.
constexpr std::size_t job_state_words = job_state_count / sizeof(std::uint64_t);
[[nodiscard]] inline std::atomic<std::uint64_t>* state_words(const lifetime_chunk& chunk) noexcept {
    return static_cast<std::atomic<std::uint64_t>*>(pointer_at(address_of(&chunk) + sizeof(lifetime_chunk)));
}

/// What to do at the limit that option::temp_job_limit_bytes sets.
enum class at_limit : std::uint8_t {
    fail,   ///< TempJob: blocks are then allocated one by one
    exceed, ///< Temp, which has no fallback: only the source can fail; its chunks still count
};

/// Hands chunks to threads and retains released ones by size for reuse. One per process.
/// Threads   any; one lock per call, which is once per chunk.
class chunk_cache {
public:
    static constexpr std::size_t min_bytes = job_chunk_alignment;
    static constexpr std::size_t class_count = 11; // 64 KiB to 64 MiB, doubling

    /// Returns   a chunk of at least `bytes`, including chunk_lead_bytes, whose states are all `none`; nullptr at the
    /// limit or when the source fails.
    [[nodiscard]] lifetime_chunk* acquire(std::size_t bytes, at_limit limit) noexcept;
    /// Retains a chunk for reuse. A chunk larger than the largest class, or from a source that is no longer in use,
    /// goes back to its source.
    void release(lifetime_chunk* chunk) noexcept;

    /// Releases the chunks retained since before `frame`. Returns   the bytes released.
    std::size_t release_retained_before(std::uint64_t frame) noexcept;

    /// Reports a source that ignored the alignment; acquire() returns nullptr then. Requires  no lock is held.
    void report_misaligned() noexcept { misaligned_.report(); }

    /// For fork handlers.
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }

    void set_source(block_source& source) noexcept;
    [[nodiscard]] block_source& source() const noexcept;
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t retained_bytes() const noexcept {
        return retained_bytes_.load(std::memory_order_relaxed);
    }

private:
    [[nodiscard]] lifetime_chunk* acquire_from_source(std::size_t bytes, at_limit limit) noexcept;
    [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
    [[nodiscard]] bool keep(lifetime_chunk* chunk) noexcept;
    void release_to_source(lifetime_chunk* chunk) noexcept;

    platform::mutex mutex_;
    std::atomic<block_source*> source_{nullptr}; // written under the lock; released with the source, acquired
    lifetime_chunk* kept_[class_count]{};
    // Counters: sequentially consistent where they change, which is rare, and relaxed for statistics.
    std::atomic<std::size_t> held_bytes_{0};
    std::atomic<std::size_t> retained_bytes_{0};
    misaligned_block misaligned_;
};

extern constinit chunk_cache process_chunks;

/// Addresses of all chunks, in checked builds. Tells whether a pointer is in a chunk before anything near it is read.
extern constinit platform::address_map chunk_begins;

}
