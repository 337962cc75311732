// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/shared_pool.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::make_unique_in;
using tenure::unique;

struct monster {
    explicit monster(int start) noexcept : value(start) { ++alive; }
    monster(const monster&) = delete;
    monster& operator=(const monster&) = delete;
    ~monster() {
        --alive;
        value = -1;
    }
    static inline int alive = 0;
    int value;
};

template<class Pool>
class moving_pools : public testing::Test {
protected:
    ~moving_pools() override { EXPECT_EQ(monster::alive, 0); }
    using pointer = tenure::pool_unique<Pool>;
    struct place {
        Pool monsters;
        std::vector<pointer> pointers;
    };
};
using pools_of_monsters = testing::Types<tenure::pool<monster>, tenure::shared_pool<monster>>;
TYPED_TEST_SUITE(moving_pools, pools_of_monsters);

TYPED_TEST(moving_pools, pointers_free_into_the_pool_that_took_their_objects_over) {
    TypeParam first;
    auto one = make_unique_in(first, 1);
    auto two = make_unique_in(first, 2);
    TypeParam second = std::move(first);
    one.reset();
    EXPECT_EQ(second.size(), 1u);
    EXPECT_EQ(monster::alive, 1);
    TypeParam third;
    third = std::move(second);
    auto three = make_unique_in(third, 3);
    EXPECT_EQ(third.size(), 2u);
    two.reset();
    three.reset();
    EXPECT_EQ(third.size(), 0u);
    EXPECT_TRUE(third.valid());
}

TYPED_TEST(moving_pools, levels_with_pools_and_pointers_live_in_a_vector_that_grows) {
    std::vector<typename TestFixture::place> levels;
    for (int number = 0; number < 20; ++number) {
        levels.emplace_back();
        auto& in = levels.back();
        for (int count = 0; count < 10; ++count) in.pointers.push_back(make_unique_in(in.monsters, number));
    }
    EXPECT_EQ(monster::alive, 200);
    for (int number = 0; number < 20; ++number) {
        auto& in = levels[static_cast<std::size_t>(number)];
        EXPECT_EQ(in.pointers.back()->value, number);
        in.pointers.pop_back();
        EXPECT_EQ(in.monsters.size(), 9u);
        EXPECT_TRUE(in.monsters.valid());
    }
    levels.clear();
    EXPECT_EQ(monster::alive, 0);
}

TYPED_TEST(moving_pools, the_old_address_may_hold_another_pool) {
    std::optional<TypeParam> former(std::in_place);
    auto one = make_unique_in(*former, 1);
    TypeParam moved = std::move(*former);
    former.reset();
    former.emplace();
    auto other = make_unique_in(*former, 2);
    one.reset();
    EXPECT_EQ(moved.size(), 0u);
    EXPECT_EQ(former->size(), 1u);
    other.reset();
    EXPECT_EQ(former->size(), 0u);
}

TYPED_TEST(moving_pools, a_pointer_that_outlives_its_pool_destroys_nothing_twice) {
    const support::heard_reports heard;
    {
        std::optional<TypeParam> monsters(std::in_place);
        auto one = make_unique_in(*monsters, 1);
        monsters.reset();
        EXPECT_EQ(monster::alive, 0) << "the pool destroyed it";
    }
    EXPECT_EQ(monster::alive, 0);
    if constexpr (tenure::checks::caller) {
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find("pool of a tenure::unique ended before the pointer did"), std::string::npos)
            << heard.last();
    }
}

TYPED_TEST(moving_pools, a_pointer_that_was_empty_at_the_move_follows_too) {
    TypeParam first;
    typename TestFixture::pointer one{nullptr, tenure::pool_delete<TypeParam>{first}};
    TypeParam second = std::move(first);
    one.reset(second.construct(1));
    one.reset();
    EXPECT_EQ(second.size(), 0u);
}

