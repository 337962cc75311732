// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/unique.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>

#include "adapt/values.hpp"
#include "support/process.hpp"

namespace {

using adapt::counted;
using tenure::make_unique_in_pool;

template<class Pool>
class uniques_in_pools : public testing::Test {
protected:
    using pointer = tenure::pool_unique<Pool>;
    static_assert(sizeof(pointer) == 2 * sizeof(void*));
    static_assert(std::is_nothrow_move_constructible_v<pointer>);
    static_assert(!std::is_copy_constructible_v<pointer>);
    static_assert(std::is_nothrow_default_constructible_v<pointer>);

    ~uniques_in_pools() override {
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(pool_.size(), 0u);
        EXPECT_TRUE(pool_.valid());
    }

    tenure::counting_source counted_{tenure::page_source::process()};
    tenure::failing_source source_{counted_, SIZE_MAX};
    Pool pool_{source_};
};

using pools = testing::Types<tenure::pool<counted>, tenure::shared_pool<counted>>;
TYPED_TEST_SUITE(uniques_in_pools, pools);

TYPED_TEST(uniques_in_pools, an_empty_one_needs_no_pool_and_gets_it_with_its_object) {
    struct level {
        tenure::pool_unique<TypeParam> boss;
    };
    level here;
    EXPECT_EQ(here.boss, nullptr);
    here.boss.reset();
    here.boss = tenure::make_unique_in(this->pool_, 5);
    EXPECT_EQ(here.boss->value, 5);
    EXPECT_EQ(this->pool_.size(), 1u);
}

TYPED_TEST(uniques_in_pools, an_object_is_made_and_goes_with_its_pointer) {
    {
        const auto one = make_unique_in_pool(this->pool_, 7);
        ASSERT_NE(one, nullptr);
        EXPECT_EQ(one->value, 7);
        EXPECT_TRUE(this->pool_.owns(one.get()));
        EXPECT_EQ(this->pool_.size(), 1u);
    }
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(this->pool_.size(), 0u);
}

TYPED_TEST(uniques_in_pools, moves_and_swaps_take_the_pool_along) {
    TypeParam other(this->source_);
    auto one = make_unique_in_pool(this->pool_, 1);
    auto two = make_unique_in_pool(other, 2);
    auto three = std::move(one);
    EXPECT_EQ(one, nullptr); // NOLINT(bugprone-use-after-move): what is asked is what is left
    three.swap(two);
    EXPECT_EQ(three->value, 2);
    three = std::move(two);
    EXPECT_EQ(three->value, 1);
    EXPECT_EQ(other.size(), 0u);
    EXPECT_EQ(this->pool_.size(), 1u);
    EXPECT_EQ(counted::alive, 1);
}

TYPED_TEST(uniques_in_pools, reset_gives_back_at_once) {
    auto one = make_unique_in_pool(this->pool_, 1);
    counted* const place = one.get();
    one.reset();
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(this->pool_.size(), 0u);
    one.reset();
    one.reset(this->pool_.construct(2));
    EXPECT_EQ(one->value, 2);
    one = nullptr;
    EXPECT_EQ(this->pool_.size(), 0u);
    EXPECT_TRUE(this->pool_.owns(place)) << "its pages are kept";
}

TYPED_TEST(uniques_in_pools, what_was_released_is_the_pools_to_destroy) {
    auto one = make_unique_in_pool(this->pool_, 1);
    counted* const object = one.release();
    EXPECT_EQ(counted::alive, 1);
    this->pool_.destroy(object);
    static_cast<void>(make_unique_in_pool(this->pool_, 2).release());
    this->pool_.clear();
}

TYPED_TEST(uniques_in_pools, a_constructor_that_throws_gives_its_memory_back) {
    const auto before = make_unique_in_pool(this->pool_, 1);
    for (int count = 0; count < 1000; ++count)
        EXPECT_THROW(static_cast<void>(make_unique_in_pool(this->pool_, -5)), int);
    EXPECT_EQ(this->pool_.size(), 1u);
    EXPECT_EQ(this->counted_.live_blocks(), 1u);
    EXPECT_EQ(before->value, 1);
}

TYPED_TEST(uniques_in_pools, refused_memory_makes_an_empty_pointer_and_no_object) {
    this->source_.allow(0);
    auto one = make_unique_in_pool(this->pool_, -5);
    EXPECT_EQ(one, nullptr) << "the constructor, which would throw, did not run";
    EXPECT_EQ(this->counted_.requests(), 0u);
    this->source_.allow(SIZE_MAX);
    one = make_unique_in_pool(this->pool_, 5);
    EXPECT_NE(one, nullptr);
}

TYPED_TEST(uniques_in_pools, many_come_and_go_in_any_order) {
    std::vector<typename TestFixture::pointer> all;
    for (int count = 0; count < 1000; ++count) all.push_back(make_unique_in_pool(this->pool_, count));
    for (std::size_t index = 0; index < all.size(); index += 3) all[index].reset();
    EXPECT_EQ(this->pool_.size(), 666u);
    for (auto& each : all) {
        if (each == nullptr) each = make_unique_in_pool(this->pool_, 0);
    }
    EXPECT_EQ(this->pool_.size(), 1000u);
    std::size_t visited = 0;
    this->pool_.for_each([&](counted&) { ++visited; });
    EXPECT_EQ(visited, 1000u);
}

TEST(unique_in_shared_pool, it_may_end_on_another_thread) {
    tenure::shared_pool<counted> pool;
    auto one = make_unique_in_pool(pool, 1);
    support::on_fresh_thread([mine = std::move(one)]() mutable { mine.reset(); });
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(pool.size(), 0u);
}

}
