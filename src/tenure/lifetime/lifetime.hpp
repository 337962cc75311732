// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory by how long it is held: Temp, TempJob and Persistent (heap/heap.hpp), and the frames that end the first two.

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/construct.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/lifetime/temp_job.hpp>

namespace tenure::inline TENURE_ABI {

enum class lifetime : unsigned char {
    temp,       ///< until the end of the frame, one thread: lifetime/temp.hpp
    temp_job,   ///< a few frames, any thread: lifetime/temp_job.hpp
    persistent, ///< until it is freed, any thread: heap/heap.hpp
};

namespace detail {
/// Reports, in checked builds, a block of Temp or TempJob freed as persistent. Returns   whether the block is neither.
[[nodiscard]] TENURE_API bool check_persistent(void* block) noexcept;

TENURE_LOCAL inline void deallocate_persistent(void* block) noexcept {
    if (checks::caller && !check_persistent(block)) return;
    process_deallocate(block);
}
TENURE_LOCAL inline void deallocate_persistent(void* block, std::size_t bytes) noexcept {
    if (checks::caller && !check_persistent(block)) return;
    process_deallocate(block, bytes, default_alignment);
}
}

/// Allocates memory with a lifetime. Zero bytes count as one.
/// Requires  `alignment` is a power of two.
/// Returns   nullptr when out of memory; nothing has changed then.
[[nodiscard]] TENURE_LOCAL inline void* allocate(std::size_t bytes, lifetime held,
                                                 std::size_t alignment = default_alignment) noexcept {
    switch (held) {
    case lifetime::temp: return temp::allocate(bytes, alignment);
    case lifetime::temp_job: return temp_job::allocate(bytes, alignment);
    case lifetime::persistent: break;
    }
    return detail::process_allocate(bytes, alignment);
}

/// Frees a block of a known size. Temp rewinds if it is the newest block; otherwise it does nothing.
/// Requires  `bytes` and `held` are those of the allocation. nullptr is allowed and does nothing.
TENURE_LOCAL inline void deallocate(void* block, std::size_t bytes, lifetime held) noexcept {
    switch (held) {
    case lifetime::temp: return temp::deallocate(block, bytes);
    case lifetime::temp_job: return temp_job::deallocate(block, bytes);
    case lifetime::persistent: break;
    }
    detail::deallocate_persistent(block, bytes);
}

/// Frees a block. Temp does nothing until its scope, reset or frame ends.
TENURE_LOCAL inline void deallocate(void* block, lifetime held) noexcept {
    switch (held) {
    case lifetime::temp: return temp::deallocate(block);
    case lifetime::temp_job: return temp_job::deallocate(block);
    case lifetime::persistent: break;
    }
    detail::deallocate_persistent(block);
}

/// Memory for `count` elements with a lifetime. Nothing is constructed in it: T needs no constructor.
/// Returns   an empty span when out of memory.
template<class T>
[[nodiscard]] TENURE_LOCAL inline std::span<T> allocate(std::size_t count, lifetime held) noexcept {
    return detail::allocate_elements<T>(count, [held](std::size_t bytes, std::size_t alignment) noexcept {
        return tenure::allocate(bytes, held, alignment);
    });
}
/// Frees the elements of allocate<T>(). An empty span is allowed.
template<class T>
TENURE_LOCAL inline void deallocate(std::span<T> elements, lifetime held) noexcept {
    tenure::deallocate(const_cast<std::remove_cv_t<T>*>(elements.data()), elements.size_bytes(), held);
}

/// Constructs an object with a lifetime. To pass a lifetime to the constructor of an object on the process heap, name
/// both: make<T>(lifetime::persistent, lifetime::temp).
/// Requires  destroy() is called before the memory ends if T has a destructor: Temp runs none.
/// Returns   nullptr when out of memory. When the constructor throws, the memory is freed.
template<class T, class... Arguments>
[[nodiscard]] TENURE_LOCAL inline T*
make(lifetime held, Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    return detail::make_object<T>(
        [held](std::size_t bytes, std::size_t alignment) noexcept { return tenure::allocate(bytes, held, alignment); },
        [held](void* block, std::size_t bytes, std::size_t) noexcept { tenure::deallocate(block, bytes, held); },
        std::forward<Arguments>(arguments)...);
}
/// Destroys an object and frees its memory. nullptr is allowed and does nothing.
/// Requires  `held` is the lifetime of the object, and T its type, or a base of it with a virtual destructor.
template<class T>
TENURE_LOCAL inline void destroy(T* object, lifetime held) noexcept {
    if (object == nullptr) return;
    void* const block = detail::whole_object(object);
    object->~T();
    if constexpr (std::has_virtual_destructor_v<T>) {
        switch (held) {
        case lifetime::temp: return temp::deallocate_at_least(block, sizeof(T));
        case lifetime::temp_job: return temp_job::deallocate_at_least(block, sizeof(T));
        case lifetime::persistent: break;
        }
        detail::deallocate_persistent(block);
    } else {
        tenure::deallocate(block, sizeof(T), held);
    }
}

/// Constructs `count` elements with a lifetime, as T() does: numbers are zero.
/// Requires  destroy_array() is called before the memory ends if T has a destructor: Temp runs none.
/// Returns   an empty span when out of memory.
template<class T>
[[nodiscard]] TENURE_LOCAL inline std::span<T>
make_array(std::size_t count, lifetime held) noexcept(std::is_nothrow_default_constructible_v<T>) {
    return detail::make_elements<T>(
        count,
        [held](std::size_t bytes, std::size_t alignment) noexcept { return tenure::allocate(bytes, held, alignment); },
        [held](void* block, std::size_t bytes, std::size_t) noexcept { tenure::deallocate(block, bytes, held); });
}
/// Destroys the elements, last first, and frees their memory.
template<class T>
TENURE_LOCAL inline void destroy_array(std::span<T> elements, lifetime held) noexcept {
    detail::destroy_elements(elements.data(), elements.size());
    tenure::deallocate(elements, held);
}

/// Ends a frame: ages TempJob by one frame, reports blocks that outlived their frames, and empties this thread's Temp.
/// Cost      O(threads + chunks), and two reads of each block's header over the block's life.
/// Threads   call it from one thread, once a frame; other threads may allocate and free during the call.
TENURE_API void next_frame() noexcept;

/// Empties the calling thread's Temp. Call it on worker threads after each job.
TENURE_LOCAL inline void reset_temp() noexcept { temp::reset(); }

/// Prepares the calling thread for `bytes` of a lifetime: temp::warm_up() or temp_job::warm_up(). Without it, a
/// thread's first blocks wait for system calls and page faults. Persistent opens only the thread's cache, whatever
/// `bytes` says. Returns   whether the memory is ready.
TENURE_API bool warm_up(std::size_t bytes, lifetime held) noexcept;

/// Memory that belongs to one owner tag.
struct tag_usage {
    std::uint64_t temp_bytes = 0;   ///< total ever allocated from Temp under the tag, less what sized frees took back;
                                    ///< each thread's share is as of its last change of tag, scope end, reset or
                                    ///< overflow
    std::size_t temp_job_count = 0; ///< live blocks in TempJob
    std::size_t temp_job_bytes = 0;
    std::size_t persistent_count = 0; ///< allocated blocks of the process heap; exact while no other thread uses it
    std::size_t persistent_bytes = 0; ///< their bytes, including rounding
};

/// Cost      O(live TempJob blocks), with a lock.
[[nodiscard]] TENURE_API tag_usage usage_of(tag) noexcept;

}
