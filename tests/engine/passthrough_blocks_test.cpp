// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/passthrough_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/report.hpp>

#include "support/process.hpp"

namespace {

using tenure::detail::passthrough_blocks;

std::vector<void*> blocks_of(const passthrough_blocks& list) {
    std::vector<void*> found;
    list.for_each([&](void* block, std::size_t) { found.push_back(block); });
    return found;
}

TEST(passthrough_blocks, blocks_are_aligned_listed_and_come_from_malloc) {
    for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        passthrough_blocks list;
        const std::size_t before = support::malloc_bytes();
        std::vector<void*> made;
        for (int count = 0; count < 20; ++count) {
            void* const block = list.allocate(5000, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(tenure::is_aligned(block, std::max(alignment, tenure::default_alignment)));
            std::memset(block, 0x55, 5000);
            made.push_back(block);
        }
        if (support::malloc_is_counted) {
            EXPECT_GE(support::malloc_bytes(), before + 20 * 5000);
        }
        std::reverse(made.begin(), made.end());
        EXPECT_EQ(blocks_of(list), made);
        EXPECT_EQ(list.count(), 20u);
        list.free_all();
        EXPECT_EQ(list.count(), 0u);
    }
}

TEST(passthrough_blocks, any_block_can_go_first_middle_or_last) {
    for (std::size_t position = 0; position < 3; ++position) {
        passthrough_blocks list;
        std::vector<void*> kept{list.allocate(8, 8), list.allocate(8, 8), list.allocate(8, 8)};
        list.deallocate(kept[position]);
        EXPECT_EQ(blocks_of(list).size(), 2u);
        EXPECT_TRUE(list.owns(static_cast<char*>(kept[(position + 1) % 3]) + 7));
        for (std::size_t index = 0; index < 3; ++index) EXPECT_EQ(list.owns(kept[index]), index != position);
        list.free_all();
        EXPECT_TRUE(blocks_of(list).empty());
    }
}

TEST(passthrough_blocks, a_visit_may_free_its_own_block) {
    passthrough_blocks list;
    for (int count = 0; count < 10; ++count) ASSERT_NE(list.allocate(24, 8), nullptr);
    int seen = 0;
    list.for_each([&](void* block, std::size_t bytes) {
        EXPECT_EQ(bytes, 24u);
        if (++seen % 2 == 0) list.deallocate(block);
    });
    EXPECT_EQ(seen, 10);
    EXPECT_EQ(list.peak_count(), 10u);
    EXPECT_EQ(list.bytes(), 5u * 24);
    EXPECT_EQ(list.count(), 5u);
    list.free_all();
}

TEST(passthrough_blocks, a_size_beyond_any_object_is_refused) {
    passthrough_blocks list;
    EXPECT_EQ(list.allocate(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(list.allocate(PTRDIFF_MAX, 4096), nullptr);
    EXPECT_EQ(list.count(), 0u);
}

TEST(passthrough_blocks, other_pointers_are_left_to_malloc) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tenure::detail::passthrough_blocks list;
    void* const kept = list.allocate(100, 16);
    alignas(64) static unsigned char foreign[256] = {};
    // musl's malloc ends the process without a word.
    const bool has_words = support::malloc_is_counted || support::under_sanitizer();
    EXPECT_DEATH(list.deallocate(foreign + 128), has_words ? "invalid pointer|bad-free|not malloc" : "");
    EXPECT_DEATH(
        {
            void* const block = list.allocate(100, 16);
            list.deallocate(block);
            list.deallocate(block);
        },
        has_words ? "invalid pointer|invalid size|double free|use-after-free|bad-free" : "");
    EXPECT_EQ(list.count(), 1u);
    list.deallocate(kept);
}

TEST(passthrough_blocks, a_block_of_another_list_is_not_listed) {
    passthrough_blocks list, other;
    void* const mine = list.allocate(100, 16);
    EXPECT_TRUE(list.is_listed(mine));
    EXPECT_FALSE(other.is_listed(mine));
    list.deallocate(mine);
}

TEST(passthrough_blocks, a_block_with_an_overwritten_header_is_reported_and_left) {
    static int reports = 0;
    reports = 0;
    tenure::set_report_handler([](tenure::report_kind, std::string_view text) noexcept {
        if (text.find("was overwritten") != std::string_view::npos) ++reports;
    });
    passthrough_blocks list;
    void* const first = list.allocate(100, 16);
    auto* const second = static_cast<unsigned char*>(list.allocate(100, 16));
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    const unsigned char before = second[-1];
    second[-1] = static_cast<unsigned char>(before + 1);
    list.free_all();
    EXPECT_EQ(reports, 1);
    EXPECT_EQ(list.count(), 0u);
    second[-1] = before;
    static void* left = nullptr;
    left = second; // reachable: no leak for LeakSanitizer
    EXPECT_NE(left, nullptr);
    tenure::set_report_handler(nullptr);
}

TEST(passthrough_blocks, a_visit_may_throw) {
    passthrough_blocks list;
    ASSERT_NE(list.allocate(100, 16), nullptr);
    EXPECT_THROW(list.for_each([](void*, std::size_t) { throw 5; }), int);
}

}
