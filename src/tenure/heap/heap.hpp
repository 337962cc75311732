// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Heap: general-purpose allocation of blocks of any size, from any thread.
///
/// Use it for     blocks that are freed one by one; a separate heap for a subsystem that you want to measure, limit or
///                drop as a whole.
/// Not for        scratch memory: lifetime/temp.hpp. Many objects of one type: pool/pool.hpp, without a cache lookup.
///                Objects that are freed together: arena/arena.hpp.
/// Memory from    a block source, in segments that grow from 1 to 32 MiB in place (smaller if the source or the limit
///                is small, whole if the source cannot extend). Freed memory is returned to the source after the purge
///                delay: by a background thread, which exists only while there is something to return (option
///                heap_background), or else by the next slow call. trim() returns it at once.
/// Cost           blocks up to 32 KiB: O(1) in the thread cache, and one lock per batch of up to 512 blocks. Larger
///                blocks: O(1) under a lock. Blocks past 31 MiB: a system call, unless a retained block fits.
/// Overhead       no header; one bit per block. Sizes are rounded up: to 8, to multiples of 16 up to 128, to four sizes
///                per doubling up to 32 KiB (an eighth on average), and to 4 KiB above. Each thread uses 4 KiB, or 160
///                KiB when it is busy. It caches at most 32 KiB of free blocks of each size, and 4 MiB more in all of
///                the sizes that it replaces often.
/// Threads        any. walk(), clear() and the destructor need exclusive use. A block may be freed after the thread
///                that allocated it has ended. Do not call a heap from signal handlers.
/// Fork           usable in the child. The child's threads reuse the blocks that other threads of the parent had
///                cached. A batch that another thread was moving during the fork is lost to the child. Not usable over
///                a source that does not pass its blocks to the child, such as platform/file_source.hpp.
/// When full      asks the source, then uses pages that other threads allocate from, then returns free memory to the
///                source and asks once more. If all of this fails, returns nullptr; no block changes.
/// Example        examples/heap.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/engine/local_cache.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/registered_heap.hpp>
#include <tenure/platform/early_pointer.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI {

using detail::fill;

/// Heap configuration.
struct heap_options {
    std::string_view name = "(no name)"; ///< shown in reports; the text must outlive the heap
    /// Maximum number of bytes taken from the source. Below 256 KiB no small block fits. Below 512 KiB either small or
    /// large blocks fit, and the first request decides which.
    std::size_t limit_bytes = max_object_bytes;
    std::uint64_t purge_delay_ns = 1'000'000'000; ///< how long freed memory is retained for reuse
    /// Maximum total size of retained huge blocks. The heap exceeds it only while the program requests larger blocks
    /// again within the purge delay. Zero: retain none.
    std::size_t max_retained_bytes = std::size_t{256} << 20;
    /// Whether the library's background thread returns memory of this heap after the purge delay. It calls the source,
    /// so it leaves out heaps whose source allows one thread only; these return memory at their own slow calls.
    bool background = true;
};

class TENURE_API heap {
public:
    /// Requires  the source outlives the heap. A single-threaded source is enough: the heap serializes its calls.
    /// If the system has no memory for the heap's own records, every allocation fails.
    [[nodiscard]] explicit heap(heap_options = {}, block_source& source = page_source::process()) noexcept;

    /// Returns all memory to the source.
    /// Requires  no thread uses the heap during or after this call. Threads that used it earlier may keep running.
    ~heap();

    /// Takes over all blocks and the threads' caches of `other`. From then on `other` has no memory and every
    /// allocation from it fails; it can be assigned to. Requires  no other thread uses either heap meanwhile; neither
    /// is process().
    [[nodiscard]] heap(heap&& other) noexcept;
    heap& operator=(heap&& other) noexcept;

    /// Whether the heap can allocate. False after a move from it, and if the system had no memory for its records.
    [[nodiscard]] bool is_usable() const noexcept { return home_ != nullptr; }

    /// The heap behind `persistent`, make() and all callers that name no other heap. It is never destroyed. In plain
    /// builds a sample of its blocks lies between guard pages (option::heap_guard_bytes), and a wrong access to one of
    /// them is reported.
    [[nodiscard]] static heap& process() noexcept;

    /// Allocates a block. Zero bytes count as one. If size and alignment are at most 8, the block is aligned to 8.
    /// Returns   memory valid until it is freed; nullptr when out of memory, or if `alignment` is not a power of two.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;
    /// Allocates a block and fills it. Above 32 KiB, memory that the system delivered zeroed is not written.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment, fill how) noexcept;

