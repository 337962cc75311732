// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Equal blocks, taken and given back in any order.
///
/// Use it for     many blocks of one size that come and go: nodes, messages, entities.
/// Not for        mixed sizes, nor a handful of blocks. Objects of one type: see pool/pool.hpp.
/// Memory from    a block source, in naturally aligned segments of 32 MiB of addresses, touched as they are used;
///                a source that has no such blocks gives smaller ones.
/// Cost           allocate and deallocate O(1); clear O(segments) and a bit per block; trim a bit per block.
/// Overhead       none in or beside a block; one bit per block and 1/64 of that again, apart from the blocks.
/// Threads        one thread at a time: see pool/shared_block_pool.hpp for the other case.
/// Fork           usable in the child, unless another thread was using it just then.
/// When full      asks the source for a segment; if refused, returns null and changes nothing.
/// Example        examples/pool.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/passthrough_list.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/segment.hpp>

namespace tenure::inline TENURE_ABI {

namespace detail {

/// What was found under the lock of a shared pool: whoever hears of it may use the pool. More at once is not told.
struct noted_misuses {
    struct misuse {
        std::string_view what, advice;
        const void* at;
    };
    misuse each[8];
    std::size_t count = 0;

    void report_all() const noexcept;
};

}

class TENURE_API block_pool {
public:
    /// The largest block: a segment of 4 GiB holds fifteen.
    static constexpr std::size_t max_block_bytes = std::size_t{256} << 20;
    static constexpr std::size_t default_segment_bytes = std::size_t{32} << 20;

    /// Takes nothing from the source until the first block.
    /// Requires  `source` outlives the pool; `bytes` is at least 1 and at most max_block_bytes; `alignment` is a power
    ///           of two. Otherwise every allocation is refused.
    explicit block_pool(std::size_t bytes, std::size_t alignment = default_alignment,
                        block_source& source = page_source::process(),
                        std::size_t segment_bytes = default_segment_bytes) noexcept;

    /// Gives every segment back, whatever is still allocated.
    ~block_pool();
    block_pool(const block_pool&) = delete;
    block_pool& operator=(const block_pool&) = delete;

    /// Returns   a block of block_bytes(), not initialised; null when the source refuses.
    [[nodiscard]] void* allocate() noexcept { return allocate_strided(layout_.stride_bytes); }

    /// Gives a block back. Null is allowed and does nothing.
    /// Requires  `block` is of this pool and allocated.
    void deallocate(void* block) noexcept;

    /// The same in the shape of the allocator concept: null when the block would be too small.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= layout_.stride_bytes && alignment <= alignment_ ? allocate() : nullptr;
    }
    void deallocate(void* block, std::size_t, std::size_t) noexcept { deallocate(block); }

    /// Everything is free; pages are kept.
    void clear() noexcept;

    /// Gives back empty segments, and the empty pages of others where the source can.
    /// Returns   the bytes given back: whole segments, touched or not, and pages. A segment that is as the last trim
    ///           left it is not looked at; one that changed gives all its free pages, also those given back before.
    std::size_t trim() noexcept;

    /// Whether the pointer is inside memory of this pool. Cost      O(segments).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// Blocks allocated now. Cost      O(1).
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] std::size_t block_bytes() const noexcept { return layout_.stride_bytes; }

    /// peak_bytes is the most that was ever handed out or ready to be. Cost      O(segments).
    [[nodiscard]] allocator_stats stats() const noexcept;

    /// Calls `visit(block)` for every block allocated, lowest address first within a segment. A visit may deallocate
    /// the block it is given, and must not otherwise use the pool.
    template<class Visit>
    void for_each(Visit&& visit);

    /// Walks every bit and says whether all is consistent. Cost      a bit per block.
    [[nodiscard]] bool valid() noexcept;

