// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// block_pool: blocks of one size, allocated and freed in any order.
///
/// Use it for     many blocks of one size that come and go: nodes, messages, entities.
/// Not for        mixed sizes, nor a handful of blocks. Objects of one type: see pool/pool.hpp.
/// Memory from    a block source, in naturally aligned segments of 32 MiB, or smaller if the source has none so large.
///                A segment is addresses; its memory is touched as its blocks are used.
/// Cost           allocate O(1), deallocate O(1) amortised: the free that ends a row of n neighbouring frees writes
///                n / 64 words. clear O(segments), and resets a bit per block. trim reads a bit per block.
/// Overhead       no header. One bit per block, and one per 64 blocks, stored apart from the blocks. Checked builds: at
///                least 16 bytes between blocks.
/// Threads        one thread at a time; for several threads see pool/shared_block_pool.hpp. Checked builds report calls
///                that overlap.
/// Fork           usable in the child, unless another thread was using it at the time of the fork.
/// When full      acquires another segment; returns nullptr if that fails and leaves the pool unchanged.
/// Example        examples/pool.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/engine/misuse_log.hpp>
#include <tenure/engine/passthrough_blocks.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/detail/pool_cursor.hpp>
#include <tenure/pool/detail/segment.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {
class held_list;
struct holder_facts;
struct holder_kind;
class shared_pool_core;
struct pool_layout;
}

class TENURE_API block_pool {
public:
    /// The largest block. A segment of 4 GiB holds fifteen of them.
    static constexpr std::size_t max_block_bytes = std::size_t{256} << 20;
    static constexpr std::size_t default_segment_bytes = std::size_t{32} << 20;

    /// Acquires nothing from the source until the first allocation.
    /// Requires  `source` outlives the pool. If `bytes` is not 1 to max_block_bytes, or `alignment` is no power of two,
    ///           every allocation fails; checked builds report it.
    [[nodiscard]] explicit block_pool(std::size_t bytes, std::size_t alignment = default_alignment,
                                      block_source& source = page_source::process()) noexcept
        : block_pool(bytes, alignment, default_segment_bytes, source) {}
    [[nodiscard]] block_pool(std::size_t bytes, std::size_t alignment, std::size_t segment_bytes,
                             block_source& source = page_source::process()) noexcept;

    /// Releases every segment, even if blocks are still allocated.
    ~block_pool();
    /// Takes over the blocks of `other`, which is empty afterwards and can be used. Blocks stay where they are.
    /// Cost      O(1); O(segments) in checked builds.
    [[nodiscard]] block_pool(block_pool&& other) noexcept;
    block_pool& operator=(block_pool&& other) noexcept;

    /// Returns   an uninitialised block of block_bytes(); nullptr when the source fails.
    [[nodiscard]] void* allocate() noexcept { return allocate_strided(layout_.stride_bytes); }

    /// Frees a block. nullptr is allowed and does nothing.
    /// Requires  `block` is an allocated block of this pool.
    void deallocate(void* block) noexcept { deallocate_strided(block, layout_.stride_bytes); }

    /// The allocator concept's form. Returns nullptr when a block would be too small or not aligned enough.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= block_bytes() && alignment <= alignment_ ? allocate() : nullptr;
    }
    void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

    /// Frees every block and retains the pages.
    void clear() noexcept;

    /// Releases empty segments, and decommits the empty OS pages of others where the source supports it.
    /// Returns   the bytes returned: whole segments, touched or not, and pages. Skips segments unchanged since the last
    ///           trim. In a changed segment it decommits all free pages, including those that are decommitted already.
    std::size_t trim() noexcept;

    /// Whether the pointer is inside memory of this pool. Cost      O(segments).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// The number of allocated blocks. Cost      O(1).
    [[nodiscard]] std::size_t size() const noexcept;
    /// As the constructor got it; zero if it was out of range. Blocks are further apart: at multiples of the alignment.
    [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }

    /// peak_bytes is the maximum that was ever allocated or ready for allocation. Cost      O(segments).
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Calls `visit(block)` for every allocated block, lowest address first within a segment. A visit may deallocate
    /// the block it receives, and must not otherwise use the pool.
    template<class Visit>
    void for_each(Visit&& visit);

    /// A walk over the allocated blocks, in the order of for_each(): for pool's and shared_pool's iterators.
    [[nodiscard]] detail::pool_cursor first_block() noexcept {
        settle();
        return {first_, layout_, passthrough_blocks_};
    }

    /// Whether every bit is consistent. Cost      a bit per block.
    [[nodiscard]] bool valid() noexcept;

    /// Where the deleters of adapt/unique.hpp find this pool after it moves. Returns   nullptr when out of memory.
    using home_owner = block_pool;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept { return link_.of(this, "pool"); }

