// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/budget_source.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/failing_source.hpp>
#include <tenure/platform/page_source.hpp>

namespace {

using tenure::budget_event;
using tenure::budget_source;
using tenure::page_source;

struct heard_events {
    std::vector<budget_event> all;
    static void hear(const budget_event& event, void* context) noexcept {
        static_cast<heard_events*>(context)->all.push_back(event);
    }
};

TEST(budget_source, the_handler_hears_of_the_threshold_and_of_a_refusal) {
    heard_events heard;
    budget_source source("level", {100'000, 60'000, &heard_events::hear, &heard}, page_source::process());
    void* const first = source.acquire(50'000, 16);
    EXPECT_TRUE(heard.all.empty());
    void* const second = source.acquire(20'000, 16);
    ASSERT_EQ(heard.all.size(), 1u);
    EXPECT_EQ(heard.all[0].what, budget_event::kind::threshold);
    EXPECT_EQ(heard.all[0].name, "level");
    EXPECT_EQ(heard.all[0].used_bytes, 70'000u);
    EXPECT_EQ(heard.all[0].requested_bytes, 20'000u);
    EXPECT_EQ(source.acquire(30'001, 16), nullptr);
    ASSERT_EQ(heard.all.size(), 2u);
    EXPECT_EQ(heard.all[1].what, budget_event::kind::refusal);
    EXPECT_EQ(heard.all[1].used_bytes, 70'000u);
    EXPECT_EQ(source.refused_count(), 1u);
    void* const third = source.acquire(30'000, 16); // exactly the limit
    ASSERT_NE(third, nullptr);
    EXPECT_EQ(source.used_bytes(), 100'000u);
    source.release(third, 30'000);
    source.release(second, 20'000);
    void* const again = source.acquire(20'000, 16);
    EXPECT_EQ(heard.all.size(), 3u) << "told again, because the use fell below the threshold";
    source.release(again, 20'000);
    source.release(first, 50'000);
    EXPECT_EQ(source.used_bytes(), 0u);
    EXPECT_EQ(source.peak_bytes(), 100'000u);
}

TEST(budget_source, what_the_source_behind_refuses_does_not_count) {
    tenure::failing_source failing(page_source::process(), 1);
    budget_source source("level", {1'000'000, SIZE_MAX, nullptr, nullptr}, failing);
    void* const block = source.acquire(8192, 4096);
    EXPECT_EQ(source.acquire(8192, 4096), nullptr);
    EXPECT_FALSE(source.extend(block, 8192, 16'384));
    EXPECT_EQ(source.remap(block, 8192, 16'384, 4096), nullptr);
    EXPECT_EQ(source.used_bytes(), 8192u);
    EXPECT_EQ(source.refused_count(), 0u);
    source.release(block, 8192);
}

TEST(budget_source, what_the_source_behind_refuses_raises_no_peak_and_tells_no_threshold) {
    tenure::failing_source failing(page_source::process(), 1);
    heard_events heard;
    budget_source source("level", {1'000'000, 10'000, &heard_events::hear, &heard}, failing);
    void* const block = source.acquire(8192, 4096);
    EXPECT_EQ(source.acquire(100'000, 4096), nullptr);
    EXPECT_FALSE(source.extend(block, 8192, 100'000));
    EXPECT_EQ(source.remap(block, 8192, 100'000, 4096), nullptr);
    EXPECT_EQ(source.peak_bytes(), 8192u);
    EXPECT_TRUE(heard.all.empty());
    source.release(block, 8192);
}

TEST(budget_source, growing_and_shrinking_count) {
    budget_source source("level", {65'536, SIZE_MAX, nullptr, nullptr}, page_source::process());
    EXPECT_EQ(source.max_bytes(), 65'536u);
    void* block = source.acquire(8192, 4096);
    EXPECT_EQ(source.remap(block, 8192, 131'072, 4096), nullptr);
    block = source.remap(block, 8192, 32'768, 4096);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(source.used_bytes(), 32'768u);
    ASSERT_TRUE(source.shrink(block, 32'768, 4096));
    EXPECT_EQ(source.used_bytes(), 4096u);
    EXPECT_FALSE(source.extend(block, 4096, 131'072));
    source.release(block, 4096);
    EXPECT_EQ(source.used_bytes(), 0u);
}

}
