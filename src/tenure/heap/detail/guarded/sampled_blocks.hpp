// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sampled guarded blocks of the process heap, in plain builds: each lies between guard pages, and its addresses are
/// not used again for a while after the free. A wrong access faults where it is made, and the report says which
/// block it was, who allocated it and who freed it.
///
/// After the idea of Electric Fence (Perens, 1987), as a sample after GWP-ASan (Serebryany and others, 2018). Checked
/// builds have detail/guarded_blocks.hpp.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/guarded/call_trace.hpp>
#include <tenure/heap/detail/guarded/sample_schedule.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/platform/fault.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct thread_cache;
enum class fill : std::uint8_t;

// The area is a segment whose class is `guarded_class`, so that every free of such a block takes the slow path. It is
// reserved for the first sample:
//
//   | head | guard page | records | guard page | pages of a block | guard page | pages of a block | ... | guard page |
//
// A block of any size up to 1 MiB gets as many pages as it needs, at a random position. It lies at their begin or at
// their end, at random: either an underflow or an overflow by one byte faults. The rest of the pages is filled with a
// pattern, which the free checks. The pages of a freed block are inaccessible and take no memory. They stay with their
// record until the record or the addresses are needed again; the block that was freed first goes first.

/// Threads   any; one lock, which only calls for guarded blocks take.
class TENURE_API sampled_blocks {
public:
    static constexpr std::size_t max_bytes = std::size_t{1} << 20;
    /// Bounds the memory: a small block takes an OS page.
    static constexpr std::size_t max_live = 64;
    /// Live blocks, and those freed last.
    static constexpr std::size_t record_count = 192;

    constexpr explicit sampled_blocks(heap_memory& memory) noexcept : memory_(memory) {}
    ~sampled_blocks() = default; // the process heap is never destroyed
    sampled_blocks(const sampled_blocks&) = delete;
    sampled_blocks& operator=(const sampled_blocks&) = delete;

    /// Called when the thread's countdown is over; draws the next one.
    /// Returns   whether a block is to be guarded now.
    [[nodiscard]] bool draw(thread_cache& cache) noexcept;
    /// Allocates a guarded block, and lets the schedule rest.
    /// Returns   nullptr if size, alignment, or memory do not allow it: use an ordinary block then.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, fill how) noexcept;
    [[nodiscard]] sample_schedule& schedule() noexcept { return schedule_; }
    /// Frees a block. Reports a double free, an invalid free, and bytes around the block that were overwritten.
    /// Requires  the address is in the area.
    void deallocate(void* block) noexcept;
    /// The requested size; zero if this is not the start of a live block.
    /// Requires  the address is in the area.
    [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;

    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    void free_all() noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept { return live_count_.load(memory_order::relaxed); }
    [[nodiscard]] std::size_t live_bytes() const noexcept { return live_bytes_.load(memory_order::relaxed); }
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }
    [[nodiscard]] bool valid() const noexcept;

    /// Reports an access that faulted.
    /// Returns   whether the address is in the area.
    [[nodiscard]] bool report_fault(const platform::fault& what) const noexcept;

private:
    friend struct heap_layout;                            // for debuggers: debug_layout.hpp
    static constexpr std::size_t least_page_bytes = 4096; ///< of any system
    static constexpr std::size_t max_page_count = max_segment_bytes / least_page_bytes;

    enum class state : std::uint8_t { unused, live, freed };
    enum class room : std::uint8_t { unused, unused_or_freed };
    struct record {
        std::uintptr_t block;
        std::size_t bytes;
        std::uint64_t freed_in_turn;
        std::uint32_t first_page; ///< of the pages without the guard pages
        std::uint32_t pages;
        state is;
        call_trace allocated, freed;
        [[nodiscard]] std::uintptr_t end() const noexcept { return block + bytes; }
    };
    struct table {
        std::uint8_t record_of_page[max_page_count]; ///< zero, or the index of the page's record plus one
        record records[record_count];
    };
    static constexpr std::size_t first_table_page = 2;

    [[nodiscard]] static std::size_t page() noexcept { return platform::page_bytes(); }
    [[nodiscard]] static std::size_t page_count() noexcept { return max_segment_bytes / page(); }
    [[nodiscard]] static std::size_t table_pages() noexcept { return align_up(sizeof(table), page()) / page(); }
    [[nodiscard]] static std::size_t first_block_page() noexcept { return first_table_page + table_pages() + 1; }
    [[nodiscard]] bool may_begin() const noexcept;
    [[nodiscard]] bool reserve() noexcept;
    [[nodiscard]] bool is_for_use(std::size_t index, room wanted) const noexcept;
    [[nodiscard]] std::size_t find_pages(std::size_t count, std::size_t step, room wanted) const noexcept;
    [[nodiscard]] std::size_t make_room(std::size_t count, std::size_t step) noexcept;
    [[nodiscard]] record* unused_record() noexcept;
    [[nodiscard]] record* evict_oldest() noexcept;
    void evict(record& freed) noexcept;
    void release(record& freed) noexcept;
    [[nodiscard]] record* record_at(std::uintptr_t address) const noexcept;
    [[nodiscard]] const record* record_near(std::uintptr_t address) const noexcept;
    void write_fault(const platform::fault& what) const noexcept;
    TENURE_COLD static void write_free(const char* what, std::uintptr_t wrong, const call_trace& now,
                                       const record* found, const call_trace* freed_before) noexcept;
    [[nodiscard]] std::uintptr_t address_of_page(std::size_t index) const noexcept { return begin_ + index * page(); }

    heap_memory& memory_;
    sample_schedule schedule_;
    mutable platform::mutex mutex_; ///< guards everything below
    std::uintptr_t begin_ = 0;
    table* table_ = nullptr;
    std::uint64_t turns_ = 0;
    // Relaxed: counters and a flag, written under the lock and read without it, by which nothing else is read.
    atomic<std::size_t> live_count_{0};
    atomic<std::size_t> live_bytes_{0};
    atomic<bool> is_refused_{false}; ///< there is no memory for the area
    bool is_sealed_ = true;          ///< false once freed pages could not be decommitted: they may hold old contents
};

}
