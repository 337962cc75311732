// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/budget.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::budget_event;
using tenure::heap;
using tenure::set_budget;
using tenure::tag;
using tenure::tag_scope;

struct heard_events {
    std::vector<budget_event> all;
    std::vector<void*> to_free;

    static void hear(const budget_event& event, void* context) noexcept {
        auto& heard = *static_cast<heard_events*>(context);
        const tenure::tag_scope none{tag{}};
        heard.all.push_back(event);
        if (event.what != budget_event::kind::refusal) return;
        for (void* each : heard.to_free) heap::process().deallocate(each);
        heard.to_free.clear();
    }
};

TEST(tag_budgets, large_blocks_are_refused_at_the_limit_and_the_threshold_is_told_once) {
    const tag owner = tag::named("budget of large blocks");
    heard_events heard;
    ASSERT_TRUE(set_budget(owner, {10 * mebibyte, 4 * mebibyte, &heard_events::hear, &heard}));
    std::vector<void*> blocks;
    {
        const tag_scope tagged(owner);
        while (void* const block = heap::process().allocate(mebibyte)) blocks.push_back(block);
    }
    EXPECT_GE(blocks.size(), 8u);
    EXPECT_LE(blocks.size(), 10u);
    ASSERT_EQ(heard.all.size(), 2u);
    EXPECT_EQ(heard.all[0].what, budget_event::kind::threshold);
    EXPECT_EQ(heard.all[0].name, "budget of large blocks");
    EXPECT_EQ(heard.all[1].what, budget_event::kind::refusal);
    EXPECT_LE(tenure::usage_of(owner).persistent_bytes, 10 * mebibyte);
    void* const other = heap::process().allocate(mebibyte); // without the tag
    EXPECT_NE(other, nullptr);
    heap::process().deallocate(other);
    for (void* each : blocks) heap::process().deallocate(each);
    set_budget(owner, {});
}

