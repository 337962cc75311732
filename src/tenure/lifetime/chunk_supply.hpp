// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The chunks that TempJob is made of and Temp overflows into. Private to this room.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Where a chunk's memory came from, and so where it goes back to.
enum class chunk_origin : std::uint8_t {
    supply, ///< one of the supply's sizes: kept when it is given back
    source, ///< larger than those: goes back to the source at once
    malloc, ///< Temp under passthrough: one block each
};

// A chunk as it lies in memory:
//
//   chunk                    begin()                 end of blocks                     chunk + bytes
//   | header (a cache line)  | blocks ...            | not in use                      |
//
// TempJob's blocks each begin with a prefix whose last eight bytes are the header word, so a walk from begin() finds
// every block and its size.
struct alignas(cache_line_bytes) lifetime_chunk {
    lifetime_chunk* next = nullptr;
    std::size_t bytes = 0;              ///< with this header
    std::uintptr_t first_live = 0;      ///< TempJob: every block before is freed. Temp: the cursor of the region below
    std::uintptr_t first_unreported = 0;///< TempJob: every block before is freed or was reported as a leak
    std::uintptr_t end = 0;             ///< TempJob: end of blocks, once the chunk is closed
    std::uint64_t frame = 0;            ///< of its opening; in the supply: of its return
    std::size_t large_bytes = 0;        ///< of its one block, when that does not fit the block's header word
    chunk_origin origin = chunk_origin::supply;

    [[nodiscard]] std::uintptr_t begin() const noexcept { return address_of(this) + sizeof(lifetime_chunk); }
    [[nodiscard]] std::uintptr_t limit() const noexcept { return address_of(this) + bytes; }
    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        return address_of(pointer) - begin() < bytes - sizeof(lifetime_chunk);
    }
};
static_assert(sizeof(lifetime_chunk) == cache_line_bytes);

/// Hands chunks to threads and keeps what comes back, by size, for the next one. One per process.
/// Threads   any; a lock per call, which is once per chunk.
class chunk_supply {
public:
    static constexpr std::size_t smallest_bytes = 64 * 1024;
    static constexpr std::size_t class_count = 11; // 64 KiB to 64 MiB, doubling

    /// Returns   a chunk of at least `bytes`, header included; null when the limit or the source refuses.
    [[nodiscard]] lifetime_chunk* take(std::size_t bytes) noexcept;
    void give(lifetime_chunk* chunk) noexcept;

    /// Releases what has been kept since before `frame`. Returns the bytes released.
    std::size_t release_kept_before(std::uint64_t frame) noexcept;

    void set_source(block_source& source) noexcept { source_.store(&source); }
    [[nodiscard]] block_source& source() const noexcept;
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_.load(std::memory_order_relaxed); }

private:
    [[nodiscard]] lifetime_chunk* acquire(std::size_t bytes, chunk_origin origin) noexcept;

    std::mutex mutex_;
    std::atomic<block_source*> source_{nullptr};
    lifetime_chunk* kept_[class_count]{};
    std::atomic<std::size_t> held_bytes_{0};
    std::atomic<std::size_t> kept_bytes_{0};
};

extern constinit chunk_supply process_chunks;

}
