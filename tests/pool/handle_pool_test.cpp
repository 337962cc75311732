// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/handle_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using tenure::handle_pool;
using tenure::pool_handle;

TEST(handle_pool, a_handle_finds_its_object_until_it_is_destroyed) {
    handle_pool<std::string> names(1000);
    const pool_handle<std::string> first = names.construct("first");
    const pool_handle<std::string> second = names.construct(3u, 'x');
    ASSERT_TRUE(first && second);
    EXPECT_EQ(*names.get(first), "first");
    EXPECT_EQ(*names.get(second), "xxx");
    EXPECT_EQ(names.handle_of(names.get(second)), second);
    EXPECT_TRUE(names.destroy(first));
    EXPECT_EQ(names.get(first), nullptr);
    EXPECT_FALSE(names.destroy(first));
    EXPECT_EQ(names.size(), 1u);
    EXPECT_TRUE(names.valid());
}

TEST(handle_pool, an_impossible_maximum_is_reported_once_also_if_the_pool_moves) {
    const support::heard_reports heard;
    handle_pool<int> first((std::size_t{1} << 32) + 1);
    handle_pool<int> second(std::move(first));
    first = std::move(second);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
    EXPECT_EQ(first.max_size(), (std::size_t{1} << 32) + 1);
    EXPECT_FALSE(first.construct(1)) << "it is refused as before";
}

TEST(handle_pool, a_stale_handle_is_refused_after_the_slot_is_used_again) {
    handle_pool<int> numbers(1000);
    const auto old = numbers.construct(1);
    numbers.destroy(old);
    const auto now = numbers.construct(2);
    EXPECT_EQ(now.index, old.index);
    EXPECT_NE(now, old);
    EXPECT_EQ(numbers.get(old), nullptr);
    EXPECT_FALSE(numbers.destroy(old));
    EXPECT_EQ(*numbers.get(now), 2);
}

TEST(handle_pool, any_bits_are_refused) {
    handle_pool<int> numbers(1000);
    EXPECT_EQ(numbers.get({}), nullptr);
    EXPECT_EQ(numbers.get({0, 1}), nullptr);
    const auto one = numbers.construct(1);
    EXPECT_EQ(numbers.get({}), nullptr);
    EXPECT_EQ(numbers.get({1, 1}), nullptr);
    EXPECT_EQ(numbers.get({UINT32_MAX, 1}), nullptr);
    EXPECT_EQ(numbers.get({one.index, one.generation + 1}), nullptr);
    EXPECT_EQ(pool_handle<int>::from_bits(one.bits()), one);
    numbers.destroy(one);
    EXPECT_EQ(numbers.get({one.index, one.generation + 1}), nullptr) << "a free slot has no handle";
    int outside = 0;
    EXPECT_FALSE(numbers.handle_of(&outside));
}

TEST(handle_pool, a_handle_of_another_pool_is_refused) {
    constexpr int pool_count = 50, uses = 2000;
    std::vector<handle_pool<int>> pools;
    for (int count = 0; count < pool_count; ++count) pools.emplace_back(10);
    std::set<std::uint64_t> given;
    for (handle_pool<int>& each : pools) {
        for (int use = 0; use < uses; ++use) {
            const auto made = each.construct(use);
            EXPECT_TRUE(given.insert(made.bits()).second);
            if (use != uses - 1) each.destroy(made);
        }
    }
    for (const std::uint64_t bits : given) {
        int owners = 0;
        for (const handle_pool<int>& each : pools) owners += each.is_live(pool_handle<int>::from_bits(bits)) ? 1 : 0;
        ASSERT_LE(owners, 1);
    }
    const auto first = pools[0].construct(5), second = pools[1].construct(6);
    ASSERT_EQ(first.index, second.index);
    EXPECT_EQ(pools[0].get(second), nullptr);
    EXPECT_FALSE(pools[0].destroy(second));
    EXPECT_EQ(*pools[0].get(first), 5);
    EXPECT_EQ(*pools[1].get(second), 6);
}

