// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/passthrough_list.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

#include "support/process.hpp"

namespace {

using tenure::detail::passthrough_list;

std::vector<void*> blocks_of(const passthrough_list& list, std::size_t alignment) {
    std::vector<void*> found;
    list.for_each(alignment, [&](void* block) { found.push_back(block); });
    return found;
}

TEST(passthrough_list, blocks_are_aligned_listed_and_come_from_malloc) {
    for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        passthrough_list list;
        std::size_t const before = support::malloc_bytes();
        std::vector<void*> made;
        for (int count = 0; count < 20; ++count) {
            void* const block = list.allocate(5000, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(tenure::is_aligned(block, std::max(alignment, tenure::default_alignment)));
            std::memset(block, 0x55, 5000);
            made.push_back(block);
        }
        EXPECT_GE(support::malloc_bytes(), before + 20 * 5000);
        std::reverse(made.begin(), made.end());
        EXPECT_EQ(blocks_of(list, alignment), made);
        EXPECT_EQ(list.count(), 20u);
        list.deallocate_all(alignment);
        EXPECT_EQ(list.count(), 0u);
    }
}

TEST(passthrough_list, any_block_can_go_first_middle_or_last) {
    for (std::size_t position = 0; position < 3; ++position) {
        passthrough_list list;
        std::vector<void*> kept{list.allocate(8, 8), list.allocate(8, 8), list.allocate(8, 8)};
        list.deallocate(kept[position], 8);
        EXPECT_EQ(blocks_of(list, 8).size(), 2u);
        EXPECT_TRUE(list.contains(static_cast<char*>(kept[(position + 1) % 3]) + 7, 8, 8));
        for (std::size_t index = 0; index < 3; ++index) EXPECT_EQ(list.contains(kept[index], 8, 8), index != position);
        list.deallocate_all(8);
        EXPECT_TRUE(blocks_of(list, 8).empty());
    }
}

TEST(passthrough_list, a_visit_may_free_its_own_block) {
    passthrough_list list;
    for (int count = 0; count < 10; ++count) ASSERT_NE(list.allocate(24, 8), nullptr);
    int seen = 0;
    list.for_each(8, [&](void* block) {
        if (++seen % 2 == 0) list.deallocate(block, 8);
    });
    EXPECT_EQ(seen, 10);
    EXPECT_EQ(list.count(), 5u);
    list.deallocate_all(8);
}

TEST(passthrough_list, a_size_beyond_any_object_is_refused) {
    passthrough_list list;
    EXPECT_EQ(list.allocate(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(list.allocate(PTRDIFF_MAX, 4096), nullptr);
    EXPECT_EQ(list.count(), 0u);
}

TEST(passthrough_list, what_is_not_a_block_of_a_list_is_reported_or_left_to_malloc) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tenure::detail::passthrough_list list;
    void* const kept = list.allocate(100, 16);
    alignas(64) static unsigned char foreign[256] = {};
    EXPECT_DEATH(list.deallocate(foreign + 128, 16), "not its own|invalid pointer|bad-free|not malloc");
    EXPECT_DEATH(
        {
            void* const block = list.allocate(100, 16);
            list.deallocate(block, 16);
            list.deallocate(block, 16);
        },
        "freed before|double free|use-after-free");
    EXPECT_EQ(list.count(), 1u);
    list.deallocate(kept, 16);
}

}
