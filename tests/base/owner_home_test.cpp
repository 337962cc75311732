// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/owner_home.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/reports.hpp"

namespace {

using tenure::detail::owner_home;
using tenure::detail::owner_link;

TEST(owner_homes, an_owner_keeps_its_home_when_it_moves) {
    int here = 0;
    int there = 0;
    owner_link first;
    owner_home* const home = first.of(&here, "pool");
    ASSERT_NE(home, nullptr);
    EXPECT_EQ(first.of(&here, "pool"), home);
    EXPECT_EQ(home->owner, &here);
    owner_link second;
    second.take(first, &there);
    EXPECT_EQ(home->owner, &there);
    EXPECT_EQ(second.of(&there, "pool"), home);
    EXPECT_NE(first.of(&here, "pool"), home) << "what it left gets another";
    owner_link without;
    owner_link taken;
    taken.take(without, &there);
    EXPECT_NE(taken.of(&here, "pool"), nullptr);
}

TEST(owner_homes, a_copy_is_of_another_owner) {
    int here = 0;
    owner_link first;
    owner_home* const home = first.of(&here, "arena");
    owner_link copy(first);
    EXPECT_NE(copy.of(&here, "arena"), home);
    EXPECT_EQ(home->owner, &here);
}

TEST(owner_homes, a_home_has_no_owner_after_its_end_until_many_others_have_ended) {
    int here = 0;
    owner_home* home = nullptr;
    {
        owner_link link;
        home = link.of(&here, "heap");
    }
    EXPECT_EQ(home->owner, nullptr);
    std::set<const owner_home*> seen;
    for (int count = 0; count < 200; ++count) {
        owner_link link;
        const owner_home* const other = link.of(&here, "heap");
        EXPECT_NE(other, home);
        seen.insert(other);
    }
    EXPECT_EQ(home->owner, nullptr);
    if (tenure::checks::caller) return; // homes are not used again, so that every late pointer is reported
    for (int count = 0; count < 10'000; ++count) {
        owner_link link;
        seen.insert(link.of(&here, "heap"));
    }
    EXPECT_LT(seen.size(), 1000u) << "they are used again";
}

TEST(owner_homes, reports_name_the_part) {
    const support::heard_reports heard;
    int here = 0;
    std::optional<owner_link> link(std::in_place);
    owner_home* const home = link->of(&here, "shared pool");
    home->report_left(nullptr);
    EXPECT_NE(heard.last().find("the shared pool was moved to 0x"), std::string::npos) << heard.last();
    link.reset();
    home->report_outlived(&here);
    EXPECT_NE(heard.last().find("the shared pool of a tenure::unique ended"), std::string::npos) << heard.last();
    home->report_left(&here);
    EXPECT_NE(heard.last().find("the shared pool of a container or memory resource ended"), std::string::npos)
        << heard.last();
}

}
