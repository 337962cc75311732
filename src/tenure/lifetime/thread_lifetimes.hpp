// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a thread keeps of its Temp and TempJob where the inline paths reach it. Private to this room.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct thread_record;

/// Where a thread's next TempJob block lies. It is in the thread's record and not in its thread-local state, because
/// next_frame() reads and closes it from another thread, which may be after this one's end.
struct job_front {
    std::atomic<std::uintptr_t> cursor{0}; ///< written by the owner alone
    /// End of the current chunk. next_frame() sets it to zero so that the owner's next request sees the new frame.
    std::atomic<std::uintptr_t> limit{0};
    std::uint64_t word = 0; ///< frame and owner tag, ready to be combined with a block's size; the owner's alone
};

/// What a thread without a record has: it is always full.
extern TENURE_API constinit job_front no_job_front;

/// Thread-local state, never touched by another thread. Limits of zero send every request to the slow path, which is
/// also how the passthrough detour and a new frame are noticed.
struct alignas(cache_line_bytes) thread_lifetimes {
    std::uintptr_t temp_cursor = 0; ///< where the next Temp block begins
    std::uintptr_t temp_limit = 0;  ///< end of what is committed
    std::uint64_t temp_chunk = 0;   ///< number of the newest overflow chunk; zero in the thread's own range
    std::uintptr_t temp_floor = 0;  ///< where that chunk's first block lies; zero in the thread's own range
    job_front* job = &no_job_front;
    thread_record* record = nullptr;
};
static_assert(sizeof(thread_lifetimes) == cache_line_bytes);

extern TENURE_API TENURE_THREAD_LOCAL thread_lifetimes this_thread TENURE_TLS_MODEL;

}
