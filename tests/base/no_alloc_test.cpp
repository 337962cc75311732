// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_alloc.hpp>

#include <type_traits>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>

namespace {

using tenure::allow_alloc_scope;
using tenure::no_alloc_scope;

TEST(no_alloc, a_promise_holds_to_the_end_of_the_outermost_scope) {
    EXPECT_FALSE(no_alloc_scope::is_active());
    {
        const no_alloc_scope outer;
        EXPECT_TRUE(no_alloc_scope::is_active());
        {
            const no_alloc_scope inner;
            EXPECT_TRUE(no_alloc_scope::is_active());
        }
        EXPECT_TRUE(no_alloc_scope::is_active());
    }
    EXPECT_FALSE(no_alloc_scope::is_active());
}

TEST(no_alloc, a_permission_suspends_promises_from_before_and_within) {
    const allow_alloc_scope for_nothing;
    EXPECT_FALSE(no_alloc_scope::is_active());
    {
        const no_alloc_scope promise;
        EXPECT_FALSE(no_alloc_scope::is_active());
    }
    EXPECT_FALSE(no_alloc_scope::is_active());
}

TEST(no_alloc, at_the_end_of_a_permission_the_promise_is_back) {
    const no_alloc_scope promise;
    {
        const allow_alloc_scope permission;
        EXPECT_FALSE(no_alloc_scope::is_active());
        {
            const no_alloc_scope within;
            const allow_alloc_scope twice;
            EXPECT_FALSE(no_alloc_scope::is_active());
        }
        EXPECT_FALSE(no_alloc_scope::is_active());
    }
    EXPECT_TRUE(no_alloc_scope::is_active());
}

TEST(no_alloc, scopes_nest_as_deep_as_the_stack) {
    constexpr auto descend = [](auto& self, int depth) -> void {
        const no_alloc_scope promise;
        if (depth != 0) return self(self, depth - 1);
        EXPECT_TRUE(no_alloc_scope::is_active());
    };
    descend(descend, 1000);
    EXPECT_FALSE(no_alloc_scope::is_active());
}

TEST(no_alloc, scopes_are_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<no_alloc_scope>);
    EXPECT_FALSE(std::is_move_constructible_v<no_alloc_scope>);
    EXPECT_FALSE(std::is_copy_constructible_v<allow_alloc_scope>);
}

TEST(no_alloc, what_stands_at_an_allocation_is_nothing_without_checks) {
    EXPECT_EQ(std::is_empty_v<tenure::detail::promised_allocation>, !tenure::checks::caller);
    EXPECT_EQ(std::is_trivially_destructible_v<tenure::detail::promised_allocation>, !tenure::checks::caller);
    // In slow functions also the hooks (hooks.hpp), and nothing else.
    const bool is_hooks_alone = sizeof(tenure::detail::caller_allocation) == sizeof(tenure::detail::hooked_call);
    EXPECT_EQ(is_hooks_alone, !tenure::checks::caller);
}

}