    /// Frees a block. nullptr is allowed and does nothing.
    /// Requires  `block` is allocated from this heap.
    TENURE_LOCAL void deallocate(void* block) noexcept;
    /// Frees a block of known size.
    /// Requires  also that size and alignment are those of the allocation, or of the last reallocation.
    TENURE_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Memory for `count` elements. Nothing is constructed in it: T needs no constructor. Free it with deallocate().
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T> allocate(std::size_t count) noexcept {
        return detail::allocate_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); });
    }
    template<class T>
    TENURE_LOCAL void deallocate(std::span<T> elements) noexcept {
        deallocate(elements.data(), elements.size_bytes(), alignof(T));
    }
    /// Constructs an object. Returns   nullptr when out of memory. When the constructor throws, the memory is freed.
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        return detail::make_object<T>(
            [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                deallocate(block, bytes, alignment);
            },
            std::forward<Arguments>(arguments)...);
    }
    /// Destroys an object of make(). nullptr is allowed and does nothing. Requires  T is its type, or a base of it with
    /// a virtual destructor.
    template<class T>
    TENURE_LOCAL void destroy(T* object) noexcept {
        if (object == nullptr) return;
        void* const block = detail::whole_object(object);
        object->~T();
        if constexpr (std::has_virtual_destructor_v<T>) {
            deallocate(block);
        } else {
            deallocate(block, sizeof(T), alignof(T));
        }
    }
    /// Constructs `count` elements as T() does: numbers are zero.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        return detail::make_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                deallocate(block, bytes, alignment);
            });
    }
    /// Destroys the elements of make_array(), last first, and frees their memory.
    template<class T>
    TENURE_LOCAL void destroy_array(std::span<T> elements) noexcept {
        detail::destroy_elements(elements.data(), elements.size());
        deallocate(elements);
    }

    /// Makes a block larger or smaller, in place if possible, and preserves the contents up to the smaller size. Huge
    /// blocks grow without a copy. If `block` is nullptr, allocates.
    /// Returns   nullptr when out of memory; the block is then unchanged.
    [[nodiscard]] void* reallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;
    /// Makes a block larger or smaller in place. Afterwards, free it without a size or with usable_size().
    /// Returns   whether it succeeded; if not, nothing has changed.
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;

    /// Number of usable bytes: the requested size or more. Zero for nullptr.
    [[nodiscard]] std::size_t usable_size(const void* block) const noexcept {
        return home_ != nullptr ? home_->core.usable_bytes(block) : 0;
    }

    /// Whether the pointer is inside memory that this heap acquired from its source. Accepts any pointer.
    /// Cost      three loads; O(huge blocks) under a lock for a pointer outside its segments.
    [[nodiscard]] bool owns(const void* pointer) const noexcept {
        return home_ != nullptr && home_->core.owns(pointer);
    }

    /// Returns free pages to the source. Flushes the calling thread's cache; other threads flush theirs at a later slow
    /// call.
    /// Returns   the number of bytes returned.
    /// Cost      O(pages).
    std::size_t trim() noexcept;

    /// Frees every block. Memory is retained as after any free.
    /// Requires  no other thread uses the heap during the call, or any of its blocks afterwards.
    /// Cost      O(pages + large blocks).
    void clear() noexcept {
        if (home_ != nullptr) home_->core.clear();
    }

    /// Calls `visit(void* block, std::size_t bytes)` with every block and its usable size. It must not use the heap.
    /// Requires  no other thread uses the heap during the call.
    template<class Visit>
    void walk(Visit&& visit) {
        if (home_ == nullptr) return;
        home_->core.walk([](void* to, void* block, std::size_t bytes) { (*static_cast<Visit*>(to))(block, bytes); },
                         &visit);
    }

    /// Blocks and bytes in use. While other threads run, each thread's share is read at some moment during the call.
    /// `peak_bytes` counts pages and larger blocks in use.
    /// Cost      O(threads x sizes), with locks.
    [[nodiscard]] allocator_stats stats() const noexcept {
        return home_ != nullptr ? home_->core.stats() : allocator_stats{};
    }

    /// The same by size, plus free, committed and resident memory, for reports.
    /// Cost      O(OS pages).
    [[nodiscard]] heap_usage usage() const noexcept;

    /// Calls `visit(heap_usage)` for every heap. No heap can be created or destroyed meanwhile.
    template<class Visit>
    static void for_each_usage(Visit&& visit) {
        visit_usages([](void* to, const heap_usage& usage) { (*static_cast<Visit*>(to))(usage); }, &visit);
    }

    /// Whether the heap is consistent. Cost      O(pages), with locks.
    [[nodiscard]] bool valid() const noexcept { return home_ == nullptr || home_->core.valid(); }

    /// Where the deleters of adapt/unique.hpp find this heap after it moves. Returns   nullptr when out of memory.
    using home_owner = heap;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept {
        return home_ != nullptr ? home_->link.of(this, "heap") : nullptr;
    }

