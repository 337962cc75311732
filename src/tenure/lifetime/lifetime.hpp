// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory by how long it is held: Temp, TempJob, Persistent, and the frames that Temp and TempJob live by.
///
/// Persistent memory is the process heap's: heap/heap.hpp.

#include <cstddef>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/lifetime/temp_job.hpp>

namespace tenure::inline TENURE_ABI {

enum class lifetime : unsigned char {
    temp,       ///< this frame, this thread: lifetime/temp.hpp
    temp_job,   ///< a few frames, any thread: lifetime/temp_job.hpp
    persistent, ///< until it is freed, any thread: heap/heap.hpp
};

namespace detail {
/// Says, in checked builds, when a block of Temp or TempJob is freed as persistent. Returns   whether it is not one.
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

/// Requires  `alignment` is a power of two. Zero bytes count as one.
/// Returns   null when refused, and then nothing has changed.
[[nodiscard]] TENURE_LOCAL inline void* allocate(std::size_t bytes, lifetime held,
                                                 std::size_t alignment = default_alignment) noexcept {
    switch (held) {
    case lifetime::temp: return temp::allocate(bytes, alignment);
    case lifetime::temp_job: return temp_job::allocate(bytes, alignment);
    case lifetime::persistent: break;
    }
    return detail::process_allocate(bytes, alignment);
}

/// Takes back a block of a known size. Temp rewinds when it is the newest block, else does nothing.
/// Requires  `bytes` and `held` are what the block was allocated with. Null is allowed and does nothing.
TENURE_LOCAL inline void deallocate(void* block, std::size_t bytes, lifetime held) noexcept {
    switch (held) {
    case lifetime::temp: return temp::deallocate(block, bytes);
    case lifetime::temp_job: return temp_job::deallocate(block);
    case lifetime::persistent: break;
    }
    detail::deallocate_persistent(block, bytes);
}

/// Takes back a block. Temp does nothing until its scope, reset or frame ends.
TENURE_LOCAL inline void deallocate(void* block, lifetime held) noexcept {
    switch (held) {
    case lifetime::temp: return temp::deallocate(block);
    case lifetime::temp_job: return temp_job::deallocate(block);
    case lifetime::persistent: break;
    }
    detail::deallocate_persistent(block);
}

/// Ends a frame: TempJob ages by one and what has outlived its frames is reported, the caller's Temp is emptied.
/// Cost      O(threads + chunks) and, over a block's life, two looks at its header.
/// Threads   one thread, once a frame; others may allocate and free meanwhile.
TENURE_API void next_frame() noexcept;

/// Empties the calling thread's Temp: for worker threads, once a job.
TENURE_LOCAL inline void reset_temp() noexcept { temp::reset(); }

/// What the blocks of one owner tag amount to.
struct tag_usage {
    std::uint64_t temp_bytes = 0;   ///< allocated from Temp under the tag and not taken back by a free that names its
                                    ///< size, in the process, ever, as of each thread's last change of tag, scope
                                    ///< end, reset or overflow
    std::size_t temp_job_count = 0; ///< blocks alive in TempJob
    std::size_t temp_job_bytes = 0;
    std::size_t persistent_count = 0; ///< blocks in use of the process heap; exact when no thread is at work
    std::size_t persistent_bytes = 0; ///< their bytes, with what rounding adds
};

/// Cost      O(live TempJob blocks), with a lock.
[[nodiscard]] TENURE_API tag_usage usage_of(tag) noexcept;

}
