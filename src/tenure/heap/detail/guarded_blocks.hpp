// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Guarded allocations, in checked builds: a sample of a heap's blocks, each between guard pages. An overflow or a use
/// after free faults at the access itself and is reported with the stacks of the allocation and the free.
///
/// After the idea of Electric Fence (Perens, 1987), as a sample after GWP-ASan (Serebryany and others, 2018).

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/checked/block_states.hpp>
#include <tenure/platform/fault.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A range of addresses, reserved at the first sampled block. Its pages are the system's, which divide a place:
//
//   | guard page | place: 64 KiB | guard page | place | ... | guard page |
//
// A block ends at the end of its place, as close as its alignment allows. The rest of its pages, in front and behind,
// is filled with guard_fill, and checked at the free. A freed place is inaccessible as a whole. Places are reused in
// the order in which they were freed.

/// Threads   any; one lock per call, and a range check for other blocks.
class guarded_blocks {
public:
    static constexpr std::size_t place_bytes = std::size_t{64} * 1024;
    static constexpr std::size_t place_count = 256;

    constexpr guarded_blocks() noexcept = default;
    ~guarded_blocks();
    guarded_blocks(const guarded_blocks&) = delete;
    guarded_blocks& operator=(const guarded_blocks&) = delete;

    /// Allocates a guarded block.
    /// Returns   nullptr if the block is too large, all places are in use, or memory is out: use an ordinary block
    ///           then.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, block_form form = block_form::any) noexcept;
    /// Frees a block. Reports a block that is already free, an address that is not the start of a block, writes around
    /// the block, and a form that does not match.
    /// Requires  contains(block).
    void deallocate(void* block, block_form form = block_form::any) noexcept;

    [[nodiscard]] bool contains(const void* pointer) const noexcept {
        const std::uintptr_t begin = begin_.load(memory_order::acquire);
        return begin != 0 && address_of(pointer) - begin < range_bytes_;
    }
    /// The requested size of a block; zero if it is not a block.
    /// Requires  contains(block).
    [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    void free_all() noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept;
    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

    /// Reports an access that faulted.
    /// Returns   whether the address is in this range.
    bool report_fault(const platform::fault& what) const noexcept;
    guarded_blocks* next = nullptr; ///< in the list of all objects that have a range

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    static constexpr std::size_t max_frames = 16;
    struct trace {
        void* frames[max_frames];
        std::size_t count;
        void capture() noexcept;
        void write(const char* title) const noexcept;
    };
    struct place {
        std::uintptr_t block;
        std::size_t bytes;
        std::uint64_t freed_in_turn; ///< order of frees; zero: never used
        bool is_live;
        block_form form;
        trace allocated, freed;
    };

    [[nodiscard]] std::size_t stride() const noexcept { return place_bytes + page_; }
    [[nodiscard]] std::uintptr_t begin_of(std::size_t index) const noexcept;
    [[nodiscard]] place* place_of(const void* pointer) const noexcept;
    [[nodiscard]] bool reserve() noexcept;
    void release(place& freed, const trace& by) noexcept;
    void write_fault(const platform::fault& what) const noexcept;

    mutable platform::mutex mutex_; ///< guards everything below
    // Released after the two below and the places; contains() acquires it, then relaxed.
    atomic<std::uintptr_t> begin_{0};
    std::size_t page_ = 0, range_bytes_ = 0; ///< set before `begin_`
    place* places_ = nullptr;
    std::uint64_t turns_ = 0;
    std::size_t live_count_ = 0;
    std::size_t live_bytes_ = 0;
    bool is_invalid_ = false;
};

}