private:
    template<class T>
    friend class pool;
    friend class shared_block_pool;

    // What is freed is first kept in a stack of pointers, so that a free touches neither the block nor its bit; the
    // older half is written into the bits when the stack is full. The newest is in a slot in front of the stack, so
    // that the commonest pair, allocate after deallocate, does not move the stack's top.
    static constexpr std::size_t recent_capacity = 128;

    [[nodiscard]] void* allocate_strided(std::size_t stride) noexcept;
    [[nodiscard]] void* allocate_slow() noexcept;
    void deallocate_slow(void* block) noexcept;
    void deallocate_checked(void* block) noexcept;
    void write_back(void* const* blocks, std::size_t count) noexcept;
    struct place;
    void write_rare(bit_word* at, bit_word before, bit_word bits) noexcept;
    void report_twice(const place& where, bit_word twice) noexcept;
    void settle() noexcept;
    [[nodiscard]] bool refill() noexcept;
    void hand_out(detail::segment* from, std::size_t word, bit_word blocks) noexcept;
    [[nodiscard]] detail::segment* acquire_segment() noexcept;
    void release_segment(detail::segment* which) noexcept;
    std::size_t trim_segment(detail::segment* which) noexcept;
    void make_partial(detail::segment* which) noexcept;
    [[nodiscard]] bool is_cached(const void* block) const noexcept;
    [[nodiscard]] std::size_t cached_count() const noexcept;

    // First what each call touches.
    void* last_freed_ = nullptr;
    std::size_t recent_count_ = 0;
    std::size_t recent_room_; // recent_capacity; zero under passthrough and in checked builds, where frees are slow
    bit_word group_ = 0;      // blocks of one word of level 0 that are ready to be handed out
    std::uintptr_t group_begin_ = 0; // where that word's first block lies
    detail::segment_layout layout_;
    void* recent_[recent_capacity];

    detail::segment* group_segment_ = nullptr;
    std::size_t group_word_ = 0;
    detail::segment* partial_ = nullptr; // segments with free bits
    detail::segment* first_ = nullptr;   // all segments, in the order in which they were taken
    detail::segment* last_ = nullptr;
    detail::segment* bump_ = nullptr; // the first one with groups that were never handed out
    std::size_t segment_count_ = 0;
    std::size_t handed_out_ = 0; // blocks in all groups that were handed out
    std::size_t free_in_bits_ = 0;
    std::size_t peak_handed_out_ = 0;
    std::size_t alignment_;
    std::size_t wanted_segment_bytes_ = 0; // what a pool without segments asks for
    block_source& source_;
    detail::passthrough_list passthrough_blocks_;
    bool passthrough_;

    void note_misuse(std::string_view what, const void* at, std::string_view advice) noexcept;
    detail::noted_misuses* noted_ = nullptr; // of a shared pool: what happens under its lock is reported after it
};

inline void* block_pool::allocate_strided(std::size_t stride) noexcept {
    if (void* const block = last_freed_; block != nullptr) {
        last_freed_ = nullptr;
        return block;
    }
    if (recent_count_ != 0) return recent_[--recent_count_];
    if (bit_word const group = group_; !checks::caller && group != 0) [[likely]] {
        group_ = without_lowest_bit(group);
        return pointer_at(group_begin_ + lowest_bit(group) * stride);
    }
    return allocate_slow();
}

inline void block_pool::deallocate(void* block) noexcept {
    if (block == nullptr) return;
    if (recent_count_ >= recent_room_) [[unlikely]]
        return deallocate_slow(block);
    void* const before = last_freed_;
    last_freed_ = block;
    if (before == nullptr) return;
    recent_[recent_count_++] = before;
}

template<class Visit>
void block_pool::for_each(Visit&& visit) {
    settle();
    passthrough_blocks_.for_each(alignment_, visit);
    for (detail::segment* segment = first_; segment != nullptr; segment = segment->next) {
        std::uintptr_t const begin = segment->blocks(layout_);
        for (std::size_t word = 0; word < segment->groups_used; ++word) {
            bit_word const all = low_bits(detail::segment::group_size(layout_, word));
            bit_word const alive = all & ~segment->level0(layout_)[word];
            for_each_bit(alive, [&](std::size_t bit) {
                visit(pointer_at(begin + (word * bits_per_word + bit) * layout_.stride_bytes));
            });
        }
    }
}

}
