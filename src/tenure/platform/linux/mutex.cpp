// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/mutex.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>

#include <tenure/base/check.hpp>
#include <tenure/platform/clock.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Critical sections take tens to hundreds of nanoseconds; sleeping and waking costs several microseconds.
constexpr int looks_before_sleep = 100;

void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/// The half of the word that has the bit for waiters: the kernel compares 32 bits. Owners may differ in the other half
/// only; a waiter then sleeps although the owner changed, which is harmless, because each owner sees the bit.
const void* awaited_half(const detail::atomic<std::uint64_t>& word) noexcept {
    const auto* const halves = reinterpret_cast<const std::uint32_t*>(&word);
    return std::endian::native == std::endian::little ? halves : halves + 1;
}

// Whether a report of a lock that its own thread waits for is being written: the handler of reports may lock, too.
// The exchange elects one report; relaxed would do.
constinit std::atomic<bool> is_reporting{false};

}

constinit bool mutex::keeps_mine = false;

void mutex::abandon() noexcept {
    if (!keeps_mine || !is_mine()) word_.store(unlocked, std::memory_order_relaxed);
}

void mutex::check_holder() const noexcept {
    if (!is_mine()) report_broken("a mutex was unlocked by a thread that does not hold it", this);
}

void mutex::report_own() const noexcept {
    if (!is_reporting.exchange(true)) {
        report_misuse(
            "a call into an allocator interrupted another call of the same thread, which holds the lock", this,
            "malloc, free and all of Tenure's allocators must not be called in a signal handler that may have "
            "interrupted them, or in a callback, such as a block source, of the same allocator. Without this report "
            "the thread would wait for itself for ever.");
    }
    std::abort(); // a report handler may return; there is no way on
}

// Allocators are called where errno is in use, so a lock must preserve it.
void mutex::wait(std::uint64_t mine) noexcept {
    if (is_mine()) report_own();
    for (int look = 0; look < looks_before_sleep; ++look) {
        if (word_.load(std::memory_order_relaxed) == unlocked && try_lock(mine)) return;
        pause();
    }
    const int saved = errno;
    for (std::uint64_t seen = word_.load(std::memory_order_relaxed);;) {
        // Who has waited takes the lock as if others did too: nobody knows whether they do.
        const std::uint64_t wanted = seen == unlocked ? mine | is_awaited : seen | is_awaited;
        if (seen != wanted && !word_.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) continue;
        if (seen == unlocked) break;
        ::syscall(SYS_futex, awaited_half(word_), FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(wanted), nullptr,
                  nullptr, 0);
        seen = word_.load(std::memory_order_relaxed);
    }
    errno = saved;
}

void mutex::wake() noexcept {
    const int saved = errno;
    ::syscall(SYS_futex, awaited_half(word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    errno = saved;
}

void lock_patience::rest() noexcept { sleep_ns(between_looks_ns); }

}
