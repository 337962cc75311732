// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// mutex: an eight-byte lock that calls the kernel only to wait and to wake.
///
/// The heap uses it instead of std::mutex, whose failures throw: a drop-in malloc must not link the C++ library. The
/// child of a fork() can reset a lock that a thread of the parent held, because the lock is only its word.

#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A number that no other live thread of the process has: an even address in the thread's own control block.
/// Cost      one instruction.
[[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE std::uint64_t this_thread_number() noexcept {
#if defined(_WIN32)
    constexpr std::uintptr_t place_of_own_address = 0x30; // in the thread control block of 64-bit Windows
    return detail::thread_block_word(place_of_own_address);
#else
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#endif
}

/// Based on Drepper, "Futexes are tricky" (2011), the second of its mutexes, with a short spin before waiting. The word
/// holds the number of the owner instead of a constant, so that a thread that would wait for itself is detected.
///
/// Cost      about 10 ns for an uncontended lock and unlock.
/// Threads   any; neither recursive nor fair. A thread that locks again what it holds is reported as misuse, and the
///           process ends: it would wait for ever. That is a signal handler that allocates and interrupted an
///           allocation, or a callback under the lock, such as a block source, that calls its own allocator.
/// Checks    from level 2 on it reports an unlock by a thread that does not hold it.
class TENURE_API mutex {
public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    TENURE_LOCAL void lock() noexcept {
        const std::uint64_t mine = this_thread_number();
        if (!try_lock(mine)) wait(mine);
    }
    /// Returns   whether the calling thread holds the lock now.
    [[nodiscard]] TENURE_LOCAL bool try_lock() noexcept { return try_lock(this_thread_number()); }
    TENURE_LOCAL void unlock() noexcept {
        if constexpr (checks::invariants) check_holder();
        if ((word_.exchange(unlocked, detail::memory_order::release) & is_awaited) != 0) wake();
    }

    /// Whether the calling thread holds the lock. It may be called in a signal handler.
    [[nodiscard]] TENURE_LOCAL bool is_mine() const noexcept {
        return (word_.load(detail::memory_order::relaxed) & ~is_awaited) == this_thread_number();
    }

    /// Whether nobody holds the lock, at one moment.
    [[nodiscard]] TENURE_LOCAL bool is_free() const noexcept {
        return word_.load(detail::memory_order::relaxed) == unlocked;
    }

    /// Whether other threads sleep until the lock is free. A thread that locks again at once would overtake them.
    [[nodiscard]] TENURE_LOCAL bool has_waiters() const noexcept {
        return (word_.load(detail::memory_order::relaxed) & is_awaited) != 0;
    }

    /// Frees the lock regardless of its holder. Requires  no other thread can access it: a child after fork().
    TENURE_COLD void abandon() noexcept;
    /// In the child of a fork in a signal handler that interrupted the holder of locks: abandon() leaves the locks of
    /// the calling thread, which goes on there.
    TENURE_LOCAL static bool keeps_mine;

private:
    static constexpr std::uint64_t unlocked = 0, is_awaited = 1; ///< the second is a bit beside the owner's number

    [[nodiscard]] TENURE_LOCAL bool try_lock(std::uint64_t as) noexcept {
        // Acquire: pairs with the release in unlock(). A failure reads nothing: wait() looks again.
        std::uint64_t expected = unlocked;
        return word_.compare_exchange_strong(expected, as, detail::memory_order::acquire,
                                             detail::memory_order::relaxed);
    }
    TENURE_COLD void wait(std::uint64_t mine) noexcept;
    TENURE_COLD void wake() noexcept;
    [[noreturn]] TENURE_COLD void report_own() const noexcept;
    void check_holder() const noexcept;

    // Acquired by try_lock() and wait(), released by unlock(); looks are relaxed.
    detail::atomic<std::uint64_t> word_{unlocked};
};

/// Holds a lock until the end of the scope.
class lock_guard {
public:
    [[nodiscard]] explicit lock_guard(mutex& held) noexcept : held_(held) { held_.lock(); }
    ~lock_guard() { held_.unlock(); }
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;

private:
    mutex& held_;
};

/// A limit on the time that one caller waits for locks in all, for code that must end even if a holder never does: at
/// the end of the program, threads may still run, or may have been stopped inside a call. Threads   one at a time.
class lock_patience {
public:
    /// For what is written at the end of the program: 0.1 s.
    static constexpr std::uint64_t at_exit_ns = 100'000'000;

    /// All waits together last about `limit_ns`. After that each lock gets one look.
    explicit constexpr lock_patience(std::uint64_t limit_ns) noexcept : looks_left_(limit_ns / between_looks_ns) {}

    /// Returns   whether the calling thread holds the lock now. False at once if it held it before.
    [[nodiscard]] bool try_lock(mutex& lock) noexcept {
        return !lock.is_mine() && waits_for([&] { return lock.try_lock(); });
    }
    /// Whether nobody holds the lock, at one moment: other threads may take it again.
    [[nodiscard]] bool sees_free(const mutex& lock) noexcept {
        return !lock.is_mine() && waits_for([&] { return lock.is_free(); });
    }
    template<class Condition>
    [[nodiscard]] bool waits_for(Condition&& condition) noexcept {
        while (!condition()) {
            if (looks_left_ == 0) return false;
            --looks_left_;
            rest();
        }
        return true;
    }

private:
    TENURE_API static void rest() noexcept;

    static constexpr std::uint64_t between_looks_ns = 100'000;
    std::uint64_t looks_left_;
};

/// A lock until the end of the scope, if the patience lasts.
class patient_lock {
public:
    [[nodiscard]] patient_lock(mutex& lock, lock_patience& patience) noexcept
        : held_(patience.try_lock(lock) ? &lock : nullptr) {}
    ~patient_lock() {
        if (held_ != nullptr) held_->unlock();
    }
    patient_lock(const patient_lock&) = delete;
    patient_lock& operator=(const patient_lock&) = delete;
    [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }

private:
    mutex* held_;
};

}
