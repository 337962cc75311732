// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/adapt/allocator_reference.hpp>

#include <type_traits>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/block_pool.hpp>

#include "adapt/recording_allocator.hpp"

namespace {

using tenure::detail::allocator_reference;
using tenure::detail::stateless_allocator;

static_assert(stateless_allocator<tenure::temp>);
static_assert(stateless_allocator<tenure::temp_job>);
static_assert(!stateless_allocator<tenure::arena>);
static_assert(!stateless_allocator<tenure::block_pool>);
static_assert(!stateless_allocator<adapt::recording_allocator>);
static_assert(!tenure::allocator<int>);

static_assert(sizeof(allocator_reference<tenure::arena>) == (tenure::checks::caller ? 3 : 1) * sizeof(void*));
static_assert(sizeof(tenure::detail::deleter_reference<tenure::arena>) == sizeof(void*));
static_assert(std::is_empty_v<allocator_reference<tenure::temp_job>>);
static_assert(std::is_default_constructible_v<allocator_reference<tenure::temp>>);
static_assert(!std::is_default_constructible_v<allocator_reference<tenure::arena>>);
static_assert(std::is_trivially_copyable_v<allocator_reference<tenure::arena>>);
static_assert(std::is_trivially_copyable_v<allocator_reference<tenure::temp>>);

TEST(allocator_reference, it_is_the_object_that_it_was_made_from) {
    adapt::recording_allocator from;
    const allocator_reference<adapt::recording_allocator> reference = from;
    EXPECT_EQ(&reference.get(), &from);
    const allocator_reference<adapt::recording_allocator> copy = reference;
    EXPECT_EQ(&copy.get(), &from);
}

TEST(allocator_reference, two_are_equal_when_they_are_of_the_same_object) {
    tenure::arena one;
    tenure::arena other;
    const allocator_reference<tenure::arena> to_one = one;
    EXPECT_EQ(to_one, allocator_reference<tenure::arena>(one));
    EXPECT_NE(to_one, allocator_reference<tenure::arena>(other));
}

TEST(allocator_reference, of_an_allocator_without_state_all_are_equal) {
    tenure::temp_job some;
    EXPECT_EQ(allocator_reference<tenure::temp_job>(), allocator_reference<tenure::temp_job>(some));
    void* const block = allocator_reference<tenure::temp_job>().get().allocate(100, 16);
    EXPECT_TRUE(tenure::temp_job::owns(block));
    allocator_reference<tenure::temp_job>(some).get().deallocate(block, 100, 16);
}

}
