// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Reservations of Windows, of which the system takes back only whole ones.

#include <tenure/platform/memory.hpp>

#include <windows.h>

#include <cstring>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/page_source.hpp>

namespace {

namespace platform = tenure::platform;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

DWORD state_of(const void* address) {
    MEMORY_BASIC_INFORMATION found{};
    return ::VirtualQuery(address, &found, sizeof found) != 0 ? found.State : 0;
}
char* bytes_at(void* range, std::size_t offset) { return static_cast<char*>(range) + offset; }

TEST(reservations, a_part_that_is_given_back_has_no_memory_and_the_last_part_gives_back_all) {
    void* const range = platform::map(8 * mebibyte, 1);
    ASSERT_NE(range, nullptr);
    std::memset(range, 1, 8 * mebibyte);
    platform::unreserve(range, 2 * mebibyte);
    platform::unreserve(bytes_at(range, 6 * mebibyte), 2 * mebibyte);
    EXPECT_EQ(state_of(range), DWORD{MEM_RESERVE});
    EXPECT_EQ(*bytes_at(range, 3 * mebibyte), 1) << "what was not given back stays";
    EXPECT_EQ(state_of(bytes_at(range, 6 * mebibyte)), DWORD{MEM_RESERVE});
    platform::unreserve(bytes_at(range, 2 * mebibyte), 4 * mebibyte);
    EXPECT_EQ(state_of(range), DWORD{MEM_FREE});
    EXPECT_EQ(state_of(bytes_at(range, 7 * mebibyte)), DWORD{MEM_FREE});
}

TEST(reservations, many_with_parts_given_back_are_told_apart) {
    constexpr int count = 500;
    static void* ranges[count];
    for (void*& each : ranges) {
        each = platform::reserve(2 * mebibyte, 1);
        ASSERT_NE(each, nullptr);
        platform::unreserve(each, mebibyte);
    }
    for (int index = 0; index < count; index += 2) platform::unreserve(bytes_at(ranges[index], mebibyte), mebibyte);
    for (int index = 0; index < count; ++index)
        EXPECT_EQ(state_of(ranges[index]), index % 2 == 0 ? DWORD{MEM_FREE} : DWORD{MEM_RESERVE}) << index;
    for (int index = 1; index < count; index += 2) platform::unreserve(bytes_at(ranges[index], mebibyte), mebibyte);
    for (void* each : ranges) EXPECT_EQ(state_of(each), DWORD{MEM_FREE});
}

TEST(reservations, a_range_of_large_alignment_is_extended_in_place_up_to_it) {
    void* const range = platform::map(mebibyte, 32 * mebibyte);
    ASSERT_NE(range, nullptr);
    EXPECT_TRUE(tenure::is_aligned(range, 32 * mebibyte));
    std::memset(range, 1, mebibyte);
    EXPECT_TRUE(platform::extend(range, mebibyte, 32 * mebibyte));
    EXPECT_EQ(*bytes_at(range, mebibyte - 1), 1);
    EXPECT_EQ(*bytes_at(range, 32 * mebibyte - 1), 0);
    EXPECT_FALSE(platform::extend(range, 32 * mebibyte, 33 * mebibyte));
    platform::unreserve(bytes_at(range, 4 * mebibyte), 28 * mebibyte);
    EXPECT_EQ(state_of(bytes_at(range, 4 * mebibyte)), DWORD{MEM_RESERVE});
    EXPECT_TRUE(platform::extend(range, 4 * mebibyte, 8 * mebibyte)) << "the addresses are still its own";
    EXPECT_EQ(*bytes_at(range, 8 * mebibyte - 1), 0);
    platform::unreserve(range, 8 * mebibyte);
    EXPECT_EQ(state_of(range), DWORD{MEM_FREE});
}

TEST(reservations, the_error_code_of_the_system_is_kept) {
    ::SetLastError(4711);
    void* const range = platform::map(mebibyte, 1);
    EXPECT_EQ(platform::map(std::size_t{1} << 62, 1), nullptr);
    EXPECT_TRUE(platform::decommit(range, mebibyte));
    platform::unreserve(range, mebibyte);
    EXPECT_EQ(::GetLastError(), DWORD{4711});
}

TEST(reservations, sealed_pages_are_not_charged_and_decommitted_ones_are) {
    void* const range = platform::map(mebibyte, 1);
    ASSERT_TRUE(platform::decommit(range, mebibyte / 2));
    EXPECT_EQ(state_of(range), DWORD{MEM_COMMIT});
    EXPECT_EQ(*bytes_at(range, 0), 0);
    ASSERT_TRUE(platform::seal(range, mebibyte / 2));
    EXPECT_EQ(state_of(range), DWORD{MEM_RESERVE});
    platform::unreserve(range, mebibyte);
}

}
