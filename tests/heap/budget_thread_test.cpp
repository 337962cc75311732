// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/budget.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::heap;
using tenure::set_budget;
using tenure::tag;
using tenure::tag_scope;

std::atomic<int> calls{0};
std::atomic<int> strangers{0};

/// Each handler knows its own context.
template<int Which>
struct handler {
    static inline int own = Which;
    static void hear(const tenure::budget_event&, void* context) noexcept {
        calls.fetch_add(1, std::memory_order_relaxed);
        if (context != &own) strangers.fetch_add(1, std::memory_order_relaxed);
    }
};

TEST(tag_budgets_thread, a_handler_is_called_with_its_own_context_while_it_is_changed) {
    const tag owner = tag::named("budget that changes");
    constexpr std::size_t limit = 4096;
    ASSERT_TRUE(set_budget(owner, {limit, SIZE_MAX, &handler<1>::hear, &handler<1>::own}));
    std::atomic<bool> is_over{false};
    std::thread changer([&] {
        while (!is_over.load(std::memory_order_relaxed)) {
            set_budget(owner, {limit, SIZE_MAX, &handler<2>::hear, &handler<2>::own});
            set_budget(owner, {limit, SIZE_MAX, &handler<1>::hear, &handler<1>::own});
        }
    });
    {
        const tag_scope tagged(owner);
        const int requests = support::under_sanitizer() ? 20'000 : 100'000;
        for (int count = 0; count < requests; ++count) ASSERT_EQ(heap::process().allocate(mebibyte), nullptr);
    }
    is_over.store(true, std::memory_order_relaxed);
    changer.join();
    EXPECT_GT(calls.load(), 0);
    EXPECT_EQ(strangers.load(), 0);
    set_budget(owner, {});
}

TEST(tag_budgets_thread, threads_together_exceed_a_limit_by_no_more_than_their_caches) {
    const tag owner = tag::named("budget of threads");
    constexpr std::size_t limit = 8 * mebibyte, thread_count = 4, bytes = 48;
    ASSERT_TRUE(set_budget(owner, {limit, SIZE_MAX, nullptr, nullptr}));
    std::vector<void*> blocks[thread_count];
    std::vector<std::thread> threads;
    for (auto& mine : blocks) {
        threads.emplace_back([&owner, &mine] {
            const tag_scope tagged(owner);
            while (void* const block = heap::process().allocate(bytes)) mine.push_back(block);
        });
    }
    for (std::thread& each : threads) each.join();
    const std::size_t used = tenure::usage_of(owner).persistent_bytes;
    EXPECT_GT(used, limit - mebibyte / 8);
    EXPECT_LE(used, limit + thread_count * (std::size_t{32} * 1024));
    for (auto& mine : blocks)
        for (void* each : mine) heap::process().deallocate(each);
    EXPECT_EQ(tenure::usage_of(owner).persistent_bytes, 0u);
    set_budget(owner, {});
}

}
