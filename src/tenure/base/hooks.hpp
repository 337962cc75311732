// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Hooks: a program's own functions at the begin and end of each slow call and of each block, for Tracy, Perfetto or
/// counters of its own.
///
/// Slow calls     are the calls that do not come from a thread's cache or the current chunk: refills, new chunks and
///                segments, large blocks, flushes. They are what makes a frame's allocations take long.
/// Blocks         of heaps are told one by one, also those of make(), persistent, tn_malloc and direct blocks of
///                TempJob: the address and the size that the caller knows. Of the other parts, what they take from
///                page_source is told as one block, a chunk or a segment: Temp past its range, TempJob, arenas,
///                frame_memory, pools, groups, paged_writer. Not told: the memory of heaps themselves; ranges of
///                addresses that are reserved once (the range of Temp, handle_pool, stable_vector, huge_array); what
///                a source of the program returns. Option passthrough makes each object of Temp, TempJob, arenas,
///                pools and groups a block of malloc, which is told.
/// With blocks    budgets, limits and statistics by tag hold as before. Threads allocate from heaps without a cache,
///                under a lock: a block of 64 bytes takes 80 ns instead of 5. Plain builds sample no blocks.
/// Cost           without hooks: nothing on the inline paths, a load and a test per slow call. With hooks: their own
///                time.
/// Threads        hooks are called on the thread of the call, at the same time on several threads. Slow calls of a
///                shared pool, and its blocks of malloc, are told without its lock. Chunks of other parts are told
///                under the lock of the part that takes them, so hooks must not call the library.
/// Example        examples/hooks.cpp

#include <cstddef>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

/// Each function may be nullptr. Every call_end follows its call_begin on the same thread; calls nest.
struct allocation_hooks {
    /// `what` names the part, as "of Temp" or "a block of TempJob"; the text lives as long as the process. `bytes` is
    /// zero in frees.
    void (*call_begin)(std::string_view what, std::size_t bytes, void* context) noexcept = nullptr;
    void (*call_end)(std::string_view what, void* context) noexcept = nullptr;
    void (*block_begin)(const void* block, std::size_t bytes, void* context) noexcept = nullptr;
    void (*block_end)(const void* block, void* context) noexcept = nullptr;
    void* context = nullptr;
};

/// Installs hooks, or none for nullptr. Call it when the program starts: a slow call or block that has begun before is
/// not reported. For block hooks, the calling thread returns what it has cached of the process heap; other threads, and
/// other heaps, do so at their next slow call, and until then blocks from their caches are not told.
/// Requires  `hooks` is valid until the process ends; another thread may use it still after the next set_hooks().
TENURE_API void set_hooks(const allocation_hooks* hooks) noexcept;

namespace detail {

// set_hooks() releases the pointer with its table. Who calls a hook acquires it; a relaxed load only asks for null.
extern TENURE_API constinit detail::atomic<const allocation_hooks*> installed_hooks;

/// Begins and ends with a slow call. `is_told`: false inside another one that tells, which may hold a lock.
class hooked_call {
public:
    hooked_call(std::string_view what, std::size_t bytes, bool is_told = true) noexcept
        : hooks_(is_told ? installed_hooks.load(detail::memory_order::acquire) : nullptr) {
        if (hooks_ != nullptr) [[unlikely]]
            begin(what, bytes);
    }
    ~hooked_call() {
        if (hooks_ != nullptr) [[unlikely]]
            end();
    }
    hooked_call(const hooked_call&) = delete;
    hooked_call& operator=(const hooked_call&) = delete;

private:
    TENURE_API TENURE_COLD void begin(std::string_view what, std::size_t bytes) noexcept;
    TENURE_API TENURE_COLD void end() const noexcept;

    const allocation_hooks* hooks_;
    std::string_view what_;
};

/// Whether hooks for blocks are installed.
[[nodiscard]] TENURE_API TENURE_COLD bool has_block_hooks() noexcept;
[[nodiscard]] inline bool tells_blocks() noexcept {
    if (installed_hooks.load(detail::memory_order::relaxed) == nullptr) [[likely]]
        return false;
    return has_block_hooks();
}
/// Called by set_hooks() on its thread, once the process heap is in use: empties the thread's cache.
// Released and acquired; it points to code and is set while the library is loaded.
extern TENURE_API constinit detail::atomic<void (*)() noexcept> follow_block_hooks;

/// While a heap calls its source: its blocks are told, and not the memory that they are in.
class untold_source {
public:
    untold_source() noexcept : is_set_(tells_blocks()) {
        if (is_set_) [[unlikely]]
            change(1);
    }
    ~untold_source() {
        if (is_set_) [[unlikely]]
            change(-1);
    }
    untold_source(const untold_source&) = delete;
    untold_source& operator=(const untold_source&) = delete;
    /// Whether what the calling thread acquires from a source is told.
    [[nodiscard]] TENURE_API TENURE_COLD static bool is_told() noexcept;

private:
    TENURE_API TENURE_COLD static void change(int by) noexcept;
    bool is_set_;
};

TENURE_API TENURE_COLD void tell_block_begin(const void* block, std::size_t bytes) noexcept;
TENURE_API TENURE_COLD void tell_block_end(const void* block) noexcept;

inline void note_block_begin(const void* block, std::size_t bytes) noexcept {
    if (installed_hooks.load(detail::memory_order::relaxed) != nullptr) [[unlikely]]
        tell_block_begin(block, bytes);
}
inline void note_block_end(const void* block) noexcept {
    if (installed_hooks.load(detail::memory_order::relaxed) != nullptr) [[unlikely]]
        tell_block_end(block);
}

}

}
