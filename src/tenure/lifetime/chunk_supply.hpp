// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The chunks that TempJob is made of and Temp overflows into. Private to this room.

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

// A chunk as it lies in memory, at a multiple of 64 KiB:
//
//   chunk                    chunk + 64             begin()                                    chunk + bytes
//   | header (a cache line)  | states: 4096 bytes   | blocks ...            | not yet touched  |
//
// The states are TempJob's (job_state), a byte for every 16 bytes of the chunk's first 64 KiB; they are all `none` in a
// chunk that holds nothing, so one that is empty can be filled again as it is. Temp leaves them alone.
struct alignas(cache_line_bytes) lifetime_chunk {
    lifetime_chunk* next = nullptr;
    std::size_t bytes = 0;            ///< with this header and the states
    std::uintptr_t cursor_below = 0;  ///< Temp: where the region below this one had come to
    std::size_t first_live = 0;       ///< TempJob: every word of states before this one is empty
    std::size_t first_unreported = 0; ///< TempJob: before this one every block is freed or was reported as a leak
    std::uint64_t frame = 0;          ///< of its opening; in the supply: of its return
    union {
        std::size_t large_bytes = 0; ///< TempJob: of its one block; zero when it has many
        std::uint64_t number;        ///< Temp: its thread's regions are counted up
    };
    block_source* source = nullptr; ///< it goes back to; null: to malloc, Temp under passthrough has one block in each

    [[nodiscard]] std::uintptr_t begin() const noexcept {
        return address_of(this) + sizeof(lifetime_chunk) + (source == nullptr ? 0 : job_state_count);
    }
    [[nodiscard]] std::uintptr_t limit() const noexcept { return address_of(this) + bytes; }
    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return address_of(pointer) - begin() < limit() - begin();
    }
};
static_assert(sizeof(lifetime_chunk) == cache_line_bytes);

/// Bytes of a chunk that are not for blocks.
constexpr std::size_t chunk_lead_bytes = sizeof(lifetime_chunk) + job_state_count;

/// States are looked at by the word.
constexpr std::size_t job_state_words = job_state_count / sizeof(std::uint64_t);
[[nodiscard]] inline std::atomic<std::uint64_t>* state_words(const lifetime_chunk& chunk) noexcept {
    return static_cast<std::atomic<std::uint64_t>*>(pointer_at(address_of(&chunk) + sizeof(lifetime_chunk)));
}

/// What happens at the limit that option::temp_job_limit_bytes sets.
enum class at_limit : std::uint8_t {
    fail,   ///< TempJob: blocks are then taken one by one
    exceed, ///< Temp, which has no other way: only the source refuses; what it takes counts all the same
};

/// Hands chunks to threads and keeps what comes back, by size, for the next one. One per process.
/// Threads   any; a lock per call, which is once per chunk.
class chunk_supply {
public:
    static constexpr std::size_t min_bytes = job_chunk_alignment;
    static constexpr std::size_t class_count = 11; // 64 KiB to 64 MiB, doubling

    /// Returns   a chunk of at least `bytes`, chunk_lead_bytes included, whose states are all `none`; null when the
    /// limit or the source refuses.
    [[nodiscard]] lifetime_chunk* acquire(std::size_t bytes, at_limit limit) noexcept;
    /// Keeps a chunk for the next one who asks; one that is larger than those kept, or from a source that is no longer
    /// the one in use, goes back to its source.
    void release(lifetime_chunk* chunk) noexcept;

    /// Releases what has been kept since before `frame`. Returns the bytes released.
    std::size_t release_kept_before(std::uint64_t frame) noexcept;

    /// Reports that the source ignored the alignment, which acquire() answers with null. Requires  no lock is held.
    void report_misaligned() noexcept { misaligned_.report(); }

    /// For forks.
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }

    void set_source(block_source& source) noexcept;
    [[nodiscard]] block_source& source() const noexcept;
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t retained_bytes() const noexcept { return retained_bytes_.load(std::memory_order_relaxed); }

private:
    [[nodiscard]] lifetime_chunk* acquire(std::size_t bytes, at_limit limit) noexcept;
    [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
    [[nodiscard]] bool keep(lifetime_chunk* chunk) noexcept;
    void release(lifetime_chunk* chunk) noexcept;

    platform::mutex mutex_;
    std::atomic<block_source*> source_{nullptr};
    lifetime_chunk* kept_[class_count]{};
    std::atomic<std::size_t> held_bytes_{0};
    std::atomic<std::size_t> retained_bytes_{0};
    misaligned_block misaligned_;
};

extern constinit chunk_supply process_chunks;

/// Where chunks begin, kept in checked builds: what is asked of a pointer before anything near it is read.
extern constinit platform::address_map chunk_begins;

}