private:
    template<class T>
    friend class pool;
    friend class detail::shared_pool_core;
    friend struct detail::pool_layout; // for debuggers: debug_layout.hpp

    // Free blocks are in three places, and an allocation looks in this order. The block freed last is kept apart: so
    // the most common pair, deallocate and then allocate, moves nothing else. The run is one row of neighbouring
    // blocks: a block that continues it at either end moves that end. Any other starts a new run, and the blocks of the
    // old one are marked in the bits. Last comes the current word of bits, whose summary bit stays set until the next
    // word is chosen.
    static constexpr std::uintptr_t no_block = 0;
    static constexpr std::uintptr_t never_a_block = 1; // under passthrough: sends every call to its slow path

    [[nodiscard]] void* allocate_strided(std::size_t stride) noexcept;
    [[nodiscard]] void* allocate_slow() noexcept;
    TENURE_COLD static void report_impossible(std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate_slow(std::uintptr_t before, void* block) noexcept;
    void deallocate_passthrough(void* block) noexcept;
    void deallocate_checked(void* block) noexcept;
    [[nodiscard]] bool is_end_whole(std::uintptr_t block) noexcept;
    void look_in_front(detail::segment* home, std::size_t index) noexcept;
    void check_living() noexcept;
    void deallocate_strided(void* block, std::size_t stride) noexcept;
    void mark_one(const void* block) noexcept;
    void mark_run(std::uintptr_t begin, std::uintptr_t end) noexcept;
    void mark_rare(bit_word* word, bit_word before, bit_word bits) noexcept;
    void note_twice(const void* block) noexcept;
    void settle() noexcept;
    void leave_word() noexcept;
    [[nodiscard]] bool refill() noexcept;
    void use_word(detail::segment* from, std::size_t word) noexcept;
    void take_word_as_run() noexcept;
    [[nodiscard]] std::size_t guard_bytes() const noexcept { return layout_.stride_bytes - block_bytes_; }
    [[nodiscard]] std::size_t run_count() const noexcept { return layout_.index_of(run_end_ - run_begin_); }
    [[nodiscard]] detail::segment* acquire_segment() noexcept;
    void release_segment(detail::segment* which) noexcept;
    std::size_t trim_segment(detail::segment* which) noexcept;
    [[nodiscard]] std::size_t trim_all() noexcept;
    void make_partial(detail::segment* which) noexcept;

    // The members that every call touches come first.
    std::uintptr_t last_freed_ = no_block;
    std::uintptr_t run_begin_ = 0;
    std::uintptr_t run_end_ = 0;
    bit_word* word_ = &no_word_;    // the current word of level 0
    std::uintptr_t word_begin_ = 0; // address of that word's first block
    std::size_t free_in_bits_ = 0;
    detail::segment_layout layout_;

    bit_word no_word_ = 0;                    // stands for the current word where there is none
    detail::segment* word_segment_ = nullptr; // that of the current word
    detail::segment* partial_ = nullptr;      // segments with free bits
    detail::segment* first_ = nullptr;        // all segments, in the order in which they were acquired
    detail::segment* last_ = nullptr;
    detail::segment* bump_ = nullptr; // the first segment with groups that were never used
    std::size_t segment_count_ = 0;
    std::size_t allocated_ = 0; // blocks in all groups put in use
    std::size_t peak_allocated_ = 0;
    std::size_t alignment_;
    std::size_t wanted_segment_bytes_ = 0; // the size that a pool without segments requests
    block_source& source_;
    detail::passthrough_blocks passthrough_blocks_;
    bool passthrough_;
    bool is_left_ = false;          // a move emptied it
    std::uint32_t block_bytes_ = 0; // checked builds have a guard from there to the next block

    static const detail::holder_kind as_holder;
    static void list_held(const void* holder, const detail::holder_facts& facts, detail::held_list& to) noexcept;
    void note_misuse(std::string_view what, const void* at, std::string_view advice) noexcept;
    detail::misuse_log* noted_ =
        nullptr; // set by a shared pool, which reports misuse after the unlock, and tells the hooks
    detail::owner_link link_;
    [[no_unique_address]] detail::sole_user user_;
};