TEST(tag_budgets, small_blocks_are_refused_close_to_the_limit) {
    const tag owner = tag::named("budget of small blocks");
    ASSERT_TRUE(set_budget(owner, {mebibyte, SIZE_MAX, nullptr, nullptr}));
    std::vector<void*> blocks;
    {
        const tag_scope tagged(owner);
        while (blocks.size() < 100'000) {
            void* const block = heap::process().allocate(64);
            if (block == nullptr) break;
            blocks.push_back(block);
        }
    }
    EXPECT_GT(blocks.size(), 12'000u);
    EXPECT_LT(blocks.size(), 18'000u);
    for (void* each : blocks) heap::process().deallocate(each);
    set_budget(owner, {});
    const tag_scope tagged(owner);
    void* const block = heap::process().allocate(4 * mebibyte);
    EXPECT_NE(block, nullptr) << "the budget was removed";
    heap::process().deallocate(block);
}

TEST(tag_budgets, a_request_succeeds_when_the_handler_frees_enough) {
    const tag owner = tag::named("budget of a cache");
    heard_events heard;
    ASSERT_TRUE(set_budget(owner, {8 * mebibyte, SIZE_MAX, &heard_events::hear, &heard}));
    const tag_scope tagged(owner);
    heard.to_free.push_back(heap::process().allocate(6 * mebibyte));
    ASSERT_NE(heard.to_free.back(), nullptr);
    void* const block = heap::process().allocate(5 * mebibyte);
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(heard.all.size(), 1u);
    heap::process().deallocate(block);
    set_budget(owner, {});
}

TEST(tag_budgets, one_thread_fills_a_limit_to_the_last_block_and_never_exceeds_it) {
    const tag owner = tag::named("budget of one thread");
    constexpr std::size_t limit = 3 * mebibyte;
    ASSERT_TRUE(set_budget(owner, {limit, SIZE_MAX, nullptr, nullptr}));
    support::random numbers(support::new_seed());
    std::vector<void*> blocks;
    for (int round = 0; round < 5; ++round) {
        const tag_scope tagged(owner);
        for (;;) {
            const std::size_t bytes = 1 + numbers.below(numbers.one_in(3) ? 40'000 : 300);
            void* const block = heap::process().allocate(bytes);
            ASSERT_LE(tenure::usage_of(owner).persistent_bytes, limit);
            if (block == nullptr) break;
            blocks.push_back(block);
        }
        EXPECT_GT(tenure::usage_of(owner).persistent_bytes, limit - 50'000);
        while (void* const block = heap::process().allocate(64)) blocks.push_back(block);
        EXPECT_LE(tenure::usage_of(owner).persistent_bytes, limit);
        EXPECT_GT(tenure::usage_of(owner).persistent_bytes, limit - 128);
        for (std::size_t each = blocks.size() / 2; each < blocks.size(); ++each)
            heap::process().deallocate(blocks[each]);
        blocks.resize(blocks.size() / 2);
    }
    for (void* each : blocks) heap::process().deallocate(each);
    set_budget(owner, {});
}

TEST(tag_budgets, a_threshold_is_told_at_the_block_that_exceeds_it) {
    const tag owner = tag::named("budget with a threshold");
    heard_events heard;
    ASSERT_TRUE(set_budget(owner, {SIZE_MAX, mebibyte, &heard_events::hear, &heard}));
    std::vector<void*> blocks;
    const tag_scope tagged(owner);
    while (tenure::usage_of(owner).persistent_bytes <= mebibyte - 4096) {
        blocks.push_back(heap::process().allocate(64));
        ASSERT_TRUE(heard.all.empty());
    }
    while (heard.all.empty() && blocks.size() < 100'000) blocks.push_back(heap::process().allocate(64));
    EXPECT_GT(tenure::usage_of(owner).persistent_bytes, mebibyte - 128); // a sampled block is not counted
    EXPECT_LE(tenure::usage_of(owner).persistent_bytes, mebibyte + 128);
    for (int count = 0; count < 1000; ++count) blocks.push_back(heap::process().allocate(64));
    EXPECT_EQ(heard.all.size(), 1u);
    for (void* each : blocks) heap::process().deallocate(each);
    void* const again = heap::process().allocate(2 * mebibyte);
    EXPECT_EQ(heard.all.size(), 1u) << "the use has not been seen below the threshold";
    heap::process().deallocate(again);
    set_budget(owner, {});
}

TEST(tag_budgets, a_block_that_grows_in_place_is_refused_and_unchanged) {
    const tag owner = tag::named("budget of a growing block");
    heard_events heard;
    ASSERT_TRUE(set_budget(owner, {48 * mebibyte, SIZE_MAX, &heard_events::hear, &heard}));
    heap& process = heap::process();
    const tag_scope tagged(owner);
    void* block = process.allocate(40 * mebibyte);
    ASSERT_NE(block, nullptr);
    std::memset(block, 7, 100);
    EXPECT_EQ(process.reallocate(block, 1024 * mebibyte), nullptr);
    ASSERT_EQ(heard.all.size(), 1u) << "asked once";
    EXPECT_EQ(heard.all[0].what, budget_event::kind::refusal);
    EXPECT_EQ(heard.all[0].requested_bytes, 1024 * mebibyte);
    EXPECT_FALSE(process.resize(block, 512 * mebibyte));
    EXPECT_EQ(static_cast<unsigned char*>(block)[99], 7);
    EXPECT_EQ(tenure::refusals_of(owner), 2u);
    if (process.resize(block, 44 * mebibyte)) {
        EXPECT_GE(tenure::usage_of(owner).persistent_bytes, 44 * mebibyte);
    }
    void* const smaller = process.reallocate(block, 20 * mebibyte);
    ASSERT_NE(smaller, nullptr);
    EXPECT_LE(tenure::usage_of(owner).persistent_bytes, 48 * mebibyte);
    void* const medium = process.allocate(2 * mebibyte);
    EXPECT_EQ(process.reallocate(medium, 30 * mebibyte), nullptr) << "a large block asks as well";
    process.deallocate(medium);
    process.deallocate(smaller);
    EXPECT_EQ(tenure::usage_of(owner).persistent_bytes, 0u);
    set_budget(owner, {});
}

TEST(tag_budgets, a_thread_without_a_cache_asks_and_is_counted) {
    const tag owner = tag::named("budget without a cache");
    ASSERT_TRUE(set_budget(owner, {mebibyte, SIZE_MAX, nullptr, nullptr}));
    auto& core = const_cast<tenure::detail::heap_core&>(tenure::detail::core_of(heap::process()));
    const auto allocate = [&](std::size_t bytes) { return core.allocate(nullptr, bytes, 16, tenure::fill::none); };
    std::vector<void*> blocks;
    {
        const tag_scope tagged(owner);
        EXPECT_EQ(allocate(2 * mebibyte), nullptr);
        while (blocks.size() < 100'000) {
            void* const block = allocate(blocks.empty() ? 100'000 : 1000);
            if (block == nullptr) break;
            blocks.push_back(block);
        }
    }
    EXPECT_LE(tenure::usage_of(owner).persistent_bytes, mebibyte);
    EXPECT_GT(tenure::usage_of(owner).persistent_bytes, mebibyte - 4096);
    for (void* each : blocks) core.deallocate(nullptr, each);
    EXPECT_EQ(tenure::usage_of(owner).persistent_bytes, 0u);
    set_budget(owner, {});
}

TEST(tag_budgets, the_values_are_read_back) {
    const tag owner = tag::named("budget that is read");
    int context = 0;
    ASSERT_TRUE(set_budget(owner, {100, 50, &heard_events::hear, &context}));
    const tenure::budget set = tenure::budget_of(owner);
    EXPECT_EQ(set.limit_bytes, 100u);
    EXPECT_EQ(set.threshold_bytes, 50u);
    EXPECT_EQ(set.handler, &heard_events::hear);
    EXPECT_EQ(set.context, &context);
    ASSERT_TRUE(set_budget(owner, {}));
    EXPECT_EQ(tenure::budget_of(owner).limit_bytes, SIZE_MAX);
    EXPECT_EQ(tenure::budget_of(owner).handler, nullptr);
}

TEST(tag_budgets, the_default_tag_has_none) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_FALSE(set_budget(tag{}, {1, 1, nullptr, nullptr}));
}

}
