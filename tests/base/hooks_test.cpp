// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/hooks.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/shared_pool.hpp>

#include "support/process.hpp"

namespace {

struct counted {
    std::map<std::string, int> begun;
    int depth = 0;
    int max_depth = 0;
    std::map<const void*, std::size_t> blocks;
    int unknown_ends = 0;
};
thread_local counted* heard = nullptr; // other threads of the library do not count

const tenure::allocation_hooks of_calls{[](std::string_view what, std::size_t, void*) noexcept {
                                            if (heard == nullptr) return;
                                            ++heard->begun[std::string(what)];
                                            heard->max_depth = std::max(heard->max_depth, ++heard->depth);
                                        },
                                        [](std::string_view, void*) noexcept {
                                            if (heard != nullptr) --heard->depth;
                                        },
                                        nullptr, nullptr, nullptr};

const tenure::allocation_hooks of_blocks{nullptr, nullptr,
                                         [](const void* block, std::size_t bytes, void*) noexcept {
                                             if (heard != nullptr) heard->blocks[block] = bytes;
                                         },
                                         [](const void* block, void*) noexcept {
                                             if (heard != nullptr && heard->blocks.erase(block) == 0)
                                                 ++heard->unknown_ends;
                                         },
                                         nullptr};

class hooks : public testing::Test {
protected:
    hooks() { heard = &seen_; }
    ~hooks() override {
        tenure::set_hooks(nullptr);
        heard = nullptr;
    }
    counted seen_;
};

TEST_F(hooks, slow_calls_begin_and_end_and_cached_ones_are_not_told) {
    if (tenure::checks::caller) GTEST_SKIP() << "every call is slow";
    tenure::set_hooks(&of_calls);
    void* const large = tenure::heap::process().allocate(1 << 20);
    EXPECT_EQ(seen_.begun["of the process heap"], 1);
    void* const first = tenure::allocate(64, tenure::lifetime::temp);
    static_cast<void>(first);
    const int temps = seen_.begun["of Temp"];
    for (int count = 0; count < 100; ++count) static_cast<void>(tenure::allocate(64, tenure::lifetime::temp));
    EXPECT_EQ(seen_.begun["of Temp"], temps);
    tenure::heap::process().deallocate(large);
    EXPECT_EQ(seen_.depth, 0);
    const int before = seen_.begun["of Temp"];
    static_cast<void>(tenure::allocate(100 << 20, tenure::lifetime::temp));
    EXPECT_EQ(seen_.begun["of Temp"], before + 1);
    tenure::reset_temp();
    EXPECT_EQ(seen_.depth, 0);
    tenure::set_hooks(nullptr);
    const int last = seen_.begun["of Temp"];
    static_cast<void>(tenure::allocate(100 << 20, tenure::lifetime::temp));
    EXPECT_EQ(seen_.begun["of Temp"], last);
    tenure::reset_temp();
}

TEST_F(hooks, every_block_begins_and_ends_once) {
    const std::uint64_t before = tenure::option_value(tenure::option::passthrough);
    tenure::set_hooks(&of_blocks);
    support::on_fresh_thread([this] { // its Temp and TempJob have not allocated yet
        heard = &seen_;
        void* const job = tenure::allocate(100, tenure::lifetime::temp_job);
        const std::size_t one = seen_.blocks.size();
        EXPECT_EQ(one, 1u);
        {
            const tenure::temp_scope scope;
            static_cast<void>(tenure::allocate(100, tenure::lifetime::temp));
            static_cast<void>(tenure::allocate(1000, tenure::lifetime::temp));
            EXPECT_EQ(seen_.blocks.size(), 3u);
        }
        EXPECT_EQ(seen_.blocks.size(), 1u);
        tenure::deallocate(job, tenure::lifetime::temp_job);
        EXPECT_TRUE(seen_.blocks.empty());
        EXPECT_EQ(seen_.unknown_ends, 0);
        heard = nullptr;
    });
    tenure::set_option(tenure::option::passthrough, before);
}

// A hook that asks the pool for its size takes the pool's lock: under the lock it would be reported, and end the test.

thread_local const tenure::shared_pool<int>* asked = nullptr;
thread_local std::size_t most = 0;
thread_local int asked_count = 0;

void ask() noexcept {
    if (asked == nullptr) return;
    ++asked_count;
    most = std::max(most, asked->size());
}
constexpr tenure::allocation_hooks asking_calls{[](std::string_view, std::size_t, void*) noexcept { ask(); },
                                                [](std::string_view, void*) noexcept { ask(); }, nullptr, nullptr,
                                                nullptr};
constexpr tenure::allocation_hooks asking_blocks{nullptr, nullptr,
                                                 [](const void*, std::size_t, void*) noexcept { ask(); },
                                                 [](const void*, void*) noexcept { ask(); }, nullptr};

TEST_F(hooks, those_of_a_shared_pool_are_called_without_its_lock_and_once_for_a_refill) {
    tenure::shared_pool<int> pool;
    tenure::set_hooks(&of_calls);
    int* const first = pool.construct(1);
    EXPECT_EQ(seen_.begun["of a pool"], 1);
    EXPECT_EQ(seen_.max_depth, 1);
    asked = &pool;
    asked_count = 0;
    tenure::set_hooks(&asking_calls);
    std::vector<int*> made;
    for (int count = 0; count < 1000; ++count) made.push_back(pool.construct(count));
    EXPECT_GT(asked_count, 0);
    for (int* const each : made) pool.destroy(each);
    pool.destroy(first);
    asked = nullptr;
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_GT(most, 500u);
}

TEST_F(hooks, those_of_a_shared_pools_blocks_are_called_without_its_lock) {
    const std::uint64_t before = tenure::option_value(tenure::option::passthrough);
    tenure::set_hooks(&asking_blocks); // turns passthrough on
    {
        tenure::shared_pool<int> pool;
        asked = &pool;
        asked_count = 0;
        int* const first = pool.construct(1);
        EXPECT_EQ(pool.size(), 1u);
        EXPECT_EQ(asked_count, 1);
        static_cast<void>(pool.construct(2));
        pool.destroy(first);
        EXPECT_EQ(asked_count, 3);
        pool.clear();
        EXPECT_EQ(asked_count, 4);
        EXPECT_EQ(pool.size(), 0u);
        asked = nullptr;
    }
    tenure::set_option(tenure::option::passthrough, before);
}

}
