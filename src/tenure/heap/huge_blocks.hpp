// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks larger than a segment holds, each in memory of its own, and freed ones that are kept a while. Private to this
/// room.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_memory.hpp>
#include <tenure/heap/large_blocks.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// In the segment in front of a block, at a multiple of a segment's size: masking the address before the block's begin
/// finds it.
struct huge_block : segment_head {
    huge_block* next;
    huge_block* previous;
    std::uintptr_t mapped;     ///< where what the source gave begins: here, or earlier for the largest alignments
    std::size_t mapped_bytes;  ///< as the source gave them
    std::size_t lead_bytes;    ///< from `mapped` to the block
    std::size_t bytes;         ///< as asked for; zero when it is free
    std::size_t touched_bytes; ///< from `mapped` on, at most
    std::uint64_t freed_at_ns;
    std::uint16_t tag; ///< its owner; zero: none
    bool is_known;     ///< by its address: see heap_memory::announce()
};

/// What freed blocks may cost.
struct purge_policy {
    std::uint64_t time_ns = 1'000'000'000;
    std::size_t limit_bytes = std::size_t{256} << 20;
};

/// The first touch of a page costs several times what writing to it costs, so a program that allocates, writes and
/// frees a large block again and again wins by finding its pages touched, also when the next block is somewhat larger:
/// the kept one grows. What is kept longer than its time goes back at the next call. A new block is never mapped on top
/// of kept ones past the most that was mapped before: kept ones go back first. A block past the limit goes back at
/// once, unless the one before it was asked for again within the keeping time: the limit learns that, and forgets it
/// when something that was kept was not asked for in time.
///
/// Threads   any; a lock per call. The clock is the caller's: every function that may keep or give back takes the time.
class huge_blocks {
public:
    constexpr explicit huge_blocks(heap_memory& memory, purge_policy how = {}) noexcept : memory_(memory), how_(how) {}
    ~huge_blocks() { release_all(); }
    huge_blocks(const huge_blocks&) = delete;
    huge_blocks& operator=(const huge_blocks&) = delete;

    /// Requires  `bytes` is not zero; `alignment` is a power of two.
    /// Returns   null when the source refuses, and nothing changes but what is kept. `found` says what is in it.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns, contents& found,
                                 std::uint16_t tag = 0) noexcept;
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns) noexcept {
        contents found{};
        return allocate(bytes, alignment, now_ns, found);
    }
    /// A block that is free, or an address that is no block's begin, is reported.
    freed_block deallocate(void* block, std::uint64_t now_ns) noexcept;

    /// Makes a block larger or smaller where it is. Returns   whether it did; if not, nothing changes.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    /// Makes a block larger or smaller, elsewhere, without copying its bytes. Returns   null when that cannot be;
    /// nothing changes.
    [[nodiscard]] void* move(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;
    [[nodiscard]] std::uint16_t tag_of(const void* block) const noexcept { return head_of(block).tag; }
    /// What the block was asked for with.
    [[nodiscard]] std::size_t asked_bytes(const void* block) const noexcept { return head_of(block).bytes; }

    /// Gives back what has been kept longer than its time. Returns   the bytes given back.
    std::size_t expire(std::uint64_t now_ns) noexcept;
    /// Gives back everything that is kept.
    std::size_t trim() noexcept;
    /// Frees every block; what may be kept is.
    void free_all(std::uint64_t now_ns) noexcept;
    /// Gives everything back, blocks in use too.
    void release_all() noexcept;
    void set_purge_policy(purge_policy how) noexcept;

    /// Calls `visit(context, block, bytes)` for every block. Requires  no other thread uses the heap meanwhile.
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    /// The block that `pointer` is in, or null. Cost      O(blocks), with the lock.
    [[nodiscard]] void* block_of(const void* pointer) const noexcept;
    /// Whether masking the pointer finds the head of a block whose memory, in use or kept, `pointer` is in. Any pointer
    /// may be asked for. Cost      the lock, and none for what lies in no head's segment.
    [[nodiscard]] bool has_head(const void* pointer) const noexcept;
    /// Whether `block` is a block in use of those that are found by masking; false also for some that are. No lock:
    /// Requires  nobody frees it meanwhile, if it is one.
    [[nodiscard]] bool is_known_block(const void* block) const noexcept;
    /// Whether the pointer is in the memory of a block in use or kept. Cost      O(blocks), with the lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept;
    [[nodiscard]] std::size_t kept_bytes() const noexcept;
    /// Bytes of blocks in use and kept that may have been touched.
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    /// What of it is in memory now. Cost      O(pages of the system), with the lock.
    [[nodiscard]] std::size_t resident_bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    struct list {
        huge_block* first = nullptr;
        std::size_t mapped_bytes = 0;
        void insert(huge_block& block) noexcept;
        void remove(huge_block& block) noexcept;
    };

    [[nodiscard]] huge_block& head_of(const void* block) const noexcept;
    void announce(huge_block& block) noexcept;
    void withdraw(huge_block& block) noexcept;
    [[nodiscard]] bool has_head_locked(const void* pointer) const noexcept;
    [[nodiscard]] std::size_t with_slack(std::size_t needed) const noexcept;
    [[nodiscard]] huge_block* reuse_retained(std::size_t needed) noexcept;
    [[nodiscard]] huge_block* resized(huge_block& block, std::size_t needed) noexcept;
    [[nodiscard]] huge_block* map_new(std::size_t needed) noexcept;
    [[nodiscard]] huge_block* map_aligned(std::size_t bytes, std::size_t alignment) noexcept;
    void make_room(std::size_t mapped) noexcept;
    void learn(std::size_t needed, std::uint64_t now_ns) noexcept;
    [[nodiscard]] bool may_keep(const huge_block& freed, std::uint64_t now_ns) noexcept;
    void free_locked(huge_block& head, std::uint64_t now_ns) noexcept;
    std::size_t release_kept_before(std::uint64_t freed_before_ns) noexcept;
    std::size_t release(huge_block& block) noexcept;

    heap_memory& memory_;
    purge_policy how_;
    mutable platform::mutex mutex_; ///< of everything else and of all heads
    list live_, kept_;
    std::size_t live_bytes_ = 0;
    std::size_t live_count_ = 0;
    std::atomic<std::size_t> unknown_count_{0}; ///< blocks whose heads could not be announced when they moved
    std::size_t peak_mapped_bytes_ = 0;
    std::size_t learned_limit_bytes_ = 0; ///< of what is kept, in place of a smaller one
    std::size_t let_go_bytes_ = 0;        ///< of the latest block that the limit let go; zero: none that counts still
    std::size_t kept_with_let_go_ = 0;    ///< what would have been kept, had it stayed
    std::uint64_t let_go_at_ns_ = 0;
};

}
