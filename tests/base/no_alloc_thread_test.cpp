// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_alloc.hpp>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap.hpp>

#include "support/reports.hpp"

namespace {

using tenure::heap;
using tenure::no_alloc_scope;

TEST(no_alloc_thread, a_promise_is_its_threads_alone) {
    const support::heard_reports heard;
    std::atomic<int> step{0};
    std::thread other([&] {
        while (step.load() != 1) std::this_thread::yield();
        EXPECT_FALSE(no_alloc_scope::is_active());
        heap::process().deallocate(heap::process().allocate(100));
        step.store(2);
    });
    {
        const no_alloc_scope promise;
        step.store(1);
        while (step.load() != 2) std::this_thread::yield();
        EXPECT_TRUE(no_alloc_scope::is_active());
    }
    other.join();
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST(no_alloc_thread, a_scope_that_another_thread_ends_is_reported_with_checks) {
    const support::heard_reports heard;
    tenure::detail::begin_observed(tenure::detail::this_thread_scopes().promises,
                                   tenure::detail::observed::no_alloc_begin);
    std::thread([] {
        tenure::detail::end_observed(tenure::detail::this_thread_scopes().promises,
                                     tenure::detail::observed::no_alloc_end);
    }).join();
    EXPECT_EQ(heard.count(), tenure::checks::caller ? 1u : 0u);
    EXPECT_TRUE(no_alloc_scope::is_active());
    tenure::detail::end_observed(tenure::detail::this_thread_scopes().promises, tenure::detail::observed::no_alloc_end);
}

TEST(no_alloc_thread, threads_that_open_their_first_scope_together_agree_on_the_observer) {
    constexpr int thread_count = 4;
    std::atomic<int> ready{0};
    std::thread threads[thread_count];
    for (std::thread& each : threads) {
        each = std::thread([&] {
            ready.fetch_add(1);
            while (ready.load() != thread_count) std::this_thread::yield();
            const no_alloc_scope promise;
            EXPECT_EQ(tenure::detail::this_thread_scopes().heard, tenure::detail::hearing::nobody);
        });
    }
    for (std::thread& each : threads) each.join();
}

}
