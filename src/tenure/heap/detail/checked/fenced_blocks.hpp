// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks past 256 KiB of the process heap in checked builds: each in a mapping of its own, between pages that fault.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/large_blocks.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A range of addresses, reserved for the block:
//
//   | guard page | block ... to the end of its last page | guard pages: a quarter of the block, to grow in place |
//
// A write in front of the block faults, as does every access after the free. A write behind it faults from the next
// page on; the free checks the first 64 bytes up to there (mitigation::canary). The records lie elsewhere.
//
// A freed range of up to 2 MiB rests: its pages fault and keep their memory, because new pages cost many times what the
// rest of a call does. A range is reused if eight that fit rest, at random one of the older half; the newest four are
// never chosen. At most 16 MiB and 64 ranges rest; further ones push out the oldest. Sweeps and trim() return them.

/// Threads   any. Maps and unmaps blocks outside of its lock; grows, reuses and seals them under it.
class fenced_blocks {
public:
    static constexpr std::size_t least_bytes = std::size_t{256} * 1024;
    enum class finding : std::uint8_t { freed, no_begin, written_past_end };

    constexpr fenced_blocks() noexcept = default;
    ~fenced_blocks();
    fenced_blocks(const fenced_blocks&) = delete;
    fenced_blocks& operator=(const fenced_blocks&) = delete;

    /// Allocates a block that reads as zero, if that is `wanted`.
    /// Returns   nullptr if the alignment is more than a page, or out of memory: use an ordinary block then.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, contents wanted) noexcept;
    /// Frees a block. A finding other than `freed` leaves it as it is.
    /// Requires  contains(block).
    [[nodiscard]] finding deallocate(void* block) noexcept;
    /// Makes a block larger or smaller in place. Returns whether it succeeded.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;

    /// Whether the pointer is in the range of a block in use.
    /// Cost      two loads.
    [[nodiscard]] bool contains(const void* pointer) const noexcept;
    /// The size of a block; zero if no block begins there.
    [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    void free_all() noexcept;
    /// Returns the ranges that rest to the system; expire(): those that rested at the last but one call.
    /// Returns   the number of bytes.
    std::size_t trim() noexcept { return push_out(0, 0, 0); }
    std::size_t expire() noexcept;
    [[nodiscard]] std::size_t resting_bytes() const noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept;
    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t peak_count() const noexcept;
    [[nodiscard]] std::size_t peak_bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    struct record {
        record* next;
        record* previous;
        const fenced_blocks* owner;
        std::uintptr_t range; ///< its first page is a guard; the block follows
        std::size_t range_bytes;
        std::size_t bytes;      ///< requested
        std::size_t committed;  ///< bytes of usable pages; while it rests, of pages with memory
        std::uint64_t freed_at; ///< number of calls of expire() before
        [[nodiscard]] void* block() const noexcept;
    };
    [[nodiscard]] record* find(const void* block) const noexcept;
    [[nodiscard]] record* take_record() noexcept;
    void forget(record& gone) noexcept;
    void unreserve(record& gone) noexcept;
    [[nodiscard]] record* take_rested(std::size_t committed) noexcept;
    [[nodiscard]] record* reserve(std::size_t committed) noexcept;
    [[nodiscard]] bool enter(record& fresh) noexcept;
    std::size_t push_out(std::size_t bytes, std::size_t count, std::uint64_t before) noexcept;

    mutable platform::mutex mutex_; ///< guards everything below
    record* first_ = nullptr;
    record* rested_ = nullptr; ///< newest first
    record* unused_ = nullptr;
    void* pages_ = nullptr; ///< of records, linked
    std::size_t live_count_ = 0;
    std::size_t live_bytes_ = 0;
    std::size_t peak_count_ = 0;
    std::size_t peak_bytes_ = 0;
    std::size_t rested_bytes_ = 0; ///< committed
    std::size_t rested_count_ = 0;
    std::uint64_t expire_calls_ = 0;
    std::uint64_t random_ = 0; ///< state of the generator
};

}