TEST(handle_pool, a_handle_of_a_pool_that_was_replaced_is_stale) {
    handle_pool<int> pool(10);
    std::vector<pool_handle<int>> old;
    for (int round = 0; round < 100; ++round) {
        pool = handle_pool<int>(10);
        const auto made = pool.construct(round);
        for (const auto each : old) EXPECT_EQ(pool.get(each), nullptr);
        EXPECT_EQ(*pool.get(made), round);
        old.push_back(made);
    }
    // Those of the moved-from pool as well.
    handle_pool<int> taken(std::move(pool));
    const auto made = pool.construct(1); // NOLINT: documented
    EXPECT_EQ(taken.get(made), nullptr);
    EXPECT_EQ(pool.get(old.back()), nullptr);
    EXPECT_EQ(*taken.get(old.back()), 99);
}

TEST(handle_pool, a_slot_that_had_every_generation_is_not_used_again) {
    tenure::detail::handle_slots slots(16, 16, 100);
    const auto use = [&] {
        const auto call = slots.begin_call();
        EXPECT_TRUE(static_cast<bool>(call));
        const std::size_t index = slots.take();
        slots.make_live(index);
        const std::uint32_t generation = slots.generation_of(index);
        slots.make_stale(index);
        slots.give(index);
        EXPECT_TRUE(slots.valid());
        return std::pair{index, generation};
    };
    const auto [index, first] = use();
    // As if the slot had been used for all objects but two.
    const_cast<tenure::detail::slot_group*>(slots.groups())->generations[index] = first - 1 - 4;
    EXPECT_EQ(use(), std::pair(index, first - 4));
    EXPECT_EQ(use(), std::pair(index, first - 2));
    EXPECT_EQ(use(), std::pair(index + 1, first));
    EXPECT_FALSE(slots.is_live(static_cast<std::uint32_t>(index), first));
}

