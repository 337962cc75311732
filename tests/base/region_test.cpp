// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What an observer hears of them: observer/.

#include <tenure/base/region.hpp>

#include <type_traits>

#include <gtest/gtest.h>

#include <tenure/base/no_alloc.hpp>

namespace {

using tenure::region_scope;

TEST(region, regions_nest_and_end) {
    EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 0u);
    {
        const region_scope outer("outer");
        const region_scope inner("inner");
        tenure::mark("a moment");
        EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 2u);
    }
    EXPECT_EQ(tenure::detail::this_thread_scopes().regions, 0u);
}

TEST(region, a_region_promises_nothing) {
    const region_scope region("frame");
    EXPECT_FALSE(tenure::no_alloc_scope::is_active());
}

TEST(region, regions_are_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<region_scope>);
    EXPECT_FALSE(std::is_move_constructible_v<region_scope>);
}

}