inline void* block_pool::allocate_strided(std::size_t stride) noexcept {
    if constexpr (checks::caller) return allocate_slow();
    if (const std::uintptr_t last = last_freed_; last > never_a_block) {
        last_freed_ = no_block;
        return pointer_at(last);
    }
    if (const std::uintptr_t begin = run_begin_; begin != run_end_) {
        run_begin_ = begin + stride;
        return pointer_at(begin);
    }
    const bit_word free = *word_;
    if (free == 0) [[unlikely]]
        return allocate_slow();
    *word_ = without_lowest_bit(free);
    --free_in_bits_;
    return pointer_at(word_begin_ + lowest_bit(free) * stride);
}

inline void block_pool::deallocate_strided(void* block, std::size_t stride) noexcept {
    if constexpr (checks::caller) return deallocate_slow(never_a_block, block);
    // A block of nullptr is no_block here: the block freed last then joins the run, and none takes its place.
    const std::uintptr_t address = last_freed_;
    last_freed_ = address_of(block);
    if (address <= never_a_block) {
        if (address == no_block) return;
        return deallocate_slow(address, block);
    }
    if (address == address_of(block)) [[unlikely]]
        return note_twice(block);
    if (address == run_end_) {
        run_end_ = address + stride;
        return;
    }
    const std::uintptr_t begin = run_begin_;
    if (address + stride == begin) {
        run_begin_ = address;
        return;
    }
    if (run_end_ - begin != stride || address == begin) [[unlikely]]
        return deallocate_slow(address, block);
    run_begin_ = address;
    run_end_ = address + stride;
    mark_one(pointer_at(begin));
}

inline void block_pool::mark_one(const void* block) noexcept {
    detail::segment* const home = detail::segment::of(block, layout_.segment_bytes);
    const std::size_t index = layout_.index_of(address_of(block) - home->blocks(layout_));
    bit_word* const word = home->level0(layout_) + index / bits_per_word;
    const bit_word before = *word;
    const bit_word after = before | bit_at(index);
    *word = after;
    ++free_in_bits_;
    if (before == 0 || before == after) [[unlikely]]
        mark_rare(word, before, bit_at(index));
}

template<class Visit>
void block_pool::for_each(Visit&& visit) {
    settle();
    passthrough_blocks_.for_each([&](void* block, std::size_t) { visit(block); });
    for (detail::segment* segment = first_; segment != nullptr; segment = segment->next) {
        const std::uintptr_t begin = segment->blocks(layout_);
        for (std::size_t word = 0; word < segment->groups_used; ++word) {
            const bit_word all = low_bits(detail::segment::group_size(layout_, word));
            const bit_word alive = all & ~segment->level0(layout_)[word];
            for_each_bit(alive, [&](std::size_t bit) {
                visit(pointer_at(begin + (word * bits_per_word + bit) * layout_.stride_bytes));
            });
        }
    }
}

}
