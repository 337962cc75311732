// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/mutex.hpp>

#include <cstdlib>

#include <atomic>

#include <tenure/base/check.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Critical sections take tens to hundreds of nanoseconds; sleeping and waking costs several microseconds.
constexpr int looks_before_sleep = 100;

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
            "malloc, free and all of Tenure's allocators must not be called in a callback, such as a block source or "
            "an exception handler, of the same allocator. Without this report the thread would wait for itself for "
            "ever.");
    }
    std::abort(); // a report handler may return; there is no way on
}

// WaitOnAddress, and not std::atomic::wait, which is the same here in good libraries and loses wake-ups in others.
void mutex::wait(std::uint64_t mine) noexcept {
    if (is_mine()) report_own();
    for (int look = 0; look < looks_before_sleep; ++look) {
        if (word_.load(std::memory_order_relaxed) == unlocked && try_lock(mine)) return;
        ::YieldProcessor();
    }
    const kept_error kept;
    for (std::uint64_t seen = word_.load(std::memory_order_relaxed);;) {
        // Who has waited takes the lock as if others did too: nobody knows whether they do.
        std::uint64_t wanted = seen == unlocked ? mine | is_awaited : seen | is_awaited;
        if (seen != wanted && !word_.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) continue;
        if (seen == unlocked) break;
        ::WaitOnAddress(&word_, &wanted, sizeof wanted, INFINITE);
        seen = word_.load(std::memory_order_relaxed);
    }
}

void mutex::wake() noexcept { ::WakeByAddressSingle(&word_); }

void lock_patience::rest() noexcept { sleep_ns(between_looks_ns); }

}
