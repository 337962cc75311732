// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TempJob: memory for a few frames, allocated and freed by any thread.
///
/// Use it for     what a job leaves for a later job or the next frames: results, command lists, messages.
/// Not for        scratch memory of one function: lifetime/temp.hpp. Memory without a known end: heap/heap.hpp.
/// Memory from    64 KiB chunks per thread, reused in later frames; blocks above 16 KiB get a chunk of their own.
/// Cost           allocate O(1): one add, one compare, three stores. deallocate O(1): two loads and one store.
/// Overhead       8 bytes in front of each block for size, owner tag and frame; blocks start at multiples of 16. One
///                state byte per 16 bytes. A block above 16 KiB takes a chunk of 64 KiB, 128 KiB and so on. Checked
///                builds: 80 bytes in front of each block, with the stack of the allocation, and 16 behind it.
/// Threads        any may allocate and free, also after the allocating thread has ended. The fast paths take no lock.
/// Fork           usable in the child. Blocks of the parent's other threads stay allocated there: the child can free
///                them, and its frames age and report them. This includes the block, at most one per thread, that
///                another thread was allocating during the fork. Over a source that does not pass its blocks to the
///                child, such as platform/file_source.hpp, the child may only exit or run another program.
/// When full      takes single blocks from the process heap, which is slower, and counts them. If the heap is out of
///                memory too, returns nullptr and changes nothing.
/// Example        examples/lifetimes.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>

namespace tenure::inline TENURE_ABI {

/// A block that is still allocated after option temp_job_frames.
struct temp_job_leak {
    const void* address = nullptr;
    std::size_t bytes = 0;
    std::uint64_t age_frames = 0;
    tag owner;
    void* const* stack = nullptr; ///< return addresses of the allocating call; checked builds only
    std::size_t stack_count = 0;
};

/// Receives each leaked block once. Called inside next_frame(), on its thread, with no lock held. It may allocate and
/// free, including the reported block unless other code frees it. It must not call next_frame().
using temp_job_leak_handler = void (*)(const temp_job_leak&) noexcept;

/// Figures of TempJob in the whole process.
struct temp_job_stats {
    std::size_t live_count = 0;       ///< allocated blocks, as of this call
    std::size_t live_bytes = 0;       ///< their requested bytes
    std::size_t chunk_bytes = 0;      ///< bytes of chunks held, retained ones included
    std::size_t retained_bytes = 0;   ///< of these, bytes of retained empty chunks
    std::uint64_t overflow_count = 0; ///< blocks allocated one by one because no chunk was available
    std::uint64_t overflow_bytes = 0;
    std::uint64_t leaked_count = 0; ///< blocks reported as leaks
};

namespace detail {

/// The word in front of each block, written once before the block is returned.
struct temp_job_word {
    static constexpr unsigned tag_shift = tag_shift_in_word;
    static constexpr unsigned frame_shift = 48;
    static constexpr std::uint64_t frame_mask = 0xFFF;
    static constexpr std::uint64_t size_mask = 0xFFFF'FFFF;
    static constexpr std::uint64_t direct = std::uint64_t{1} << 63; ///< not in a chunk: allocated by itself
    static constexpr std::uint64_t large = std::uint64_t{1} << 62;  ///< its size is in its chunk's header
};
// Relaxed: the state is released after it, and who has the block has it since it was written.
using temp_job_header = atomic<std::uint64_t>;
static_assert(sizeof(temp_job_header) == 8);

/// A block's state is in one byte of its chunk per 16 bytes, not in the block. A thread that frees another thread's
/// block then writes to a cache line that 64 blocks share, not to the line that the owner will write next. Marks in the
/// blocks themselves cost four times as much. A free stores only `none`; only the owner stores `live`.
enum class job_state : unsigned char { none = 0, live = 1, reported = 2 };
// Released with the header, and by a free with what its thread did; acquired by next_frame() and before a chunk is
// reused.
using job_state_byte = atomic<job_state>;

/// Chunks are at multiples of this, and every block starts within this many bytes of its chunk's start.
constexpr std::size_t job_chunk_alignment = 64 * 1024;
constexpr std::size_t job_state_count = job_chunk_alignment / default_alignment;

/// The state table follows the chunk's header.
constexpr std::size_t job_states_offset = cache_line_bytes;

/// The state of the block whose bytes are at `bytes_at`.
[[nodiscard]] inline job_state_byte& state_of(std::uintptr_t bytes_at) noexcept {
    const std::uintptr_t table = align_down(bytes_at, job_chunk_alignment) + job_states_offset;
    const std::size_t index = (bytes_at & (job_chunk_alignment - 1)) / default_alignment;
    return *static_cast<job_state_byte*>(pointer_at(table + index));
}

}

/// TempJob as an allocator. It has no state of its own: every object of this class is the process's TempJob.
class temp_job {
public:
    /// Bytes in front of each block.
    static constexpr std::size_t prefix_bytes = checks::caller ? 80 : sizeof(detail::temp_job_header);

