// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The part of a thread's Temp and TempJob that the inline paths use.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct thread_record;

/// Position of a thread's next TempJob block. It is in the thread's record and not in thread-local storage, because
/// next_frame() reads it and closes it from another thread, possibly after this thread has ended.
struct job_front {
    // Released after each block, acquired by next_frame().
    atomic<std::uintptr_t> cursor{0}; ///< only the owner writes it
    /// End of the current chunk. next_frame() sets it to zero, so that the owner's next request sees the new frame.
    // Relaxed: an owner that misses the zero allocates one more block in the frame before.
    atomic<std::uintptr_t> limit{0};
    std::uint64_t word = 0; ///< frame and owner tag, ready to combine with a block's size; only the owner uses it
};

/// Used by threads without a record. It is always full.
extern TENURE_API constinit job_front no_job_front;

/// Position in a stack of Temp whose position is not in the thread-local words below.
struct temp_position {
    std::uintptr_t cursor = 0; ///< these four as in thread_lifetimes
    std::uintptr_t limit = 0;
    std::uint64_t chunk = 0;
    std::uintptr_t floor = 0;
};

/// The part of a thread's two stacks (scratch.hpp) that the inline paths use. A temp_state has one of its own.
struct temp_front {
    temp_position second; ///< of the second stack
    temp_position first;  ///< of the first, while it is not the calling thread's
    /// In checked builds: changes when memory of the first stack ends, to a value that no other stack has. Zero: none
    /// has ended yet.
    std::uint64_t first_ends = 0;
};

/// Used by threads without a record. Its second stack is always full.
extern TENURE_API constinit temp_front no_temp_front;

/// Thread-local state that no other thread touches. Limits of zero send every request to the slow path, which handles
/// passthrough and new frames.
struct alignas(cache_line_bytes) thread_lifetimes {
    std::uintptr_t temp_cursor = 0; ///< start of the next Temp block
    std::uintptr_t temp_limit = 0;  ///< end of the committed memory
    std::uint64_t temp_chunk = 0;   ///< number of the newest overflow chunk; zero in the thread's own range
    std::uintptr_t temp_floor = 0;  ///< start of that chunk's first block; zero in the thread's own range
    job_front* job = &no_job_front;
    thread_record* record = nullptr;
    temp_front* stacks = &no_temp_front;
};
static_assert(sizeof(thread_lifetimes) == cache_line_bytes);

TENURE_DECLARE_THREAD_LOCAL(thread_lifetimes, this_thread)

}
