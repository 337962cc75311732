// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory by how long it is held: Temp, TempJob and Persistent (heap/heap.hpp), and the frames that end the first two.

#include <cstddef>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap.hpp>
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
    case lifetime::temp_job: return temp_job::deallocate(block);
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
