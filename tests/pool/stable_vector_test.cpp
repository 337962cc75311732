// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/stable_vector.hpp>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tenure/platform/memory.hpp>

namespace {

using tenure::stable_vector;

TEST(stable_vector, elements_never_move_while_it_grows) {
    stable_vector<std::string> names(1'000'000);
    std::string* const first = names.emplace_back("the first of all names");
    ASSERT_NE(first, nullptr);
    for (int index = 1; index < 100'000; ++index) ASSERT_NE(names.emplace_back(std::to_string(index)), nullptr);
    EXPECT_EQ(&names[0], first);
    EXPECT_EQ(*first, "the first of all names");
    EXPECT_EQ(names[99'999], "99999");
    EXPECT_EQ(names.end() - names.begin(), 100'000);
}

TEST(stable_vector, it_is_full_at_its_maximum_and_unchanged) {
    stable_vector<int> numbers(3);
    EXPECT_EQ(numbers.size(), 0u);
    EXPECT_NE(numbers.append(2), nullptr);
    EXPECT_EQ(numbers.append(2), nullptr);
    EXPECT_EQ(numbers.size(), 2u);
    EXPECT_NE(numbers.emplace_back(7), nullptr);
    // The memory of a whole page is there, but the maximum counts.
    EXPECT_EQ(numbers.emplace_back(8), nullptr);
    EXPECT_FALSE(numbers.reserve(4));
    EXPECT_EQ(numbers.size(), 3u);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 7);
}

TEST(stable_vector, an_impossible_maximum_refuses_and_nothing_more) {
    stable_vector<std::uint64_t> numbers(SIZE_MAX / 4);
    EXPECT_EQ(numbers.emplace_back(1u), nullptr);
    EXPECT_FALSE(numbers.reserve(1));
    EXPECT_TRUE(numbers.empty());
    stable_vector<std::uint64_t> none(0);
    EXPECT_EQ(none.emplace_back(1u), nullptr);
}

TEST(stable_vector, a_move_keeps_addresses_and_leaves_an_empty_one) {
    stable_vector<std::unique_ptr<int>> first(100);
    std::unique_ptr<int>* const at = first.emplace_back(std::make_unique<int>(5));
    stable_vector<std::unique_ptr<int>> second(std::move(first));
    EXPECT_EQ(second.begin(), at);
    EXPECT_EQ(**second.begin(), 5);
    EXPECT_TRUE(first.empty()); // NOLINT: documented
    EXPECT_NE(first.emplace_back(nullptr), nullptr);
    second = std::move(first);
    EXPECT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0], nullptr);
}

TEST(stable_vector, elements_are_destroyed_once) {
    const auto counted = std::make_shared<int>(0);
    {
        stable_vector<std::shared_ptr<int>> copies(100);
        for (int index = 0; index < 10; ++index) ASSERT_NE(copies.emplace_back(counted), nullptr);
        copies.pop_back();
        EXPECT_EQ(counted.use_count(), 10);
        copies.clear();
        EXPECT_EQ(counted.use_count(), 1);
        ASSERT_NE(copies.emplace_back(counted), nullptr);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

TEST(stable_vector, trim_returns_pages_and_growth_takes_them_again) {
    stable_vector<int> numbers(1'000'000);
    ASSERT_NE(numbers.append(500'000), nullptr);
    numbers[499'999] = 5;
    while (numbers.size() > 10) numbers.pop_back();
    numbers[9] = 9;
    EXPECT_GE(numbers.trim(), 499'000 * sizeof(int));
    EXPECT_EQ(numbers[9], 9);
    ASSERT_NE(numbers.append(499'990), nullptr);
    EXPECT_EQ(numbers[499'999], 0);
}

TEST(stable_vector, an_index_out_of_range_ends_the_program_in_checked_builds) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    stable_vector<int> numbers(10);
    EXPECT_DEATH(static_cast<void>(numbers[0]), "stable_vector is out of range");
    EXPECT_DEATH(numbers.pop_back(), "stable_vector is out of range");
}

}
