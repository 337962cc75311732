// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory of any size, held for any time, from any thread.
///
/// Use it for     what lives until somebody frees it; a heap of its own for a subsystem that is to be measured, limited
///                or dropped as a whole.
/// Not for        scratch memory: lifetime/temp.hpp. Many objects of one type: pool/pool.hpp, which has no caches to
///                ask. What dies together: arena/arena.hpp.
/// Memory from    a block source, in segments of 32 MiB (smaller ones where the source or the limit is); what is freed
///                goes back to it after the keeping time, at a later slow call, or at trim().
/// Cost           up to 32 KiB: O(1) in the thread's cache, a lock for every batch, of up to 512 blocks. Above: O(1)
///                under a lock; past 31 MiB a system call, unless a kept block serves.
/// Overhead       no header. Sizes are rounded up, by an eighth on average, to 8, 16, 32 ... 128 and four sizes to each
///                doubling; above 32 KiB to 4 KiB. A bit per block; 4 KiB per thread, 58 when it is busy, and at most
///                32 KiB of free blocks of each size that it uses, two blocks of the four largest.
/// Threads        any, for everything but walk(), clear() and the destructor, also the free of a block whose thread has
///                ended. Not from signal handlers.
/// Fork           usable in the child. What waits in the caches of threads that the child does not have serves its own
///                threads; what such a thread was just moving, a batch at most, is lost to the child. Not over a source
///                that keeps its blocks from the child, as platform/file_source.hpp does.
/// When full      asks the source, then the pages that other threads allocate from, then gives back what is free and
///                asks once more; if refused, returns null and changes nothing.
/// Example        examples/heap.cpp

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/heap/heap_core.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI {

using detail::fill;

/// How a heap is to be.
struct heap_options {
    std::string_view name = "(no name)"; ///< in reports; the text outlives the heap
    /// The most that it takes from its source. Below 256 KiB no small block fits; below 512 KiB either small blocks fit
    /// or large ones, and the first request decides.
    std::size_t limit_bytes = max_object_bytes;
    std::uint64_t purge_delay_ns = 1'000'000'000; ///< how long freed memory is kept for the next request
    /// Of freed huge blocks that are kept; more only while larger ones come again within the keeping time. Zero: none.
    std::size_t max_retained_bytes = std::size_t{256} << 20;
};

class TENURE_API heap {
public:
    /// Requires  the source outlives the heap. One that serves one thread at a time will do: the heap asks it so.
    explicit heap(heap_options = {}, block_source& source = page_source::process()) noexcept;

    /// Gives everything back. Requires  no thread uses the heap any more; threads that did may go on.
    ~heap();
    heap(const heap&) = delete;
    heap& operator=(const heap&) = delete;

    /// The heap behind `persistent`, make() and everything that asks for no other. It is never destroyed.
    [[nodiscard]] static heap& process() noexcept;

    /// Zero bytes count as one. Blocks of up to 8 bytes lie at multiples of 8 when that is the alignment asked for.
    /// Returns   memory valid until it is freed; null when refused, or when `alignment` is no power of two.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;
    /// The same, filled as `how` says: memory that the system gave as zero is not written.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment, fill how) noexcept;

    /// Gives a block back. Null is allowed and does nothing.
    /// Requires  `block` is of this heap and allocated.
    TENURE_LOCAL void deallocate(void* block) noexcept;
    /// Requires  also that size and alignment are what it was allocated with, or last reallocated to.
    TENURE_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Makes a block larger or smaller, where it is if that can be; its contents are kept up to the smaller size. A
    /// null `block` is allocated. Huge blocks grow without a copy. Returns   null when refused, and then the block is
    /// as it was.
    [[nodiscard]] void* reallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;
    /// Makes a block larger or smaller where it is. Returns   whether it did; if not, nothing has changed.
    /// Deallocate  without the size afterwards, or with usable_size().
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;

    /// Bytes that may be used from the block's begin: what was asked for, or more. Zero for null.
    [[nodiscard]] std::size_t usable_size(const void* block) const noexcept { return core_.usable_bytes(block); }

    /// Whether the pointer is inside memory that this heap has from its source. Any pointer may be asked for.
    /// Cost      two loads; O(huge blocks) under a lock for what lies in none of its segments.
    [[nodiscard]] bool owns(const void* pointer) const noexcept { return core_.owns(pointer); }

    /// Gives free pages back to the source: what the calling thread's cache holds at once, what others' hold as soon as
    /// they next need more than their caches. Returns   the bytes given back.
    /// Cost      O(pages).
    std::size_t trim() noexcept;

    /// Everything is free; memory is kept as after any free. Cost      O(pages + large blocks).
    /// Requires  no other thread uses the heap meanwhile, or any of its blocks afterwards.
    void clear() noexcept { core_.clear(); }

    /// Calls `visit(void* block, std::size_t bytes)` for every block, with its usable size. `visit` must not use the
    /// heap. Requires  no other thread uses the heap meanwhile.
    template<class Visit>
    void walk(Visit&& visit) {
        core_.walk([](void* to, void* block, std::size_t bytes) { (*static_cast<Visit*>(to))(block, bytes); }, &visit);
    }

    /// Blocks and bytes in use; while threads go on, each thread as of some moment during the call. `peak_bytes` is of
    /// pages and larger blocks taken into use. Cost      O(threads x sizes), with locks.
    [[nodiscard]] allocator_stats stats() const noexcept { return core_.stats(); }

    /// The same by size, with what is free, committed and resident: for reports. Cost      O(pages of the system).
    [[nodiscard]] heap_usage usage() const noexcept;

    /// Calls `visit(heap_usage)` for the process heap and every other, while none can come or go.
    template<class Visit>
    static void for_each_usage(Visit&& visit) {
        visit_usages([](void* to, const heap_usage& usage) { (*static_cast<Visit*>(to))(usage); }, &visit);
    }

    /// Cost      O(pages), with locks: for assertions and tests.
    [[nodiscard]] bool valid() const noexcept { return core_.valid(); }

    /// The parts and their figures: for reports.
    [[nodiscard]] const detail::heap_core& core() const noexcept { return core_; }

private:
    struct for_process {};
    constexpr explicit heap(for_process) noexcept;
    union process_heap;
    static process_heap the_process_heap;

    friend struct heap_events;

    [[nodiscard]] bool is_process() const noexcept { return slot_.index == process_index; }
    [[nodiscard]] TENURE_LOCAL detail::thread_cache* cache_of_this_thread() const noexcept;
    static void visit_usages(void (*visit)(void* context, const heap_usage&), void* context);
    [[nodiscard]] detail::thread_cache* cache_or_open() noexcept;
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment, fill how) noexcept;
    void deallocate_slow(void* block) noexcept;
    void deallocate_sized(void* block, std::size_t bytes) noexcept;

    static constexpr std::size_t process_index = SIZE_MAX - 1; // no slot: it has a thread-local pointer of its own

    platform::thread_slot slot_;
    std::string_view name_;
    detail::heap_core core_;
    platform::fork_handler fork_;
};

