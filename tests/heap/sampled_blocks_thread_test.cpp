// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>

#include "support/process.hpp"

namespace {

using tenure::heap;

/// Allocates, checks and frees blocks of many sizes; half of them are freed by another thread.
class block_exchange {
public:
    void work(unsigned turns, unsigned char mark) {
        heap& tested = heap::process();
        for (unsigned turn = 0; turn < turns; ++turn) {
            const std::size_t bytes = 1 + (turn * 7919u + mark * 131u) % 9000;
            auto* const block = static_cast<unsigned char*>(tested.allocate(bytes));
            ASSERT_NE(block, nullptr);
            std::memset(block, mark, bytes);
            if (turn % 2 == 0) {
                const std::lock_guard lock(mutex_);
                given_.push_back(block);
                if (given_.size() < 40) continue;
                for (void* const each : given_) tested.deallocate(each);
                given_.clear();
            } else {
                ASSERT_EQ(block[bytes - 1], mark);
                tested.deallocate(block);
            }
        }
    }
    void finish() {
        for (void* const each : given_) heap::process().deallocate(each);
        given_.clear();
    }

private:
    std::mutex mutex_;
    std::vector<void*> given_;
};

TEST(sampled_threads, threads_free_each_others_guarded_blocks_and_fork) {
    if (tenure::checks::caller) GTEST_SKIP() << "not seen in this build";
    const std::uint64_t before = tenure::option_value(tenure::option::heap_guard_bytes);
    tenure::set_option(tenure::option::heap_guard_bytes, 1);
    const std::size_t live_before = heap::process().stats().live_count;
    block_exchange between;
    std::vector<std::thread> threads;
    const unsigned turns = support::under_sanitizer() ? 5000 : 20'000;
    for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back([&, mark] { between.work(turns, mark); });
    // ThreadSanitizer has a single thread in the child of a fork.
    for (int turn = 0; turn < 10 && !support::under_thread_sanitizer(); ++turn) {
        const ::pid_t child = ::fork();
        if (child == 0) {
            block_exchange alone;
            alone.work(200, 9);
            alone.finish();
            std::_Exit(heap::process().valid() && !testing::Test::HasFailure() ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    for (std::thread& each : threads) each.join();
    between.finish();
    EXPECT_TRUE(heap::process().valid());
    EXPECT_EQ(heap::process().stats().live_count, live_before);
    tenure::set_option(tenure::option::heap_guard_bytes, before);
}

}