private:
    constexpr explicit heap(detail::registered_heap& its_home) noexcept;
    union process_heap;
    static process_heap the_process_heap;

    friend struct heap_events;
    friend const detail::heap_core& detail::core_of(const heap& of) noexcept;

    [[nodiscard]] bool is_process() const noexcept { return slot_.index == process_index; }
    [[nodiscard]] TENURE_LOCAL detail::thread_cache* cache_of_this_thread() const noexcept;
    static void visit_usages(void (*visit)(void* context, const heap_usage&), void* context);
    [[nodiscard]] detail::thread_cache* cache_or_open() noexcept;
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment, fill how) noexcept;
    void deallocate_slow(void* block) noexcept;
    void deallocate_sized(void* block, std::size_t bytes) noexcept;
    TENURE_COLD static void report_left(const void* block) noexcept;

    static constexpr std::size_t process_index = SIZE_MAX - 1; // no slot: it has its own thread-local pointer

    // What the inline paths read is here, so that they need no load of home_.
    platform::thread_slot slot_;
    std::size_t segment_bytes_ = detail::min_segment_bytes;
    detail::registered_heap* home_ = nullptr;
};
static_assert(sizeof(heap) == 32);

namespace detail {

/// The calling thread's cache of the process heap; nullptr before the thread's first slow call and after its end, and
/// before the loader has relocated the library.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE thread_cache*& process_cache() noexcept {
    return platform::early_pointer<thread_cache>();
}

[[nodiscard]] heap_core& process_core() noexcept;

/// Makes the calling thread use the cache that matches its owner tag, until forget_tags().
void follow_tags() noexcept;
void forget_tags() noexcept;

/// The calling thread's cache of the process heap, opened if need be; nullptr where calls do without one.
[[nodiscard]] thread_cache* process_cache_or_open() noexcept;
/// The same for the allocations under a tag, whichever tag the thread has; the thread's own cache if there is no memory
/// for another.
[[nodiscard]] thread_cache* process_cache_or_open_for(std::uint16_t tag) noexcept;

/// Frees a block of a tag's page into the calling thread's cache for that tag. Returns   whether there was room.
[[nodiscard]] bool push_tagged(const thread_cache& any, void* block) noexcept;
/// The same into a cache that is that of the block's tag.
[[nodiscard]] bool push_into_tagged(thread_cache& mine, std::size_t class_index, void* block) noexcept;

/// `starts_thread`: whether the background thread may be started here. The drop-in asks who has called.
[[nodiscard]] TENURE_API void* process_allocate_slow(std::size_t bytes, std::size_t alignment, fill how,
                                                     block_form form = block_form::any,
                                                     bool starts_thread = true) noexcept;
/// The short way of a slow call while a profile is recorded: a block that the thread has already.
/// Requires  `cache` is the calling thread's, and counts. Returns   nullptr if more is to be done.
[[nodiscard]] void* process_allocate_counted(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                                             fill how) noexcept;
/// For one block under a tag, without changing the thread's. These do not start the background thread.
[[nodiscard]] void* process_allocate_tagged(std::uint16_t tag, std::size_t bytes, std::size_t alignment,
                                            fill how) noexcept;
[[nodiscard]] void* process_reallocate_tagged(std::uint16_t tag, void* block, std::size_t bytes) noexcept;
/// For blocks without a tag; it does not start the background thread either.
[[nodiscard]] void* process_reallocate(void* block, std::size_t bytes) noexcept;
TENURE_API void process_deallocate_slow(void* block, bool starts_thread = true) noexcept;
TENURE_API void process_deallocate_as(void* block, block_form form, std::size_t bytes,
                                      bool starts_thread = true) noexcept;

/// The fast paths of checked builds. The first returns nullptr, the second false, if the slow path must be called.
[[nodiscard]] TENURE_API void* process_allocate_checked(std::size_t bytes, std::size_t alignment,
                                                        block_form form) noexcept;
[[nodiscard]] TENURE_API bool process_deallocate_checked(void* block, block_form form, std::size_t bytes) noexcept;

