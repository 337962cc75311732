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

/// One cache line of thread-local state, zero until the thread's first slow call: limits of zero send every request
/// to the slow path, which is also how the passthrough detour and a new frame are noticed.
struct alignas(cache_line_bytes) thread_lifetimes {
    std::uintptr_t temp_cursor = 0;    ///< where the next Temp block begins
    std::uintptr_t temp_limit = 0;     ///< end of what is committed
    const void* temp_region = nullptr; ///< null in the thread's own range; else the newest overflow chunk
    std::uintptr_t temp_floor = 0;     ///< where that chunk's first block lies; zero in the thread's own range

    /// Where the next TempJob block begins. Written by the owner alone; others read it to see how far a chunk is used.
    std::atomic<std::uintptr_t> job_cursor{0};
    /// End of the current chunk. next_frame() sets it to zero so that the owner's next request sees the new frame.
    std::atomic<std::uintptr_t> job_limit{0};
    /// Frame and owner tag, ready to be combined with a block's size.
    std::uint64_t job_word = 0;
    thread_record* record = nullptr;
};
static_assert(sizeof(thread_lifetimes) == cache_line_bytes);

extern TENURE_API TENURE_THREAD_LOCAL thread_lifetimes this_thread TENURE_TLS_MODEL;

}
