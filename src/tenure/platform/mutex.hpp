// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// mutex: a four-byte lock that calls the kernel only to wait and to wake.
///
/// The heap uses it instead of std::mutex, whose failures throw: a drop-in malloc must not link the C++ library. The
/// child of a fork() can reset a lock that a thread of the parent held, because the lock is only its word.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Based on Drepper, "Futexes are tricky" (2011), the second of its mutexes, with a short spin before waiting.
///
/// Cost      about 10 ns for an uncontended lock and unlock.
/// Threads   any; neither recursive nor fair.
/// Checks    from level 2 on it records its holder, and reports an unlock by another thread.
class TENURE_API mutex {
public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    TENURE_LOCAL void lock() noexcept {
        if (!try_lock()) wait();
        if constexpr (checks::invariants) note_holder();
    }
    TENURE_LOCAL void unlock() noexcept {
        if constexpr (checks::invariants) check_holder();
        if (word_.exchange(is_free, std::memory_order_release) == is_awaited) wake();
    }

    /// Frees the lock regardless of its holder. Requires  no other thread can access it: a child after fork().
    void abandon() noexcept { word_.store(is_free, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t is_free = 0, is_held = 1, is_awaited = 2;

    [[nodiscard]] TENURE_LOCAL bool try_lock() noexcept {
        std::uint32_t expected = is_free;
        return word_.compare_exchange_strong(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void wait() noexcept;
    void wake() noexcept;
    void note_holder() noexcept;
    void check_holder() const noexcept;

    struct nobody {};
    using holder = std::conditional_t<checks::invariants, std::atomic<const void*>, nobody>;

    std::atomic<std::uint32_t> word_{is_free};
    [[no_unique_address]] holder holder_{};
};

using lock_guard = std::lock_guard<mutex>;

}