/// The class number of a block in segments of this size.
/// Requires  the block is not at the start of a segment.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE std::size_t class_number_at(const void* block,
                                                                            std::size_t segment_bytes) noexcept {
    const segment_head* const head = segment_head::of(block, segment_bytes);
    return head->number_of(segment_head::slice_of(block, segment_bytes));
}

/// allocate() and deallocate() of the process heap, inline.
[[nodiscard]] TENURE_LOCAL inline void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::uint32_t usual_alignments = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16; // as a bit set
    static_assert(default_alignment == 16);
    thread_cache* const cache = process_cache();
    void* block = nullptr;
    if (checks::caller || cache == nullptr) return process_allocate_slow(bytes, alignment, fill::none);
    const bool is_usual = alignment <= default_alignment && (usual_alignments >> alignment & 1) != 0;
    if (bytes <= table_limit_bytes && is_usual) [[likely]] {
        const std::size_t least = alignment <= 8 ? 0 : 9; // blocks of the smallest class are multiples of 8 only
        if (pop(block, cache->of_class[class_table[((bytes < least ? least : bytes) + 7) / 8]])) [[likely]]
            return block;
    } else if (bytes <= max_small_bytes && alignment <= max_small_bytes && is_power_of_two(alignment)) {
        if (pop(block, cache->of_class[class_for(bytes, alignment)])) return block;
    }
    return process_allocate_slow(bytes, alignment, fill::none);
}

TENURE_LOCAL inline void process_deallocate(void* block) noexcept {
    thread_cache* const cache = process_cache();
    // nullptr, or the start of a segment, where no small block is.
    const bool is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (!checks::caller && cache != nullptr && !is_special) [[likely]] {
        if (push(cache->of_class[class_number_at(block, max_segment_bytes)], block)) [[likely]]
            return;
    }
    process_deallocate_slow(block);
}

/// Compares two numbers without letting the compiler substitute one for the other afterwards.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE bool is_equal_unnoticed(std::size_t left, std::size_t right) noexcept {
    TENURE_OPAQUE(left);
    TENURE_OPAQUE(right);
    return left == right;
}

/// Frees a block of known size; checked builds compare the size. The class is read from the page, not computed from the
/// size: a block that was reallocated in place has another class, and a block of an owner tag must not enter a cache
/// without one. Usually the class matches the size. The cache is then found by the size, so that the loads of a free
/// need not wait for each other.
TENURE_LOCAL inline void process_deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (checks::caller) return process_deallocate_as(block, block_form::any, bytes);
    thread_cache* const cache = process_cache();
    const bool is_special = (address_of(block) & (max_segment_bytes - 1)) == 0;
    if (cache == nullptr || is_special) [[unlikely]]
        return process_deallocate_slow(block);
    const std::size_t class_number = class_number_at(block, max_segment_bytes);
    if (bytes <= table_limit_bytes && alignment <= default_alignment) [[likely]] {
        const std::size_t likely_number = class_table[((bytes < 9 && alignment > 8 ? 9 : bytes) + 7) / 8];
        if (is_equal_unnoticed(class_number, likely_number)) [[likely]] {
            if (push(cache->of_class[likely_number], block)) [[likely]]
                return;
            return process_deallocate_slow(block);
        }
    }
    if (push(cache->of_class[class_number], block)) return;
    process_deallocate_slow(block);
}

}

inline detail::thread_cache* heap::cache_of_this_thread() const noexcept {
    return is_process() ? detail::process_cache() : static_cast<detail::thread_cache*>(platform::slot_value(slot_));
}

inline void* heap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    detail::thread_cache* const cache = cache_of_this_thread();
    const bool is_small = bytes <= detail::max_small_bytes && alignment <= detail::max_small_bytes;
    if (!checks::caller && cache != nullptr && is_small && is_power_of_two(alignment)) [[likely]] {
        const std::size_t class_index = detail::class_for(bytes, alignment);
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
    const std::size_t segment_bytes = segment_bytes_;
    const bool is_special = (address_of(block) & (segment_bytes - 1)) == 0;
    if (!checks::caller && cache != nullptr && !is_special) [[likely]] {
        if (detail::push(cache->of_class[detail::class_number_at(block, segment_bytes)], block)) [[likely]]
            return;
    }
    deallocate_slow(block);
}

inline void heap::deallocate(void* block, std::size_t bytes, std::size_t) noexcept {
    checks::caller ? deallocate_sized(block, bytes) : deallocate(block);
}

}
