// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The standard library's containers over our allocators: filled, copied, moved, swapped and emptied.

#include <functional>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "adapt/recording_allocator.hpp"
#include "adapt/values.hpp"
#include "support/process.hpp"

namespace {

using adapt::long_text;
using adapt::recording_allocator;
using tenure::stl_allocator;

template<class T, class Allocator>
using vector_in = std::vector<T, stl_allocator<T, Allocator>>;
template<class T, class Allocator>
using list_in = std::list<T, stl_allocator<T, Allocator>>;
template<class Allocator>
using string_in = std::basic_string<char, std::char_traits<char>, stl_allocator<char, Allocator>>;
template<class Allocator>
using map_in = std::map<int, string_in<Allocator>, std::less<>,
                        stl_allocator<std::pair<const int, string_in<Allocator>>, Allocator>>;
template<class Allocator>
using hash_map_in = std::unordered_map<int, long, std::hash<int>, std::equal_to<>,
                                       stl_allocator<std::pair<const int, long>, Allocator>>;

/// Every container at work at the same time over one allocator, of which each takes a copy of `from`.
template<class Allocator>
void use_all(const stl_allocator<char, Allocator>& from) {
    vector_in<int, Allocator> numbers(from);
    vector_in<bool, Allocator> flags(from);
    list_in<int, Allocator> order(from);
    map_in<Allocator> names(from);
    hash_map_in<Allocator> found(from);
    string_in<Allocator> text(from);
    for (int number = 0; number < 1000; ++number) {
        numbers.push_back(number);
        flags.push_back(number % 3 == 0);
        order.push_front(number);
        names.emplace(number, string_in<Allocator>(long_text, from));
        found[number] = number * 2L;
        text += static_cast<char>('a' + number % 26);
    }
    for (int number = 0; number < 1000; number += 2) {
        names.erase(number);
        found.erase(number);
        order.remove(number);
    }
    numbers.erase(numbers.begin(), numbers.begin() + 500);
    numbers.shrink_to_fit();
    text.resize(20);
    text.shrink_to_fit();

    EXPECT_EQ(numbers.front(), 500);
    EXPECT_EQ(numbers.back(), 999);
    EXPECT_TRUE(flags[999]);
    EXPECT_FALSE(flags[998]);
    EXPECT_EQ(order.size(), 500u);
    EXPECT_EQ(order.front(), 999);
    EXPECT_EQ(names.size(), 500u);
    EXPECT_EQ(names.at(501), long_text);
    EXPECT_EQ(found.size(), 500u);
    EXPECT_EQ(found.at(501), 1002);
    EXPECT_EQ(text, "abcdefghijklmnopqrst");
}

TEST(containers, all_kinds_work_together_and_give_everything_back) {
    recording_allocator from;
    use_all<recording_allocator>(from);
    EXPECT_GT(from.requests(), 2000u);
    EXPECT_EQ(from.live(), 0u);
    EXPECT_EQ(from.fault(), "");
}

TEST(containers, all_kinds_work_over_an_arena) {
    tenure::counting_source source(tenure::page_source::process());
    {
        tenure::arena scratch(source);
        for (int round = 0; round < 3; ++round) {
            use_all<tenure::arena>(scratch);
            EXPECT_TRUE(scratch.valid());
            scratch.clear();
        }
        EXPECT_GT(source.live_blocks(), 0u);
    }
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(containers, all_kinds_work_over_temp_job_and_need_no_argument) {
    const std::size_t living = tenure::temp_job::stats().live_count;
    use_all<tenure::temp_job>({});
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
    EXPECT_TRUE(tenure::temp_job::valid());
}

TEST(containers, all_kinds_work_over_temp_within_a_scope) {
    support::on_fresh_thread([] {
        for (int round = 0; round < 3; ++round) {
            const tenure::temp_scope scope;
            use_all<tenure::temp>({});
        }
        EXPECT_EQ(tenure::temp::stats().used_bytes, 0u);
    });
}

TEST(containers, a_vector_without_an_argument_is_in_temp_job) {
    vector_in<int, tenure::temp_job> numbers(100);
    const vector_in<int, tenure::temp_job> copy = numbers;
    EXPECT_TRUE(tenure::temp_job::owns(numbers.data()));
    EXPECT_TRUE(tenure::temp_job::owns(copy.data()));
    const string_in<tenure::temp_job> text = long_text;
    EXPECT_TRUE(tenure::temp_job::owns(text.data()));
}

TEST(containers, what_one_thread_filled_over_temp_job_another_may_destroy) {
    const std::size_t living = tenure::temp_job::stats().live_count;
    vector_in<int, tenure::temp_job> numbers;
    support::on_fresh_thread([&] {
        for (int number = 0; number < 5000; ++number) numbers.push_back(number);
    });
    for (int number = 0; number < 5000; ++number) ASSERT_EQ(numbers[static_cast<std::size_t>(number)], number);
    support::on_fresh_thread([gone = std::move(numbers)]() mutable {
        gone.clear();
        gone.shrink_to_fit();
    });
    EXPECT_EQ(tenure::temp_job::stats().live_count, living);
}

template<class Pool>
void nodes_come_from(Pool& blocks) {
    {
        list_in<int, Pool> order(blocks);
        for (int number = 0; number < 1000; ++number) order.push_back(number);
        EXPECT_EQ(blocks.size(), 1000u);
        EXPECT_TRUE(blocks.owns(&order.front()));
        order.remove_if([](int number) { return number % 4 != 0; });
        EXPECT_EQ(blocks.size(), 250u);
        order.reverse();
        EXPECT_EQ(order.front(), 996);
    }
    EXPECT_EQ(blocks.size(), 0u);
    EXPECT_TRUE(blocks.valid());
    vector_in<int, Pool> numbers(blocks);
    EXPECT_THROW(numbers.resize(100), std::bad_alloc) << "an array is larger than a block";
}

TEST(containers, a_lists_nodes_come_from_a_pool_of_blocks) {
    tenure::block_pool blocks(3 * sizeof(void*), alignof(void*));
    nodes_come_from(blocks);
    tenure::shared_block_pool shared(3 * sizeof(void*), alignof(void*));
    nodes_come_from(shared);
}

TEST(containers, a_copy_uses_the_allocator_of_the_original) {
    recording_allocator from;
    {
        const map_in<recording_allocator> names({{1, string_in<recording_allocator>(long_text, from)}}, from);
        const map_in<recording_allocator> copy = names;
        EXPECT_EQ(copy, names);
        EXPECT_EQ(from.live(), 4u) << "a node and its text, twice";
        EXPECT_EQ(copy.get_allocator(), names.get_allocator());
    }
    EXPECT_EQ(from.live(), 0u);
    EXPECT_EQ(from.fault(), "");
}

TEST(containers, a_moved_container_keeps_its_blocks) {
    recording_allocator from;
    {
        vector_in<int, recording_allocator> numbers({1, 2, 3}, from);
        int* const place = numbers.data();
        vector_in<int, recording_allocator> moved = std::move(numbers);
        EXPECT_EQ(moved.data(), place);
        vector_in<int, recording_allocator> assigned({4, 5}, from);
        assigned = std::move(moved);
        EXPECT_EQ(assigned.data(), place);
        EXPECT_EQ(from.live(), 1u);

        list_in<int, recording_allocator> order({1, 2, 3}, from);
        const int* const first = &order.front();
        list_in<int, recording_allocator> other(from);
        other.splice(other.end(), order);
        EXPECT_EQ(&other.front(), first);
    }
    EXPECT_EQ(from.live(), 0u);
    EXPECT_EQ(from.fault(), "");
}

TEST(containers, a_move_between_allocators_moves_the_elements_and_each_keeps_its_own) {
    recording_allocator left;
    recording_allocator right;
    {
        vector_in<std::string, recording_allocator> one({long_text, "two"}, left);
        vector_in<std::string, recording_allocator> two({"three"}, right);
        two = std::move(one);
        EXPECT_TRUE(right.owns(two.data()));
        EXPECT_EQ(two, (vector_in<std::string, recording_allocator>({long_text, "two"}, right)));
        map_in<recording_allocator> names({{1, string_in<recording_allocator>(long_text, left)}}, left);
        map_in<recording_allocator> others(right);
        others = std::move(names);
        EXPECT_TRUE(right.owns(&*others.begin()));
        EXPECT_EQ(others.at(1), long_text);
        one = two;
        EXPECT_TRUE(left.owns(one.data())) << "a copy too stays where it was";
    }
    EXPECT_EQ(left.live(), 0u);
    EXPECT_EQ(right.live(), 0u);
    EXPECT_EQ(left.fault() + right.fault(), "");
}

TEST(containers, a_move_from_one_arena_to_another_outlives_the_first) {
    tenure::arena lasting;
    vector_in<int, tenure::arena> numbers(lasting);
    {
        tenure::arena passing;
        vector_in<int, tenure::arena> found(passing);
        for (int number = 0; number < 1000; ++number) found.push_back(number);
        numbers = std::move(found);
        EXPECT_TRUE(lasting.owns(numbers.data()));
    }
    for (int number = 0; number < 1000; ++number) ASSERT_EQ(numbers[static_cast<std::size_t>(number)], number);
}

TEST(containers, a_swap_exchanges_blocks) {
    recording_allocator from;
    {
        hash_map_in<recording_allocator> one(from);
        hash_map_in<recording_allocator> two(from);
        for (int number = 0; number < 100; ++number) one[number] = number;
        two[1000] = 1;
        const long* const place = &one.at(50);
        const std::size_t requests = from.requests();
        one.swap(two);
        EXPECT_EQ(&two.at(50), place);
        EXPECT_EQ(one.size(), 1u);
        EXPECT_EQ(from.requests(), requests);
    }
    EXPECT_EQ(from.live(), 0u);
    EXPECT_EQ(from.fault(), "");

    vector_in<int, tenure::temp_job> one(100, 1);
    vector_in<int, tenure::temp_job> two(200, 2);
    const int* const place = one.data();
    std::swap(one, two);
    EXPECT_EQ(two.data(), place);
    one = std::move(two);
    EXPECT_EQ(one.data(), place) << "all of them are the same allocator";
}

TEST(containers, growth_in_place_of_the_newest_vector_reuses_an_arenas_end) {
    tenure::arena scratch;
    {
        const vector_in<int, tenure::arena> numbers(1000, 7, scratch);
        EXPECT_EQ(scratch.stats().live_bytes, 4000u);
    }
    EXPECT_EQ(scratch.stats().live_bytes, 0u) << "the newest block goes back";
}

}
