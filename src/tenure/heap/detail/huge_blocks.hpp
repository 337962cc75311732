// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks larger than a segment holds, each in its own memory, and freed ones that are retained for a while.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/large_blocks.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

class page_map;

/// The head in the segment in front of a block, at a multiple of the segment size. Masking the address before the
/// block's start finds it.
struct huge_block : segment_head {
    huge_block* next;
    huge_block* previous;
    std::uintptr_t mapped;     ///< start of the memory from the source: here, or earlier for the largest alignments
    std::size_t mapped_bytes;  ///< as acquired from the source
    std::size_t lead_bytes;    ///< from `mapped` to the block
    std::size_t bytes;         ///< requested size; zero when free
    std::size_t touched_bytes; ///< maximum, from `mapped` on
    std::uint64_t freed_at_ns;
    std::uint16_t tag; ///< owner tag; zero: none
    bool is_known;     ///< registered by address: see heap_memory::announce()
};

/// Limits for retained blocks.
struct purge_policy {
    std::uint64_t time_ns = 1'000'000'000;
    std::size_t limit_bytes = std::size_t{256} << 20;
};

/// Allocates huge blocks and retains freed ones. The first touch of a page costs several times what writing to it
/// costs. A program that allocates, writes and frees a large block again and again therefore wins if the pages are
/// already touched, even if the next block is somewhat larger: the retained block grows. A block retained longer than
/// the purge delay is released at the next call. A new block is never mapped on top of retained ones beyond the
/// previous peak of mapped memory: retained blocks are released first. A block beyond the limit is released at once,
/// unless the previous such block was requested again within the purge delay. The limit learns from this, and forgets
/// it when a retained block is not requested in time.
///
/// Threads   any; one lock per call. Functions that may retain or release a block get the time from the caller.
class huge_blocks {
public:
    constexpr explicit huge_blocks(heap_memory& memory, purge_policy how = {}) noexcept : memory_(memory), how_(how) {}
    ~huge_blocks() { release_all(); }
    huge_blocks(const huge_blocks&) = delete;
    huge_blocks& operator=(const huge_blocks&) = delete;

    /// Requires  `bytes` is not zero; `alignment` is a power of two.
    /// Returns   nullptr if the source fails; only retained blocks may have changed. `found` gets the block's contents.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns, contents& found,
                                 std::uint16_t tag = 0) noexcept;
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns) noexcept {
        contents found{};
        return allocate(bytes, alignment, now_ns, found);
    }
    /// Frees a block. Reports a block that is already free, or an address that is not the start of a block.
    freed_block deallocate(void* block, std::uint64_t now_ns) noexcept;

    /// Makes a block larger or smaller in place.
    /// Returns   whether it succeeded; if not, nothing changes.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    /// Makes a block larger or smaller at another address, without copying its bytes.
    /// Returns   nullptr when that is impossible; nothing changes then.
    [[nodiscard]] void* move(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;
    [[nodiscard]] std::uint16_t tag_of(const void* block) const noexcept { return head_of(block).tag; }
    /// The size that the block was requested with.
    [[nodiscard]] std::size_t asked_bytes(const void* block) const noexcept { return head_of(block).bytes; }

    /// Releases blocks that were retained longer than the purge delay.
    /// Returns   the number of bytes released.
    std::size_t expire(std::uint64_t now_ns) noexcept;
    /// Releases all retained blocks.
    std::size_t trim() noexcept;
    /// Frees every block; retains what the policy allows.
    void free_all(std::uint64_t now_ns) noexcept;
    /// Releases everything, including blocks in use.
    void release_all() noexcept;
    void set_purge_policy(purge_policy how) noexcept;

    /// Calls `visit(context, block, bytes)` for every block.
    /// Requires  no other thread uses the heap meanwhile.
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    /// What each OS page is used for: profile/page_map.cpp.
    void map(page_map& to) const noexcept;
    /// The block that contains `pointer`, or nullptr.
    /// Cost      O(blocks), with the lock.
    [[nodiscard]] void* block_of(const void* pointer) const noexcept;
    /// Whether masking the pointer, which may be any, finds the head of a block, in use or retained, that contains it.
    /// Cost      one lock; none if there is no head in the pointer's segment.
    [[nodiscard]] bool has_head(const void* pointer) const noexcept;
    /// Whether `block` is a block in use that masking finds. May return false for a block in use. Takes no lock.
    /// Requires  nobody frees it meanwhile, if it is a block.
    [[nodiscard]] bool is_known_block(const void* block) const noexcept;
    /// Whether the pointer is in the memory of a block in use or retained.
    /// Cost      O(blocks), with the lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    [[nodiscard]] std::size_t live_bytes() const noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept;
    /// The maxima of both.
    [[nodiscard]] std::size_t peak_count() const noexcept;
    [[nodiscard]] std::size_t peak_bytes() const noexcept;
    [[nodiscard]] std::size_t retained_bytes() const noexcept;
    /// Bytes of blocks, in use and retained, that may have been touched.
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    /// The resident part of them.
    /// Cost      O(OS pages), with the lock.
    [[nodiscard]] std::size_t resident_bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
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
    std::size_t release_retained_before(std::uint64_t freed_before_ns) noexcept;
    std::size_t release(huge_block& block) noexcept;

    heap_memory& memory_;
    purge_policy how_;
    mutable platform::mutex mutex_; ///< guards everything else and all heads
    list live_, kept_;
    std::size_t live_bytes_ = 0;
    std::size_t live_count_ = 0;
    std::size_t peak_bytes_ = 0;
    std::size_t peak_count_ = 0;
    // Relaxed: whoever has such a block reads that there is one.
    atomic<std::size_t> unknown_count_{0}; ///< blocks whose heads could not be registered when they moved
    std::size_t peak_mapped_bytes_ = 0;
    std::size_t learned_limit_bytes_ = 0; ///< of retained memory; used when it exceeds the configured limit
    std::size_t released_bytes_ = 0; ///< size of the latest block that the limit released; zero: none that still counts
    std::size_t kept_with_let_go_ = 0; ///< retained memory if that block had been retained
    std::uint64_t released_at_ns_ = 0;
};

}