TEST(handle_pool, objects_are_visited_in_the_order_of_addresses) {
    handle_pool<int> numbers(100'000);
    std::vector<pool_handle<int>> handles;
    for (int index = 0; index < 20'000; ++index) handles.push_back(numbers.construct(index));
    for (std::size_t index = 0; index < handles.size(); ++index)
        if (index % 3 != 0 || (index > 5000 && index < 15'000)) numbers.destroy(handles[index]);
    const int* previous = nullptr;
    std::size_t count = 0;
    for (const int& each : numbers) {
        EXPECT_GT(&each, previous);
        EXPECT_EQ(each % 3, 0);
        previous = &each;
        ++count;
    }
    EXPECT_EQ(count, numbers.size());
    std::size_t visited = 0;
    numbers.for_each([&](pool_handle<int> which, int& each) {
        EXPECT_EQ(numbers.get(which), &each);
        ++visited;
        numbers.destroy(which);
    });
    EXPECT_EQ(visited, count);
    EXPECT_TRUE(numbers.empty());
}

TEST(handle_pool, a_construction_takes_the_free_slot_with_the_lowest_address) {
    handle_pool<int> numbers(100'000);
    std::vector<pool_handle<int>> handles;
    for (int index = 0; index < 50'000; ++index) handles.push_back(numbers.construct(index));
    for (std::size_t index : {40'000u, 30u, 9000u}) numbers.destroy(handles[index]);
    for (std::uint32_t index : {30u, 9000u, 40'000u, 50'000u}) EXPECT_EQ(numbers.construct(1).index, index);
}

TEST(handle_pool, it_is_full_at_its_maximum_and_unchanged) {
    const support::heard_reports heard; // checked builds report what is refused
    handle_pool<int> numbers(70);
    std::vector<pool_handle<int>> handles;
    for (int index = 0; index < 70; ++index) handles.push_back(numbers.construct(index));
    EXPECT_TRUE(handles.back());
    EXPECT_FALSE(numbers.construct(1));
    EXPECT_EQ(numbers.size(), 70u);
    numbers.destroy(handles[64]);
    EXPECT_EQ(numbers.construct(5).index, 64u);
    EXPECT_FALSE(numbers.construct(1));
    EXPECT_TRUE(numbers.valid());
    handle_pool<int> impossible(SIZE_MAX);
    EXPECT_FALSE(impossible.construct(1));
    handle_pool<int> none(0);
    EXPECT_FALSE(none.construct(1));
}

TEST(handle_pool, a_constructor_that_throws_leaves_no_object) {
    struct thrower {
        explicit thrower(bool throws) {
            if (throws) throw 1;
        }
    };
    handle_pool<thrower> pool(10);
    EXPECT_THROW(static_cast<void>(pool.construct(true)), int);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.construct(false));
    EXPECT_TRUE(pool.valid());
}

/// Uses its pool in its constructor and its destructor.
struct partner {
    using pool_type = handle_pool<partner>;

    explicit partner(pool_type& in, int* destroyed_count = nullptr) : pool(in), destroyed(destroyed_count) {
        EXPECT_FALSE(pool.handle_of(this)) << "an object has no handle while it is constructed";
        for (const partner& each : pool) EXPECT_NE(&each, this);
    }
    ~partner() {
        EXPECT_EQ(pool.get(self), nullptr);
        EXPECT_FALSE(pool.destroy(self)) << "its own destructor runs";
        EXPECT_FALSE(pool.handle_of(this));
        if (trims) pool.trim();
        if (constructs) made = pool.construct(pool);
        for (const partner& each : pool) EXPECT_NE(&each, this);
        pool.destroy(other);
        EXPECT_EQ(mark, 7) << "nobody else has the memory";
        if (destroyed != nullptr) ++*destroyed;
    }
    partner(const partner&) = delete;
    partner& operator=(const partner&) = delete;

    pool_type& pool;
    int* destroyed;
    pool_handle<partner> self{}, other{};
    bool constructs = false, trims = false;
    int mark = 7;
    static pool_handle<partner> made;
};
pool_handle<partner> partner::made{};

/// Two objects of which each destroys the other.
pool_handle<partner> make_pair_in(handle_pool<partner>& pool, int* destroyed) {
    const auto first = pool.construct(pool, destroyed), second = pool.construct(pool, destroyed);
    pool.get(first)->self = pool.get(second)->other = first;
    pool.get(first)->other = pool.get(second)->self = second;
    return first;
}

TEST(handle_pool, two_objects_may_destroy_each_other) {
    handle_pool<partner> pool(100);
    int destroyed = 0;
    const auto first = make_pair_in(pool, &destroyed);
    EXPECT_TRUE(pool.destroy(first));
    EXPECT_EQ(destroyed, 2);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
    for (int count = 0; count < 10; ++count) static_cast<void>(make_pair_in(pool, &destroyed));
    pool.clear();
    EXPECT_EQ(destroyed, 22);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.valid());
}

TEST(handle_pool, objects_that_destroy_each_other_are_destroyed_once_by_the_end_and_by_a_move) {
    int destroyed = 0;
    {
        handle_pool<partner> pool(100);
        for (int count = 0; count < 10; ++count) static_cast<void>(make_pair_in(pool, &destroyed));
    }
    EXPECT_EQ(destroyed, 20);
    handle_pool<partner> replaced(100);
    static_cast<void>(make_pair_in(replaced, &destroyed));
    replaced = handle_pool<partner>(100);
    EXPECT_EQ(destroyed, 22);
    EXPECT_TRUE(replaced.empty());
}

TEST(handle_pool, the_slot_of_an_object_is_used_again_after_its_destructor) {
    handle_pool<partner> pool(100);
    const auto old = pool.construct(pool);
    pool.get(old)->self = old;
    pool.get(old)->constructs = true;
    EXPECT_TRUE(pool.destroy(old));
    EXPECT_EQ(partner::made.index, 1u);
    EXPECT_EQ(pool.construct(pool).index, old.index);
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_TRUE(pool.valid());
}

TEST(handle_pool, a_trim_during_a_destructor_keeps_the_object) {
    struct large {
        explicit large(handle_pool<large>& in) : pool(in) { words[1000] = 5; }
        ~large() {
            EXPECT_GT(pool.trim(), 0u);
            EXPECT_EQ(words[1000], 5u);
        }
        handle_pool<large>& pool;
        std::uint64_t words[4096];
    };
    handle_pool<large> pool(100);
    EXPECT_TRUE(pool.destroy(pool.construct(pool)));
}

TEST(handle_pool, a_constructor_may_construct_others) {
    struct tree {
        tree(handle_pool<tree>& in, int depth) {
            if (depth != 0) left = in.construct(in, depth - 1), right = in.construct(in, depth - 1);
        }
        pool_handle<tree> left{}, right{};
    };
    handle_pool<tree> trees(100'000);
    const auto root = trees.construct(trees, 10);
    EXPECT_EQ(trees.size(), 2047u);
    EXPECT_TRUE(trees.get(trees.get(root)->left) != nullptr && trees.get(trees.get(root)->right) != nullptr);
    EXPECT_TRUE(trees.valid());
}

TEST(handle_pool, clear_and_the_end_destroy_what_is_live) {
    const auto counted = std::make_shared<int>(0);
    handle_pool<std::shared_ptr<int>> copies(1000);
    std::vector<pool_handle<std::shared_ptr<int>>> handles;
    for (int index = 0; index < 200; ++index) handles.push_back(copies.construct(counted));
    copies.destroy(handles[100]);
    copies.clear();
    EXPECT_EQ(counted.use_count(), 1);
    for (const auto& each : handles) EXPECT_EQ(copies.get(each), nullptr);
    EXPECT_TRUE(copies.valid());
    const auto again = copies.construct(counted);
    handle_pool<std::shared_ptr<int>> moved(std::move(copies));
    EXPECT_NE(moved.get(again), nullptr);
    EXPECT_EQ(copies.size(), 0u); // NOLINT: documented
    EXPECT_EQ(copies.get(again), nullptr);
    {
        handle_pool<std::shared_ptr<int>> last(10);
        static_cast<void>(last.construct(counted));
        last = std::move(moved);
        EXPECT_NE(last.get(again), nullptr);
        EXPECT_EQ(counted.use_count(), 2);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

TEST(handle_pool, trim_returns_the_pages_of_holes_and_keeps_generations) {
    struct large {
        std::uint64_t words[128];
    };
    handle_pool<large> pool(100'000);
    std::vector<pool_handle<large>> handles;
    for (std::uint64_t index = 0; index < 2000; ++index) handles.push_back(pool.construct(large{{index}}));
    for (std::size_t index = 0; index < 2000; ++index)
        if (index != 1000) pool.destroy(handles[index]);
    EXPECT_GE(pool.trim(), 1900 * sizeof(large));
    EXPECT_EQ(pool.get(handles[1000])->words[0], 1000u);
    EXPECT_EQ(pool.get(handles[5]), nullptr);
    const auto again = pool.construct(large{{7}});
    EXPECT_EQ(again.index, 0u);
    EXPECT_EQ(again.generation, handles[0].generation + 2);
    EXPECT_TRUE(pool.valid());
}

TEST(handle_pool, random_operations_agree_with_a_map) {
    handle_pool<std::uint64_t> pool(5000);
    std::map<std::uint64_t, std::uint64_t> model;
    std::vector<std::uint64_t> stale;
    support::random random(20261125);
    for (std::uint64_t step = 0; step < 100'000; ++step) {
        const bool grows = random.below(1000) < (step / 10'000 % 2 == 0 ? 600u : 400u);
        if (grows) {
            const auto made = pool.construct(step);
            ASSERT_EQ(static_cast<bool>(made), model.size() < 5000);
            ASSERT_TRUE(!made || model.emplace(made.bits(), step).second);
        } else if (!model.empty()) {
            auto which = model.lower_bound(random.below(5000));
            if (which == model.end()) which = model.begin();
            ASSERT_TRUE(pool.destroy(pool_handle<std::uint64_t>::from_bits(which->first)));
            stale.push_back(which->first);
            model.erase(which);
        }
        if (step % 5000 != 0) continue;
        ASSERT_TRUE(pool.valid());
        ASSERT_EQ(pool.size(), model.size());
        for (const auto& [bits, value] : model)
            ASSERT_EQ(*pool.get(pool_handle<std::uint64_t>::from_bits(bits)), value);
        for (const std::uint64_t bits : stale)
            ASSERT_EQ(pool.get(pool_handle<std::uint64_t>::from_bits(bits)), nullptr);
    }
}

}
