// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/arguments/nearest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace tenure::lab;

const std::vector<std::string> names{"lifetimes", "pools", "jemalloc", "tenure Temp"};

TEST(nearest, counts_changes_without_regard_to_case) {
    EXPECT_EQ(edit_distance("pools", "Pools"), 0u);
    EXPECT_EQ(edit_distance("pools", "pool"), 1u);
    EXPECT_EQ(edit_distance("pools", "polos"), 1u); // a swap
    EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(nearest, finds_what_was_meant) {
    EXPECT_EQ(nearest_name("lifetime", names), "lifetimes");
    EXPECT_EQ(nearest_name("jemaloc", names), "jemalloc");
    EXPECT_EQ(nearest_name("temp", names), "tenure Temp");
}

TEST(nearest, suggests_nothing_that_is_far_away) { EXPECT_EQ(nearest_name("zebra", names), ""); }

TEST(nearest, a_piece_of_a_name_is_found_in_letters_of_either_case) {
    EXPECT_TRUE(has_piece("Two threads, 64 B", "THREADS, 64"));
    EXPECT_FALSE(has_piece("two threads", "three"));
    EXPECT_FALSE(has_piece("two threads", ""));
}

TEST(nearest, an_unknown_name_is_answered_with_the_list) {
    EXPECT_EQ(
        unknown_name("experiment", "pool", names),
        "there is no experiment \"pool\". Did you mean \"pools\"? There are: lifetimes, pools, jemalloc, tenure Temp.");
    EXPECT_EQ(unknown_name("part", "zzz", std::vector<std::string>{"all, 8 B", "overflow"}),
              "there is no part \"zzz\". There are: \"all, 8 B\", \"overflow\".")
        << "all of them where one has a comma";
    EXPECT_EQ(unknown_name("peer", "zzz", std::vector<std::string>{"a"}), "there is no peer \"zzz\". There are: a.");
}

}