/// What each allocator counts as live.
std::size_t live_in(tenure::heap& of) { return of.stats().live_count; }
std::size_t live_in(tenure::affinity_group& of) { return of.size(); }
std::size_t live_in(tenure::block_pool& of) { return of.size(); }
std::size_t live_in(tenure::shared_block_pool& of) { return of.size(); }
std::size_t live_in(tenure::arena& of) { return of.stats().live_bytes / sizeof(monster); }

template<class Allocator>
Allocator fresh() {
    if constexpr (std::is_same_v<Allocator, tenure::affinity_group>)
        return tenure::affinity_group("moving");
    else if constexpr (std::is_constructible_v<Allocator, int>)
        return Allocator(std::size_t{64});
    else
        return Allocator();
}

template<class Allocator>
class moving_allocators : public testing::Test {
protected:
    ~moving_allocators() override { EXPECT_EQ(monster::alive, 0); }
};
using allocators =
    testing::Types<tenure::heap, tenure::affinity_group, tenure::block_pool, tenure::shared_block_pool, tenure::arena>;
TYPED_TEST_SUITE(moving_allocators, allocators);

TYPED_TEST(moving_allocators, pointers_and_arrays_free_into_the_one_that_took_the_memory_over) {
    auto first = fresh<TypeParam>();
    auto one = make_unique_in<monster>(first, 1);
    auto many = make_unique_in<int[]>(first, 4);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(many, nullptr);
    TypeParam second = std::move(first);
    const std::size_t before = live_in(second);
    many.reset();
    EXPECT_LT(live_in(second), before);
    TypeParam third = fresh<TypeParam>();
    third = std::move(second);
    one.reset();
    EXPECT_EQ(live_in(third), 0u);
    EXPECT_TRUE(third.valid());
}

TYPED_TEST(moving_allocators, a_pointer_that_outlives_its_allocator_does_nothing) {
    const support::heard_reports heard;
    {
        unique<monster, TypeParam> one = [] {
            auto gone = fresh<TypeParam>();
            return make_unique_in<monster>(gone, 1);
        }();
    }
    EXPECT_EQ(monster::alive, 1) << "its memory had gone";
    monster::alive = 0;
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
}

TEST(moved_heap, an_allocation_in_it_makes_an_empty_pointer) {
    tenure::heap first;
    const tenure::heap second = std::move(first);
    EXPECT_EQ(make_unique_in<monster>(first, 1), nullptr); // NOLINT(bugprone-use-after-move): what is asked
    EXPECT_EQ(monster::alive, 0);
}

TEST(moved_heap, the_process_heap_serves_unique_pointers_as_any_heap) {
    auto one = make_unique_in<monster>(tenure::heap::process(), 1);
    EXPECT_EQ(one->value, 1);
    one.reset();
    EXPECT_EQ(monster::alive, 0);
}

TEST(homes, many_owners_come_and_go) {
    for (int count = 0; count < 2000; ++count) {
        tenure::arena scratch;
        const auto one = make_unique_in<int>(scratch, count);
        ASSERT_EQ(*one, count);
    }
}

// Conversions to a base.

struct base {
    virtual ~base() = default;
};
struct other_base {
    virtual ~other_base() = default;
    int number = 0;
};
struct derived : other_base, base {
    ~derived() override { ++destroyed; }
    static inline int destroyed = 0;
    int numbers[50] = {};
};
static_assert(std::is_convertible_v<unique<derived>, unique<base>>);
static_assert(std::is_convertible_v<unique<derived, tenure::heap>, unique<base, tenure::heap>>);
static_assert(std::is_convertible_v<unique<derived, tenure::temp_job>, unique<base, tenure::temp_job>>);
static_assert(!std::is_convertible_v<unique<derived, tenure::arena>, unique<base, tenure::arena>>, "it needs the size");
static_assert(!std::is_convertible_v<unique<derived, tenure::affinity_group>, unique<base, tenure::affinity_group>>);
static_assert(!std::is_convertible_v<unique<base>, unique<derived>>);
static_assert(std::is_convertible_v<unique<int>, unique<const int>>);
static_assert(sizeof(unique<base>) == sizeof(void*));

