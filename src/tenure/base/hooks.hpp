// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Hooks: a program's own functions at the begin and end of each slow call and of each block, for Tracy, Perfetto or
/// counters of its own.
///
/// Slow calls     are the calls that do not come from a thread's cache or the current chunk: refills, new chunks and
///                segments, large blocks, flushes. They are what makes a frame's allocations take long.
/// Blocks         are reported when `block_begin` or `block_end` is set: set_hooks() then turns passthrough on for all
///                parts that have not allocated yet (option passthrough), so every block comes from malloc through one
///                place. The address is that of malloc's block, which may begin before the caller's.
/// Cost           without hooks: nothing on the inline paths, a load and a test per slow call. With hooks: their own
///                time; blocks also what passthrough costs.
/// Threads        hooks are called on the thread of the call, at the same time on several threads. Those of a pool,
/// also
///                a shared one, are called without its lock. Hooks must not allocate from the part that calls them:
///                they would be called again.
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
/// not reported, and passthrough does not reach parts that have allocated.
/// Requires  `hooks` is valid until the process ends; another thread may use it still after the next set_hooks().
TENURE_API void set_hooks(const allocation_hooks* hooks) noexcept;

namespace detail {

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

/// A block of the process's malloc.
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
