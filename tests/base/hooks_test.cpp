// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/hooks.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/shared_pool.hpp>

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

TEST_F(hooks, every_block_of_a_heap_begins_and_ends_once) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "malloc's blocks are told";
    tenure::set_hooks(&of_blocks);
    tenure::heap own;
    for (tenure::heap* each : {&tenure::heap::process(), &own}) {
        std::vector<void*> blocks;
        const std::size_t before = seen_.blocks.size();
        for (std::size_t bytes = 8; bytes <= (std::size_t{64} << 20); bytes *= 8)
            for (int count = 0; count < 20; ++count) {
                blocks.push_back(each->allocate(bytes));
                ASSERT_EQ(seen_.blocks.count(blocks.back()), 1u);
                ASSERT_EQ(seen_.blocks[blocks.back()], bytes);
            }
        EXPECT_EQ(seen_.blocks.size(), before + blocks.size()) << "and nothing else, as a segment";
        blocks[0] = each->reallocate(blocks[0], 100'000);
        blocks.back() = each->reallocate(blocks.back(), std::size_t{100} << 20);
        EXPECT_EQ(seen_.blocks[blocks[0]], 100'000u);
        EXPECT_EQ(seen_.blocks[blocks.back()], std::size_t{100} << 20);
        EXPECT_EQ(seen_.blocks.size(), before + blocks.size());
        for (void* const block : blocks) each->deallocate(block);
        EXPECT_EQ(seen_.blocks.size(), before);
    }
    for (int count = 0; count < 10; ++count) EXPECT_NE(own.allocate(50), nullptr);
    EXPECT_EQ(seen_.blocks.size(), 10u);
    own.clear();
    EXPECT_TRUE(seen_.blocks.empty());
    EXPECT_EQ(seen_.unknown_ends, 0);
}

TEST_F(hooks, with_blocks_budgets_limits_and_statistics_hold) {
    const std::uint64_t passthrough = tenure::option_value(tenure::option::passthrough);
    if (passthrough != 0) GTEST_SKIP() << "malloc knows no budgets";
    tenure::set_hooks(&of_blocks);
    const tenure::tag owner("tag under hooks");
    ASSERT_TRUE(tenure::set_budget(owner, {std::size_t{1} << 20, SIZE_MAX, nullptr, nullptr}));
    tenure::heap_options options;
    options.limit_bytes = std::size_t{4} << 20;
    tenure::heap small(options);
    std::vector<void*> blocks;
    {
        const tenure::tag_scope tagged(owner);
        for (void* block = nullptr; (block = tenure::heap::process().allocate(1000)) != nullptr;) {
            blocks.push_back(block);
            if (blocks.size() == 100) {
                EXPECT_GE(tenure::usage_of(owner).persistent_bytes, 100'000u);
            }
            ASSERT_LT(blocks.size(), 2000u);
        }
        EXPECT_EQ(tenure::heap::process().allocate(std::size_t{2} << 20), nullptr);
    }
    EXPECT_GT(tenure::usage_of(owner).persistent_bytes, 900'000u);
    EXPECT_EQ(small.allocate(std::size_t{8} << 20), nullptr);
    for (void* const block : blocks) tenure::heap::process().deallocate(block);
    EXPECT_EQ(tenure::usage_of(owner).persistent_bytes, 0u);
    tenure::set_budget(owner, {});
}

TEST_F(hooks, leave_passthrough_as_it_is_and_caches_come_back_after_them) {
    const std::uint64_t before = tenure::option_value(tenure::option::passthrough);
    const tenure::tag owner("tag around hooks");
    const tenure::tag_scope outer(owner);
    void* const early = tenure::heap::process().allocate(64); // the thread has caches
    tenure::set_hooks(&of_blocks);
    EXPECT_EQ(tenure::option_value(tenure::option::passthrough), before);
    {
        const tenure::tag_scope none{tenure::tag{}};
        void* const hooked = tenure::heap::process().allocate(64);
        EXPECT_EQ(seen_.blocks.count(hooked), 1u);
        tenure::heap::process().deallocate(hooked);
        tenure::set_hooks(nullptr);
        void* const again = tenure::heap::process().allocate(64);
        EXPECT_EQ(seen_.blocks.count(again), 0u);
        tenure::heap::process().deallocate(again);
    }
    for (int count = 0; count < 100; ++count) tenure::heap::process().deallocate(tenure::heap::process().allocate(64));
    tenure::heap::process().deallocate(early);
    EXPECT_EQ(tenure::option_value(tenure::option::passthrough), before);
    EXPECT_TRUE(tenure::heap::process().valid());
    EXPECT_EQ(tenure::usage_of(owner).persistent_bytes, 0u);
}

TEST_F(hooks, the_chunks_of_other_parts_are_told) {
    tenure::set_hooks(&of_blocks);
    {
        tenure::arena chunks;
        EXPECT_NE(chunks.allocate(1000), nullptr);
        if (tenure::passthrough_enabled(tenure::part::arena)) GTEST_SKIP() << "its blocks come from malloc";
        ASSERT_EQ(seen_.blocks.size(), 1u);
        EXPECT_GE(seen_.blocks.begin()->second, 1000u);
    }
    EXPECT_TRUE(seen_.blocks.empty());
    EXPECT_EQ(seen_.unknown_ends, 0);
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
    tenure::set_option(tenure::option::passthrough, tenure::all_parts);
    tenure::set_hooks(&asking_blocks);
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