    /// Zero bytes count as one.
    /// Requires  `alignment` is a power of two.
    /// Returns   memory valid until it is deallocated; nullptr when out of memory.
    [[nodiscard]] TENURE_LOCAL static void* allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept;

    /// Frees a block, from any thread. nullptr is allowed and does nothing.
    TENURE_LOCAL static void deallocate(void* block) noexcept;
    /// The same with the size of the allocation, which checked builds compare.
    TENURE_LOCAL static void deallocate(void* block, std::size_t bytes, std::size_t = default_alignment) noexcept {
        if constexpr (checks::caller) return deallocate_sized(block, bytes, bytes);
        deallocate(block);
    }
    /// Frees an object that may be of a class derived from the one that takes `least_bytes`. Checked builds report a
    /// block that is smaller.
    TENURE_LOCAL static void deallocate_at_least(void* block, std::size_t least_bytes) noexcept {
        if constexpr (checks::caller) return deallocate_sized(block, least_bytes, max_object_bytes);
        deallocate(block);
    }

    /// Memory for `count` elements. Nothing is constructed in it: T needs no constructor. Free it with deallocate().
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T> allocate(std::size_t count) noexcept {
        return detail::allocate_elements<T>(count, [](std::size_t bytes, std::size_t alignment) noexcept {
            return temp_job::allocate(bytes, alignment);
        });
    }
    template<class T>
    TENURE_LOCAL static void deallocate(std::span<T> elements) noexcept {
        temp_job::deallocate(elements.data(), elements.size_bytes(), alignof(T));
    }
    /// Constructs an object. Returns   nullptr when out of memory. When the constructor throws, the memory is freed.
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL static T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        return detail::make_object<T>(
            [](std::size_t bytes, std::size_t alignment) noexcept { return temp_job::allocate(bytes, alignment); },
            [](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                temp_job::deallocate(block, bytes, alignment);
            },
            std::forward<Arguments>(arguments)...);
    }
    /// Destroys an object of make(). nullptr is allowed and does nothing. Requires  T is its type, or a base of it with
    /// a virtual destructor.
    template<class T>
    TENURE_LOCAL static void destroy(T* object) noexcept {
        if (object == nullptr) return;
        void* const block = detail::whole_object(object);
        object->~T();
        if constexpr (std::has_virtual_destructor_v<T>) {
            temp_job::deallocate_at_least(block, sizeof(T));
        } else {
            temp_job::deallocate(block, sizeof(T), alignof(T));
        }
    }
    /// Constructs `count` elements as T() does: numbers are zero.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL static std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        return detail::make_elements<T>(
            count,
            [](std::size_t bytes, std::size_t alignment) noexcept { return temp_job::allocate(bytes, alignment); },
            [](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                temp_job::deallocate(block, bytes, alignment);
            });
    }
    /// Destroys the elements of make_array(), last first, and frees their memory.
    template<class T>
    TENURE_LOCAL static void destroy_array(std::span<T> elements) noexcept {
        detail::destroy_elements(elements.data(), elements.size());
        deallocate(elements);
    }

    static constexpr std::size_t max_warm_up_bytes = std::size_t{1} << 30;

    /// Prepares chunks, so that the calling thread's next `bytes` of blocks up to 16 KiB do not wait for the operating
    /// system. Each block counts with 8 bytes more, rounded up to 16. Chunks past the thread's first may serve other
    /// threads.
    /// Returns   false if not all were prepared: when out of memory, which releases all unused chunks, and for more
    ///           than max_warm_up_bytes. With option `passthrough` there is nothing to prepare, and the answer is true.
    /// Cost      a page fault or less per OS page that was not touched before.
    TENURE_API static bool warm_up(std::size_t bytes) noexcept;

    /// Releases empty chunks, and the Temp memory retained from ended threads. Returns   the bytes released.
    /// Cost      O(threads + chunks).
    TENURE_API static std::size_t trim() noexcept;

    /// Cost      O(threads + chunks), with a lock: for assertions and tests.
    [[nodiscard]] TENURE_API static bool owns(const void* pointer) noexcept;

    /// Cost      O(live blocks), with a lock.
    [[nodiscard]] TENURE_API static temp_job_stats stats() noexcept;

    /// Calls `visit(context, leak)` for every allocated block, whatever its age. A block that another thread frees
    /// during the call may or may not be visited. `visit` must not use TempJob.
    TENURE_API static void for_each_live(void (*visit)(void* context, const temp_job_leak&), void* context) noexcept;

    /// Installs a leak handler; nullptr restores the default, which reports each leak (report_kind::leak).
    /// Returns   the former handler.
    TENURE_API static temp_job_leak_handler set_leak_handler(temp_job_leak_handler) noexcept;

    /// Takes chunks from another source from now on.
    /// Requires  the source serves any thread (checked builds reject one that does not), outlives the process's use of
    ///           TempJob and Temp, and uses neither itself.
    TENURE_API static void set_source(block_source&) noexcept;

    /// Whether all chunks are consistent. Cost      O(blocks), with a lock.
    [[nodiscard]] TENURE_API static bool valid() noexcept;