namespace detail {

/// The calling thread's cache of the process heap; null before its first slow call and after its end.
extern TENURE_API TENURE_THREAD_LOCAL thread_cache* process_cache TENURE_TLS_MODEL;

[[nodiscard]] heap_core& process_core() noexcept;

/// From now on the calling thread's cache is the one for its owner tag, until forget_tags().
void follow_tags() noexcept;
void forget_tags() noexcept;

[[nodiscard]] TENURE_API void* process_allocate_slow(std::size_t bytes, std::size_t alignment, fill how) noexcept;
TENURE_API void process_deallocate_slow(void* block) noexcept;
TENURE_API void process_deallocate_sized(void* block, std::size_t bytes) noexcept;

/// Takes what a cache has at hand. Returns   whether it had a block. (A result that is null instead would be tested
/// once more.)
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE bool pop(void*& block, block_cache& blocks) noexcept {
    std::uint32_t const count = blocks.count.load(std::memory_order_relaxed);
    if (count == 0) [[unlikely]]
        return false;
    block = blocks.blocks[count - 1];
    blocks.count.store(count - 1, std::memory_order_relaxed);
    return true;
}

/// Returns   whether there was room.
TENURE_LOCAL TENURE_ALWAYS_INLINE bool push(thread_cache& cache, std::size_t class_number, void* block) noexcept {
    block_cache& blocks = cache.of_class[class_number];
    std::uint32_t const count = blocks.count.load(std::memory_order_relaxed);
    if (count >= blocks.capacity) [[unlikely]]
        return false;
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release); // in this order for the child of a fork
    return true;
}

/// The number of the class of a block that is no segment's begin, in segments of the size.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE std::size_t class_number_at(const void* block,
                                                                            std::size_t segment_bytes) noexcept {
    segment_head const* const head = segment_head::of(block, segment_bytes);
    return head->class_of_slice[segment_head::slice_of(block, segment_bytes)];
}

