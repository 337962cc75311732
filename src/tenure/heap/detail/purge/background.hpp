// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The background thread: returns free memory of all heaps to the system while the program does something else.
///
/// It exists only while there is something to return: a slow call starts it when a heap has 4 MiB that became free, and
/// it ends when two sweeps in a row returned nothing and little became free; and while a heap profile is saved at
/// intervals (TENURE_PROFILE_EVERY_MS), because it saves the files of a program that allocates nothing. It allocates
/// nothing, has no cache, blocks all signals and has a stack of 64 KiB beside the thread-local variables. The child of
/// a fork has none until it needs one. Nothing waits for it at the end of a program that contains the library. The
/// unloading of a plug-in with its own copy wakes and joins it.

#include <atomic>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class heap_core;

/// Calls `visit(context, core)` for every heap, without a lock; a heap that is destroyed meanwhile waits for its visit.
void visit_cores(void (*visit)(void* context, heap_core& core) noexcept, void* context) noexcept;

enum class background_state : std::uint8_t {
    none,
    wanted,
    running,
    refused, ///< the system was short of threads or memory: another start is tried later
    impossible
};
// Released with what the thread has written, acquired by who starts the next one. Its end and a free are sequentially
// consistent: see heap_memory::note_freed(). Relaxed loads only ask whether it is worth a look.
extern TENURE_API std::atomic<background_state> background;

/// Whether the system, which has refused the thread, may be asked again: after a second, then at longer intervals, up
/// to a minute.
[[nodiscard]] TENURE_API TENURE_COLD bool may_retry_background() noexcept;

[[nodiscard]] TENURE_LOCAL inline bool can_want_background() noexcept {
    // After heap_memory::note_freed(), which see.
    const background_state seen = background.load(std::memory_order_seq_cst);
    return seen == background_state::none || (seen == background_state::refused && may_retry_background());
}

/// Asks for the thread, under any lock: a slow call then starts it.
inline void want_background() noexcept {
    // Relaxed: it reads nothing else, and as a read-modify-write it passes on what the end of the thread before has
    // released to start_background().
    background_state expected = background_state::none;
    if (background.compare_exchange_strong(expected, background_state::wanted, std::memory_order_relaxed)) return;
    if (expected == background_state::refused)
        background.compare_exchange_strong(expected, background_state::wanted, std::memory_order_relaxed);
}

[[nodiscard]] TENURE_LOCAL inline bool is_background_wanted() noexcept {
    return background.load(std::memory_order_relaxed) == background_state::wanted;
}

/// Starts the thread if it is wanted. The start allocates and takes locks of the C library, so it must not happen in a
/// free() that the C library itself has called, or under a lock of a heap.
TENURE_API TENURE_COLD void start_background() noexcept;

/// For forks: see platform::own_thread. While the thread pauses it holds no lock, and no memory is hidden by a sweep.
[[nodiscard]] bool try_pause_background() noexcept;
void go_on_in_background() noexcept;
/// In the child of a fork, which has inherited no thread.
void forget_background() noexcept;

/// Whether the thread exists now.
[[nodiscard]] inline bool is_background_running() noexcept {
    return background.load(std::memory_order_relaxed) == background_state::running;
}

}
