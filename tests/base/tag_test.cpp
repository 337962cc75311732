// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/tag.hpp>

#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/reports.hpp"

namespace {

using tenure::tag;
using tenure::tag_scope;

TEST(tag, the_same_name_is_the_same_tag) {
    const tag first = tag::named("physics");
    const std::string copy = "phys" + std::string("ics");
    EXPECT_EQ(first, tag::named(copy));
    EXPECT_FALSE(first == tag::named("physics "));
    EXPECT_FALSE(first == tag{});
    EXPECT_EQ(first.name(), "physics");
    EXPECT_EQ(tag::from_id(first.id()), first);
}

TEST(tag, the_name_is_copied) {
    std::string name = "a name that goes away";
    const tag kept = tag::named(name);
    name.assign(name.size(), 'x');
    EXPECT_EQ(kept.name(), "a name that goes away");
}

TEST(tag, no_tag_has_a_name_too) {
    EXPECT_EQ(tag{}.name(), "(no tag)");
    EXPECT_EQ(tag{}.id(), 0);
    EXPECT_EQ(tag::from_id(0xFFFF).name(), "(unknown tag)");
}

TEST(tag, an_empty_name_and_one_with_zeros_are_names) {
    const tag empty = tag::named("");
    EXPECT_EQ(empty.name(), "");
    EXPECT_FALSE(empty == tag{});
    const std::string_view with_zero("a\0b", 3);
    EXPECT_EQ(tag::named(with_zero).name(), with_zero);
    EXPECT_FALSE(tag::named(with_zero) == tag::named("a"));
}

TEST(tag, a_tag_is_made_from_its_name) {
    const tag made("made from its name");
    EXPECT_EQ(made, tag::named("made from its name"));
    EXPECT_EQ(made.name(), "made from its name");
    EXPECT_EQ(tag::from_id(made.id()), made);
}

TEST(tag, scopes_nest_and_give_back_what_was_before) {
    const tag outer = tag::named("outer");
    EXPECT_EQ(tenure::current_tag(), tag{});
    {
        const tag_scope first(outer);
        EXPECT_EQ(tenure::current_tag(), outer);
        {
            const tag_scope second("inner");
            EXPECT_EQ(tenure::current_tag().name(), "inner");
            const tag_scope none(tag{});
            EXPECT_EQ(tenure::current_tag(), tag{});
        }
        EXPECT_EQ(tenure::current_tag(), outer);
    }
    EXPECT_EQ(tenure::current_tag(), tag{});
}

TEST(tag, scopes_that_end_out_of_order_are_reported_and_leave_no_dead_tag) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    auto outer = std::make_unique<tag_scope>("out of order, outer");
    auto inner = std::make_unique<tag_scope>("out of order, inner");
    outer.reset();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("tag_scopes ended out of order"), std::string::npos) << heard.last();
    EXPECT_EQ(tenure::current_tag(), tag{});
    inner.reset();
    EXPECT_EQ(tenure::current_tag(), tag{});
    {
        const tag_scope next("out of order, next");
        EXPECT_EQ(tenure::current_tag().name(), "out of order, next");
    }
    EXPECT_EQ(tenure::current_tag(), tag{});
    EXPECT_EQ(heard.count(), 1u);
}

// What follows uses up a process's tags, so it does so in a child.

TEST(tag, every_name_up_to_the_limit_is_kept_and_later_ones_are_other) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            std::size_t kept = 0;
            std::size_t other = 0;
            for (int number = 0; number < 5000; ++number) {
                const std::string name = "n" + std::to_string(number);
                const tag made = tag::named(name);
                if (made.name() == name && made == tag::named(name))
                    ++kept;
                else if (made.name() == "(other)")
                    ++other;
            }
            // Two of the 4096 are "(no tag)" and "(other)".
            const bool still_there = tag::named("n0").name() == "n0" && tag::named("n4000").name() == "n4000";
            std::_Exit(kept == 4094 && other == 5000 - 4094 && still_there ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(tag, names_that_together_are_too_long_become_other_and_short_ones_still_fit) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            const std::string most(65536 - 10, 'a');
            bool good = tag::named(std::string(65537, 'b')).name() == "(other)";
            good = good && tag::named(most).name() == most;
            good = good && tag::named("eleven char").name() == "(other)";
            good = good && tag::named("ten chars!").name() == "ten chars!";
            good = good && tag::named("x").name() == "(other)" && tag::named(most).name() == most;
            std::_Exit(good ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}