/// The process heap's allocate and deallocate, inline.
[[nodiscard]] TENURE_LOCAL inline void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::uint32_t usual_alignments = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16; // as a set
    static_assert(default_alignment == 16);
    thread_cache* const cache = process_cache;
    void* block = nullptr;
    if (checks::caller || cache == nullptr) return process_allocate_slow(bytes, alignment, fill::none);
    bool const is_usual = alignment <= default_alignment && (usual_alignments >> alignment & 1) != 0;
    if (bytes <= table_limit_bytes && is_usual) [[likely]] {
        std::size_t const least = alignment <= 8 ? 0 : 9; // the smallest class lies at multiples of 8 only
        if (pop(block, cache->of_class[class_table[((bytes < least ? least : bytes) + 7) / 8]])) [[likely]]
            return block;
    } else if (bytes <= max_small_bytes && alignment <= max_small_bytes && is_power_of_two(alignment)) {
        if (pop(block, cache->of_class[class_for(bytes, alignment)])) return block;
    }
    return process_allocate_slow(bytes, alignment, fill::none);
}

TENURE_LOCAL inline void process_deallocate(void* block) noexcept {
    thread_cache* const cache = process_cache;
    // Null, and the begin of a segment, which no small block is.
    bool const is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (!checks::caller && cache != nullptr && !is_special) [[likely]] {
        if (push(*cache, class_number_at(block, max_segment_bytes), block)) [[likely]]
            return;
    }
    process_deallocate_slow(block);
}

/// Whether two numbers are equal, without the compiler using the one where the other is asked for afterwards.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE bool is_equal_unnoticed(std::size_t left, std::size_t right) noexcept {
    TENURE_OPAQUE(left);
    TENURE_OPAQUE(right);
    return left == right;
}

/// With the size, which checked builds compare. The class is read from the page and not made from the size: a block
/// that was reallocated where it is has another, and one of an owner tag must not get into a cache that has none. But
/// mostly it is the size's, and then the cache is found by the size: the loads of a free need not wait for each other.
TENURE_LOCAL inline void process_deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (checks::caller) return process_deallocate_sized(block, bytes);
    thread_cache* const cache = process_cache;
    bool const is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (cache == nullptr || is_special) [[unlikely]]
        return process_deallocate_slow(block);
    std::size_t const class_number = class_number_at(block, max_segment_bytes);
    if (bytes <= table_limit_bytes && alignment <= default_alignment) [[likely]] {
        std::size_t const likely_number = class_table[((bytes < 9 && alignment > 8 ? 9 : bytes) + 7) / 8];
        if (is_equal_unnoticed(class_number, likely_number)) [[likely]] {
            if (push(*cache, likely_number, block)) [[likely]]
                return;
            return process_deallocate_slow(block);
        }
    }
    if (push(*cache, class_number, block)) return;
    process_deallocate_slow(block);
}

}

inline detail::thread_cache* heap::cache_of_this_thread() const noexcept {
    return is_process() ? detail::process_cache : static_cast<detail::thread_cache*>(platform::slot_value(slot_));
}

inline void* heap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    detail::thread_cache* const cache = cache_of_this_thread();
    bool const is_small = bytes <= detail::max_small_bytes && alignment <= detail::max_small_bytes;
    if (!checks::caller && cache != nullptr && is_small && is_power_of_two(alignment)) [[likely]] {
        std::size_t const class_index = detail::class_for(bytes, alignment);
        if (void* block = nullptr; detail::pop(block, cache->of_class[class_index])) [[likely]]
            return block;
    }
    return allocate_slow(bytes, alignment, fill::none);
}

inline void* heap::allocate(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    return how == fill::none ? allocate(bytes, alignment) : allocate_slow(bytes, alignment, how);
}

inline void heap::deallocate(void* block) noexcept {
    detail::thread_cache* const cache = cache_of_this_thread();
    std::size_t const segment_bytes = core_.memory().segment_bytes();
    bool const is_special = (address_of(block) & (segment_bytes - 1)) == 0;
    if (!checks::caller && cache != nullptr && !is_special) [[likely]] {
        if (detail::push(*cache, detail::class_number_at(block, segment_bytes), block)) [[likely]]
            return;
    }
    deallocate_slow(block);
}

inline void heap::deallocate(void* block, std::size_t bytes, std::size_t) noexcept {
    checks::caller ? deallocate_sized(block, bytes) : deallocate(block);
}

}
