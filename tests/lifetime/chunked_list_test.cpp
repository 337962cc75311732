// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/chunked_list.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>

#include "lifetime/fixture.hpp"
#include "support/random.hpp"

namespace {

using tenure::chunked_list;
using tenure::lifetime;
using tenure::temp_scope;

static_assert(std::random_access_iterator<chunked_list<int>::iterator>);
static_assert(std::ranges::random_access_range<const chunked_list<std::string>>);
static_assert(!std::copy_constructible<chunked_list<int>>);
static_assert(chunked_list<int>::chunk_elements == 1024 && chunked_list<char[3000]>::chunk_elements == 8);

constexpr lifetime every_lifetime[] = {lifetime::temp, lifetime::temp_job, lifetime::persistent};

TEST(chunked_lists, behave_like_a_vector_and_never_move_an_element) {
    for (const lifetime held : every_lifetime) {
        const temp_scope scope;
        chunked_list<std::string> list(held);
        std::vector<std::string> model;
        std::vector<const std::string*> places;
        support::random numbers(7);
        for (int step = 0; step < 30'000; ++step) {
            const std::size_t kind = numbers.below(100);
            if (kind < 70) {
                model.push_back(std::to_string(step) + std::string(numbers.below(40), 'x'));
                const std::string* const made = list.emplace_back(model.back());
                ASSERT_NE(made, nullptr);
                places.push_back(made);
            } else if (kind < 99 && !model.empty()) {
                model.pop_back();
                places.pop_back();
                list.pop_back();
            } else if (numbers.below(1000) == 0) {
                model.clear();
                places.clear();
                list.clear();
            }
            ASSERT_EQ(list.size(), model.size());
            if (model.empty()) continue;
            const std::size_t index = numbers.below(model.size());
            ASSERT_EQ(list[index], model[index]);
            ASSERT_EQ(&list[index], places[index]);
            ASSERT_EQ(&list.back(), places.back());
        }
        EXPECT_TRUE(std::ranges::equal(list, model));
        EXPECT_TRUE(std::ranges::equal(std::as_const(list) | std::views::reverse, model | std::views::reverse));
        std::size_t seen = 0;
        list.for_each_chunk([&](std::span<std::string> elements) {
            for (const std::string& each : elements) ASSERT_EQ(each, model[seen++]);
        });
        EXPECT_EQ(seen, model.size());
    }
}

TEST(chunked_lists, give_their_memory_back_to_their_lifetime) {
    const std::size_t before = tenure::temp_job::stats().live_count;
    {
        chunked_list<std::uint64_t> list(lifetime::temp_job);
        ASSERT_TRUE(list.reserve(10'000));
        EXPECT_GE(list.capacity(), 10'000u);
        EXPECT_GT(tenure::temp_job::stats().live_count, before);
        for (std::uint64_t value = 0; value < 10'000; ++value) ASSERT_NE(list.emplace_back(value), nullptr);
        const std::uint64_t* const first = &list[0];
        chunked_list<std::uint64_t> moved = std::move(list);
        EXPECT_EQ(list.size(), 0u); // NOLINT: what it is after the move is promised
        EXPECT_EQ(&moved[0], first);
        list = std::move(moved);
        EXPECT_EQ(list.size(), 10'000u);
        list.reset();
        EXPECT_EQ(tenure::temp_job::stats().live_count, before);
        ASSERT_NE(list.emplace_back(1u), nullptr);
    }
    EXPECT_EQ(tenure::temp_job::stats().live_count, before);
}

TEST(chunked_lists, in_temp_end_with_their_scope) {
    if (tenure::passthrough_enabled(tenure::part::temp)) GTEST_SKIP() << "malloc serves";
    const std::size_t used = tenure::temp::stats().used_bytes;
    {
        const temp_scope scope;
        chunked_list<int> list(lifetime::temp);
        for (int value = 0; value < 5000; ++value) ASSERT_NE(list.emplace_back(value), nullptr);
        EXPECT_GE(tenure::temp::stats().used_bytes, used + 20'000);
    }
    EXPECT_EQ(tenure::temp::stats().used_bytes, used);
}

TEST(chunked_lists, destroy_each_element_once_and_keep_none_that_threw) {
    static int live = 0;
    struct counted {
        explicit counted(bool throws) {
            if (throws) throw std::runtime_error("no");
            ++live;
        }
        ~counted() { --live; }
        char bytes[500];
    };
    {
        chunked_list<counted> list(lifetime::persistent);
        for (int index = 0; index < 20; ++index) ASSERT_NE(list.emplace_back(false), nullptr);
        EXPECT_THROW(static_cast<void>(list.emplace_back(true)), std::runtime_error);
        EXPECT_EQ(list.size(), 20u);
        EXPECT_EQ(live, 20);
        list.pop_back();
        EXPECT_EQ(live, 19);
    }
    EXPECT_EQ(live, 0);
}

TEST(chunked_lists, are_unchanged_when_out_of_memory) {
    struct huge {
        char bytes[std::size_t{1} << 60];
    };
    for (const lifetime held : every_lifetime) {
        const temp_scope scope;
        chunked_list<huge> list(held);
        EXPECT_FALSE(list.reserve(1));
        EXPECT_TRUE(list.reserve(0));
        EXPECT_EQ(list.size(), 0u);
        EXPECT_EQ(list.capacity(), 0u);
        list.reset();
    }
}

TEST(chunked_list_death, an_index_out_of_range_ends_the_program_in_checked_builds) {
    if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    chunked_list<int> list(lifetime::persistent);
    ASSERT_NE(list.emplace_back(1), nullptr);
    EXPECT_DEATH(static_cast<void>(list[1]), "out of range");
    list.pop_back();
    EXPECT_DEATH(list.pop_back(), "out of range");
}

TEST(chunked_list_death, a_list_that_outlives_its_temp_scope_is_reported_in_checked_builds) {
    if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    EXPECT_DEATH(
        {
            chunked_list<int> list(lifetime::temp);
            {
                const temp_scope scope;
                static_cast<void>(list.emplace_back(1));
            }
            list.reset();
        },
        "not in this thread's Temp");
}

}
