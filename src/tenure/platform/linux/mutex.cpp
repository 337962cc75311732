// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/mutex.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <tenure/base/check.hpp>

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

}

#if TENURE_CHECKS >= 2

namespace {

TENURE_THREAD_LOCAL char this_thread = 0; // its address identifies the thread

}

void mutex::note_holder() noexcept { holder_.store(&this_thread, std::memory_order_relaxed); }

void mutex::check_holder() const noexcept {
    const bool is_mine = holder_.load(std::memory_order_relaxed) == &this_thread;
    if (!is_mine) report_broken("a mutex was unlocked by a thread that does not hold it", this);
}

#endif

// Allocators are called where errno is in use, so a lock must preserve it.
void mutex::wait() noexcept {
    for (int look = 0; look < looks_before_sleep; ++look) {
        if (word_.load(std::memory_order_relaxed) == is_free && try_lock()) return;
        pause();
    }
    const int saved = errno;
    while (word_.exchange(is_awaited, std::memory_order_acquire) != is_free)
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, is_awaited, nullptr, nullptr, 0);
    errno = saved;
}

void mutex::wake() noexcept {
    const int saved = errno;
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    errno = saved;
}

}