TEST(unique_of_a_base, destroys_and_frees_the_whole_object) {
    derived::destroyed = 0;
    {
        tenure::heap from;
        unique<base, tenure::heap> as_base = make_unique_in<derived>(from);
        ASSERT_NE(as_base, nullptr);
        EXPECT_NE(static_cast<void*>(as_base.get()), dynamic_cast<void*>(as_base.get()));
        as_base.reset();
        EXPECT_EQ(from.stats().live_count, 0u);
        EXPECT_TRUE(from.valid());
        const unique<base> in_process = make_unique_in<derived>(tenure::process_memory{});
        const unique<base, tenure::temp_job> for_a_job = make_unique_in<derived>(tenure::temp_job{});
    }
    EXPECT_EQ(derived::destroyed, 3);
}

// Containers keep the address of their allocator.

using numbers = std::vector<int, tenure::stl_allocator<int, tenure::arena>>;

TEST(container_over_a_moved_arena, its_next_use_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    tenure::arena first;
    {
        numbers many(first);
        many.reserve(4);
        many.push_back(1);
        EXPECT_EQ(heard.count(), 0u);
        const tenure::arena second = std::move(first);
        many.push_back(2); // has room
        EXPECT_EQ(heard.count(), 0u);
        EXPECT_THROW(many.resize(100), std::bad_alloc);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find("the arena was moved to 0x"), std::string::npos) << heard.last();
        EXPECT_NE(heard.last().find("std::unique_ptr"), std::string::npos) << heard.last();
    }
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u) << "its end frees";
}

TEST(container_over_a_moved_arena, an_arena_that_ended_is_reported_and_not_touched) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    auto scratch = std::make_unique<tenure::arena>();
    {
        const numbers many(10, 1, *scratch);
        scratch.reset();
    }
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("ended before it did"), std::string::npos) << heard.last();
}

TEST(container_over_a_moved_arena, an_assignment_to_the_arena_ends_what_its_containers_belong_to) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    tenure::arena scratch;
    numbers few(scratch);
    scratch = tenure::arena(4096);
    EXPECT_THROW(few.push_back(1), std::bad_alloc);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("or was assigned to"), std::string::npos) << heard.last();
    EXPECT_NE(heard.last().find("make its containers anew"), std::string::npos) << heard.last();
    numbers anew(scratch);
    anew.push_back(1);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
}

TEST(container_over_a_moved_arena, a_memory_resource_reports_it_as_well) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    tenure::arena first;
    tenure::resource_adaptor resource(first);
    static_cast<void>(resource.allocate(8));
    const tenure::arena second = std::move(first);
    EXPECT_THROW(static_cast<void>(resource.allocate(8)), std::bad_alloc);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("was moved"), std::string::npos) << heard.last();
}

TEST(container_over_an_arena, it_may_be_made_and_used_after_a_move) {
    tenure::arena first;
    tenure::arena second = std::move(first);
    numbers of_second(second);
    numbers of_first(first); // NOLINT(bugprone-use-after-move): it is empty and can be used
    of_second.assign(100, 1);
    of_first.assign(100, 2);
    EXPECT_EQ(of_second[99] + of_first[99], 3);
    EXPECT_NE(of_first.get_allocator(), of_second.get_allocator());
}

// Frees into an owner that was moved from.

template<class Owner>
class moved_from : public testing::Test {};
using owners = testing::Types<tenure::heap, tenure::block_pool, tenure::shared_block_pool>;
TYPED_TEST_SUITE(moved_from, owners);

TYPED_TEST(moved_from, a_free_to_it_is_reported_by_name) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    auto first = fresh<TypeParam>();
    void* const block = first.allocate(64, 16);
    TypeParam second = std::move(first);
    first.deallocate(nullptr, 64, 16); // NOLINT(bugprone-use-after-move): what is asked
    EXPECT_EQ(heard.count(), 0u);
    first.deallocate(block, 64, 16);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("that was moved from"), std::string::npos) << heard.last();
    EXPECT_EQ(live_in(second), 1u);
    second.deallocate(block, 64, 16);
    EXPECT_EQ(heard.count(), 1u);
    EXPECT_EQ(live_in(second), 0u);
}

}
