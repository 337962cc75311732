// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/budget.hpp>

#include <vector>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/reports.hpp"

namespace {

using tenure::budget_event;
using tenure::heap;
using tenure::set_budget;
using tenure::tag;
using tenure::tag_scope;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

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

TEST(tag_budgets, the_default_tag_has_none) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_FALSE(set_budget(tag{}, {1, 1, nullptr, nullptr}));
}

}
