// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/buffer/huge_array.hpp>
#include <tenure/buffer/safe_array.hpp>
#include <tenure/platform/process.hpp>

#include "support/own_path.hpp"
#include "support/reports.hpp"

namespace {

using tenure::huge_array;
using tenure::safe_array;
using tenure::status;

struct counted {
    static inline int alive = 0;
    counted() noexcept { ++alive; }
    counted(const counted& other) noexcept : value(other.value) { ++alive; }
    ~counted() { --alive; }
    int value = 42;
};

TEST(safe_array, elements_are_made_and_ended_with_it) {
    counted::alive = 0;
    {
        auto array = safe_array<counted>::make(100);
        ASSERT_TRUE(array.is_live());
        EXPECT_EQ(counted::alive, 100);
        EXPECT_EQ(array[99].value, 42);
        const safe_array<counted> moved = std::move(array);
        EXPECT_EQ(counted::alive, 100);
        EXPECT_EQ(moved.size(), 100u);
        const counted values[3];
        const auto copies = safe_array<counted>::copy_of(values);
        EXPECT_EQ(counted::alive, 106);
        EXPECT_EQ(copies[2].value, 42);
    }
    EXPECT_EQ(counted::alive, 0);
}

TEST(safe_array, numbers_are_zero_and_others_see_them_until_its_end) {
    auto array = safe_array<int>::make(1000);
    EXPECT_EQ(std::count(array.begin(), array.end(), 0), 1000);
    const auto seen = array.buffer();
    array[5] = 7;
    EXPECT_EQ(seen[5], 7);
    EXPECT_EQ(array.try_at(1000), nullptr);
    EXPECT_EQ(array.deallocate(), status::ok);
    EXPECT_FALSE(seen.is_live());
    EXPECT_FALSE(array.is_live());
    EXPECT_EQ(array.size(), 0u);
    EXPECT_EQ(array.deallocate(), status::stale_handle);
}

TEST(safe_array, a_lease_keeps_its_elements) {
    counted::alive = 0;
    auto array = safe_array<counted>::make(10);
    {
        const auto held = array.lease();
        std::uint32_t holders = 0;
        EXPECT_EQ(array.deallocate(&holders), status::still_held);
        EXPECT_EQ(holders, 1u);
        EXPECT_EQ(held[9].value, 42);
    }
    EXPECT_EQ(array.deallocate(), status::ok);
    EXPECT_EQ(counted::alive, 0);
}

TEST(safe_array, one_that_ends_while_it_is_held_says_so_and_keeps_its_memory) {
    tenure::fixed_buffer<int> seen;
    {
        const support::heard_reports heard;
        {
            const auto array = safe_array<int>::make(10);
            seen = array.buffer();
            EXPECT_EQ(seen.acquire(), status::ok);
            seen[3] = 4;
        }
        EXPECT_NE(heard.last().find("while it is held 1 time"), std::string::npos) << heard.last();
    }
    EXPECT_EQ(seen[3], 4);
    EXPECT_EQ(seen.release(), status::ok);
    EXPECT_EQ(seen.deallocate(), status::ok);
}

TEST(safe_array, an_assignment_ends_what_was_there) {
    counted::alive = 0;
    auto array = safe_array<counted>::make(10);
    const auto seen = array.as_handle();
    auto other = safe_array<counted>::make(3);
    array = std::move(other);
    EXPECT_EQ(counted::alive, 3);
    EXPECT_FALSE(tenure::handle_table::process().is_live(seen));
    EXPECT_TRUE(other.empty()); // NOLINT(bugprone-use-after-move): that is the question
    EXPECT_EQ(array.size(), 3u);
    safe_array<counted>& same = array;
    array = std::move(same);
    EXPECT_EQ(array.size(), 3u);
    array = {};
    EXPECT_EQ(counted::alive, 0);
}

TEST(safe_array, memory_that_another_freed_is_gone_for_the_owner_too) {
    auto array = safe_array<int>::make(10);
    ASSERT_EQ(array.buffer().deallocate(), status::ok);
    EXPECT_FALSE(array.is_live());
    EXPECT_EQ(array.size(), tenure::checks::caller ? 0u : 10u);
    if constexpr (tenure::checks::caller) {
        EXPECT_EQ(array.try_at(3), nullptr);
    }
    EXPECT_EQ(array.deallocate(), status::stale_handle);
    EXPECT_TRUE(array.empty());
}

TEST(safe_array, what_is_no_alignment_is_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_FALSE(safe_array<int>::make(10, {.alignment = 3}).is_live());
    EXPECT_FALSE(safe_array<int>::make(10, {.alignment = 0}).is_live());
}

TEST(huge_array, is_one_piece_past_four_thousand_million_elements) {
    constexpr std::size_t count = (std::size_t{1} << 32) + 1000;
    const auto array = huge_array<std::uint8_t>::make(count);
    if (!array.is_live()) GTEST_SKIP() << "the system has no addresses for 4 GiB";
    EXPECT_EQ(array.size(), count);
    array[0] = 1; // some pages, and not all
    array[(std::size_t{1} << 31) + 5] = 2;
    array[count - 1] = 3;
    EXPECT_EQ(array.span()[(std::size_t{1} << 31) + 5], 2);
    EXPECT_EQ(array[(std::size_t{1} << 32) - 1], 0);
    EXPECT_EQ(&array[count - 1] - &array[0], static_cast<std::ptrdiff_t>(count - 1));
    EXPECT_EQ(array.try_at(count), nullptr);
}

TEST(huge_array, of_a_file_is_what_the_file_holds) {
    const std::string path = support::own_path("huge");
    {
        status why = status::ok;
        const auto array = huge_array<std::uint64_t>::map_file(path.c_str(), 100'000, &why);
        ASSERT_EQ(why, status::ok);
        array[99'999] = 77;
    }
    EXPECT_EQ(std::filesystem::file_size(path), 800'000u);
    {
        const auto again = huge_array<std::uint64_t>::map_file(path.c_str(), 100'000);
        EXPECT_EQ(again[99'999], 77u);
    }
    std::filesystem::remove(path);
    status why = status::ok;
    EXPECT_FALSE(huge_array<int>::map_file("/no such folder/file", 10, &why).is_live());
    EXPECT_EQ(why, status::file_error);
    EXPECT_FALSE(huge_array<int>::map_file(nullptr, SIZE_MAX, &why).is_live());
    EXPECT_EQ(why, status::out_of_memory);
    EXPECT_FALSE(huge_array<int>::map_file(nullptr, 0, &why).is_live());
    EXPECT_EQ(why, status::invalid_argument);
}

TEST(huge_array, is_owned_by_one_and_seen_by_others) {
    auto array = huge_array<double>::make(1'000'000);
    const auto seen = array.buffer();
    auto moved = std::move(array);
    EXPECT_FALSE(array.is_live()); // NOLINT(bugprone-use-after-move): that is the question
    EXPECT_TRUE(seen.is_live());
    EXPECT_EQ(moved.lease().size(), 1'000'000u);
    EXPECT_EQ(moved.deallocate(), status::ok);
    EXPECT_FALSE(seen.is_live());
}

}
