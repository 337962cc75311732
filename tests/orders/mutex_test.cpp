// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// src/tenure/platform/mutex.hpp and linux/mutex.cpp, explored. Before it sleeps, wait() looks once here, not 100 times,
// and its system calls are the explorer's: see explored.cmake.

#include <gtest/gtest.h>

#include <bit>
#include <cerrno>
#include <cstdlib>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TENURE_EXPLORED explored_mutex
#include "orders/explored.hpp"

#include <tenure/platform/clock.hpp>

#include "orders/needs.hpp"

namespace tenure::inline TENURE_ABI::platform {
namespace {
/// Compares and wakes by 32 bits: the half of the mutex's word that has the bit for waiters.
long explored_syscall(long, const void* half, int operation, std::uint32_t value, const void*, const void*, int) {
    std::uint64_t ignored = 0;
    if (operation == FUTEX_WAKE_PRIVATE)
        orders::futex_wake(half);
    else
        orders::futex_wait(half, ignored, UINT32_MAX, value);
    return 0;
}
}
void sleep_ns(std::uint64_t) noexcept {}
}

#include <explored/mutex.cpp>

namespace {

using orders::run;
using tenure::platform::mutex;

struct locked_state {
    mutex lock;
    orders::plain<int> count;
};

void add_one(locked_state& s) {
    const tenure::platform::lock_guard guard(s.lock);
    s.count.set(s.count.get("the count") + 1, "the count");
}

// Three threads: one that holds the lock, one that sleeps, and one that comes meanwhile.
void three_threads(run& r) {
    auto& s = r.make<locked_state>();
    for (int each = 0; each < 3; ++each) r.thread([&s] { add_one(s); });
    r.at_end([&s] { orders::require(s.count.get() == 3 && s.lock.is_free(), "a count is lost"); });
}

// A thread that comes back at once: it overtakes the one that sleeps.
void two_rounds(run& r) {
    auto& s = r.make<locked_state>();
    for (int each = 0; each < 2; ++each) {
        r.thread([&s] {
            add_one(s);
            add_one(s);
        });
    }
    r.at_end([&s] { orders::require(s.count.get() == 4 && s.lock.is_free(), "a count is lost"); });
}

void tried(run& r) {
    auto& s = r.make<locked_state>();
    r.thread([&s] { add_one(s); });
    r.thread([&s] {
        if (!s.lock.try_lock()) return;
        s.count.set(s.count.get("the count") + 1, "the count");
        s.lock.unlock();
    });
}

TEST(mutex_orders, one_thread_holds_it_and_no_thread_sleeps_for_ever) {
    orders::expect_needs({two_rounds, tried},
                         {
                             "mutex::try_lock compare_exchange: acquire -> relaxed",
                             "mutex::unlock exchange: release -> relaxed",
                             "mutex::wait compare_exchange: acquire -> relaxed",
                         },
                         {"mutex::wait failed compare_exchange: acquire -> relaxed"}); // then it looks again
    orders::expect_pass({three_threads});
}

}