private:
    [[nodiscard]] TENURE_API static void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    TENURE_API static void deallocate_slow(void* block) noexcept;
    TENURE_API static void deallocate_sized(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept;
};

inline void* temp_job::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (!checks::caller) {
        detail::job_front& job = *detail::this_thread().job;
        const std::uintptr_t begin = job.cursor.load(detail::memory_order::relaxed);
        const std::size_t stride = align_up(prefix_bytes + bytes + (bytes == 0), default_alignment);
        const std::uintptr_t end = begin + stride;
        const bool ordinary = alignment <= default_alignment && bytes <= detail::temp_job_word::size_mask;
        if (ordinary && end <= job.limit.load(detail::memory_order::relaxed)) [[likely]] {
            auto* const header = static_cast<detail::temp_job_header*>(pointer_at(begin));
            header->store(job.word | bytes, detail::memory_order::relaxed);
            // Release: a thread that sees the block live also sees its header.
            detail::state_of(begin + prefix_bytes).store(detail::job_state::live, detail::memory_order::release);
            job.cursor.store(end, detail::memory_order::release); // next_frame() sees the blocks before the cursor
            return pointer_at(begin + prefix_bytes);
        }
    }
    return allocate_slow(bytes, alignment);
}

inline void temp_job::deallocate(void* block) noexcept {
    if constexpr (checks::caller) return deallocate_slow(block);
    if (block == nullptr) return;
    auto* const header = static_cast<detail::temp_job_header*>(pointer_at(address_of(block) - sizeof(std::uint64_t)));
    if ((header->load(detail::memory_order::relaxed) & detail::temp_job_word::direct) != 0) [[unlikely]]
        return deallocate_slow(block);
    detail::job_state_byte& state = detail::state_of(address_of(block));
    if (state.load(detail::memory_order::relaxed) == detail::job_state::none) [[unlikely]]
        return deallocate_slow(block);
    // Release: this thread's accesses to the block happen before the owner reuses it.
    state.store(detail::job_state::none, detail::memory_order::release);
}

}
