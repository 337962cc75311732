// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_wait.hpp>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>

#include "support/reports.hpp"

namespace {

using tenure::heap;
using tenure::no_wait_scope;

TEST(no_wait_thread, a_promise_is_its_threads_alone) {
    const support::heard_reports heard;
    std::atomic<int> step{0};
    std::thread other([&] {
        while (step.load() != 1) std::this_thread::yield();
        EXPECT_FALSE(no_wait_scope::is_active());
        heap::process().deallocate(heap::process().allocate(100));
        step.store(2);
    });
    {
        const no_wait_scope promise;
        step.store(1);
        while (step.load() != 2) std::this_thread::yield();
        EXPECT_TRUE(no_wait_scope::is_active());
    }
    other.join();
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

}
