// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/process.hpp>

#include "support/process.hpp"

namespace {

namespace platform = tenure::platform;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

bool all_are(const void* bytes, std::size_t count, unsigned char expected) {
    auto const* const first = static_cast<const unsigned char*>(bytes);
    return std::all_of(first, first + count, [=](unsigned char each) { return each == expected; });
}

TEST(memory, a_page_is_a_power_of_two_that_divides_a_huge_one) {
    EXPECT_TRUE(tenure::is_power_of_two(platform::page_bytes()));
    EXPECT_GE(platform::page_bytes(), 4096u);
    EXPECT_EQ(platform::huge_page_bytes() % platform::page_bytes(), 0u);
}

TEST(memory, a_range_has_the_alignment_that_was_asked_for) {
    for (std::size_t alignment = 1; alignment <= 64 * mebibyte; alignment *= 4) {
        void* const range = platform::map(3 * platform::page_bytes(), alignment);
        ASSERT_NE(range, nullptr);
        EXPECT_TRUE(tenure::is_aligned(range, std::max(alignment, platform::page_bytes())));
        std::memset(range, 1, 3 * platform::page_bytes());
        platform::unreserve(range, 3 * platform::page_bytes());
    }
}

TEST(memory, committed_pages_read_zero_and_keep_what_is_written) {
    std::size_t const bytes = 64 * platform::page_bytes();
    void* const range = platform::reserve(bytes, 1);
    ASSERT_NE(range, nullptr);
    ASSERT_TRUE(platform::commit(range, bytes / 2));
    EXPECT_TRUE(all_are(range, bytes / 2, 0));
    std::memset(range, 0xAB, bytes / 2);
    ASSERT_TRUE(platform::commit(static_cast<char*>(range) + bytes / 2, bytes / 2));
    EXPECT_TRUE(all_are(range, bytes / 2, 0xAB));
    EXPECT_TRUE(all_are(static_cast<char*>(range) + bytes / 2, bytes / 2, 0));
    platform::unreserve(range, bytes);
}

TEST(memory, decommitted_pages_are_gone_from_memory_and_read_zero) {
    std::size_t const bytes = 64 * mebibyte;
    void* const range = platform::map(bytes, 1);
    ASSERT_NE(range, nullptr);
    std::memset(range, 0xAB, bytes);
    std::size_t const full = platform::resident_bytes();
    EXPECT_TRUE(platform::decommit(range, bytes));
    std::size_t const empty = platform::resident_bytes();
    EXPECT_GT(full, empty + bytes / 2);
    EXPECT_TRUE(all_are(range, bytes, 0));
    std::memset(range, 0xCD, platform::page_bytes());
    EXPECT_TRUE(all_are(range, platform::page_bytes(), 0xCD));
    platform::unreserve(range, bytes);
}

TEST(memory, a_part_can_be_decommitted_and_its_neighbours_stay) {
    std::size_t const page = platform::page_bytes();
    auto* const range = static_cast<unsigned char*>(platform::map(3 * page, 1));
    std::memset(range, 0xAB, 3 * page);
    EXPECT_TRUE(platform::decommit(range + page, page));
    EXPECT_TRUE(all_are(range, page, 0xAB));
    EXPECT_TRUE(all_are(range + page, page, 0));
    EXPECT_TRUE(all_are(range + 2 * page, page, 0xAB));
    platform::unreserve(range, 3 * page);
}

TEST(memory, reserved_addresses_cost_no_memory) {
    std::size_t const before = platform::resident_bytes();
    void* const range = platform::reserve(std::size_t{64} << 30, 1);
    ASSERT_NE(range, nullptr);
    EXPECT_LT(platform::resident_bytes(), before + 16 * mebibyte);
    platform::unreserve(range, std::size_t{64} << 30);
}

TEST(memory, what_cannot_be_is_refused) {
    EXPECT_EQ(platform::map(0, 4096), nullptr);
    EXPECT_EQ(platform::map(std::size_t{1} << 62, 4096), nullptr);
    EXPECT_EQ(platform::map(SIZE_MAX - 4095, 4096), nullptr);
    EXPECT_EQ(platform::map(4096, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(platform::reserve(SIZE_MAX - 4095, std::size_t{1} << 40), nullptr);
}

TEST(memory, a_range_moves_with_its_contents) {
    std::size_t const page = platform::page_bytes();
    void* range = platform::map(page, 1);
    std::memset(range, 0x5A, page);
    range = platform::remap(range, page, 1000 * page, page);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    EXPECT_TRUE(all_are(static_cast<char*>(range) + page, 999 * page, 0));
    EXPECT_EQ(platform::remap(range, 1000 * page, std::size_t{1} << 62, page), nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    range = platform::remap(range, 1000 * page, page, page);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    range = platform::remap(range, page, 3 * page, 4096 * page);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(tenure::is_aligned(range, 4096 * page));
    EXPECT_TRUE(all_are(range, page, 0x5A));
    EXPECT_EQ(platform::remap(range, 3 * page, std::size_t{1} << 62, 4096 * page), nullptr);
    EXPECT_TRUE(all_are(range, page, 0x5A));
    platform::unreserve(range, 3 * page);
}

TEST(memory, a_range_grows_where_it_is_or_stays_as_it_was) {
    std::size_t const page = platform::page_bytes();
    auto* const range = static_cast<char*>(platform::reserve(16 * page, 1));
    platform::unreserve(range + 8 * page, 8 * page);
    ASSERT_TRUE(platform::commit(range, 8 * page));
    std::memset(range, 0x5A, 8 * page);
    bool const grown = platform::extend(range, 8 * page, 16 * page);
    EXPECT_TRUE(all_are(range, 8 * page, 0x5A));
    if (grown) {
        EXPECT_TRUE(all_are(range + 8 * page, 8 * page, 0));
    }
    EXPECT_FALSE(platform::extend(range, grown ? 16 * page : 8 * page, std::size_t{1} << 62));
    platform::unreserve(range, grown ? 16 * page : 8 * page);
}

TEST(memory_death, unreserved_and_uncommitted_memory_may_not_be_touched) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "its own handler speaks of the signal";
    auto* const range = static_cast<unsigned char volatile*>(platform::reserve(4096, 1));
    EXPECT_DEATH(range[0] = 1, "");
    platform::unreserve(const_cast<unsigned char*>(range), 4096);
    EXPECT_DEATH(range[0] = 1, "");
}

TEST(process, the_peak_is_at_least_what_is_resident_and_can_start_anew) {
    std::size_t const resident = platform::resident_bytes();
    ASSERT_GT(resident, 0u);
    EXPECT_GE(platform::peak_resident_bytes() + mebibyte, resident);
    std::size_t const bytes = 64 * mebibyte;
    void* const range = platform::map(bytes, 1);
    std::memset(range, 1, bytes);
    EXPECT_GE(platform::peak_resident_bytes(), resident + bytes / 2);
    std::size_t const peak = platform::peak_resident_bytes();
    platform::unreserve(range, bytes);
    EXPECT_GE(platform::peak_resident_bytes() + mebibyte, peak);
    if (!platform::reset_peak_resident()) GTEST_SKIP() << "the system does not let the peak start anew";
    EXPECT_LT(platform::peak_resident_bytes(), peak - bytes / 2);
}

}
