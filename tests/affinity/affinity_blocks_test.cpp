// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Which pages of a block a size gets.

#include <tenure/affinity/detail/affinity_blocks.hpp>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/failing_source.hpp>

#include "affinity/fixture.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::size_on_free;
using tenure::detail::affinity_page_bytes;

constexpr std::size_t pages_of_each = 100, per_page = affinity_page_bytes / 64;

/// How often an object is neither in the page of the object before it nor in the next one.
std::size_t jumps(const std::vector<unsigned char*>& objects) {
    std::size_t count = 0;
    for (std::size_t index = 1; index < objects.size(); ++index) {
        const std::uintptr_t before = tenure::address_of(objects[index - 1]) / affinity_page_bytes;
        const std::uintptr_t now = tenure::address_of(objects[index]) / affinity_page_bytes;
        count += std::size_t{now != before && now != before + 1};
    }
    return count;
}

class pages_of_blocks : public groups {};

TEST_F(pages_of_blocks, of_one_size_come_in_rows_when_fresh_and_when_used_again) {
    affinity_group group("rows", {.layout = page_layout::by_size}, source_);
    for (int round = 0; round < 3; ++round) {
        std::vector<unsigned char*> smaller, larger;
        for (std::size_t count = 0; count < pages_of_each * per_page; ++count) {
            larger.push_back(take(group, within(64)));
            if (count % 2 == 0) smaller.push_back(take(group, within(32)));
        }
        // Rows of eight pages after shorter ones, cut off by the ends of blocks.
        EXPECT_LE(jumps(larger), pages_of_each / 8 + pages_of_each / 8) << round;
        if (round == 0) { // later, rows of the other size are in its way
            EXPECT_LE(jumps(smaller), pages_of_each / 8);
        }
        EXPECT_TRUE(group.valid());
        for (unsigned char* each : larger) group.deallocate(each, within(64));
        for (unsigned char* each : smaller) group.deallocate(each, within(32));
        EXPECT_TRUE(group.valid());
    }
}

TEST_F(pages_of_blocks, of_mixed_sizes_follow_each_other_when_used_again) {
    affinity_group group("mixed", {}, source_);
    for (int round = 0; round < 3; ++round) {
        const std::vector<unsigned char*> objects = take_many(group, pages_of_each * per_page, within(64));
        EXPECT_LE(jumps(objects), pages_of_each / 8 + pages_of_each / 16) << round;
        for (unsigned char* each : objects) group.deallocate(each, within(64));
    }
}

TEST_F(pages_of_blocks, that_are_set_aside_serve_any_size_before_the_group_fails) {
    tenure::failing_source one_block(source_, 1);
    affinity_group group("full", {.sizes = size_on_free::required, .layout = page_layout::by_size}, one_block);
    std::vector<unsigned char*> first = take_many(group, 9 * per_page, within(64)); // sets a row aside
    std::size_t bytes = first.size() * 64;
    while (group.allocate(within(32)) != nullptr) bytes += 32;
    EXPECT_GE(bytes, 30 * affinity_page_bytes) << "of 31 usable pages";
    EXPECT_TRUE(group.valid());
    EXPECT_EQ(group.stats().live_bytes, bytes);
}

TEST_F(pages_of_blocks, that_are_set_aside_do_not_keep_a_block) {
    affinity_group group("empty", {.max_retained_bytes = 0, .layout = page_layout::by_size}, source_);
    for (int round = 0; round < 3; ++round) {
        std::vector<unsigned char*> objects = take_many(group, 9 * per_page, within(64));
        EXPECT_EQ(source_.live_blocks(), 1u);
        for (unsigned char* each : objects) group.deallocate(each, within(64));
        static_cast<void>(group.trim());
        EXPECT_EQ(source_.live_blocks(), 0u);
        EXPECT_TRUE(group.valid());
    }
    static_cast<void>(take_many(group, 9 * per_page, within(64)));
    group.clear();
    EXPECT_TRUE(group.valid());
    EXPECT_EQ(take_many(group, 9 * per_page, within(64)).size(), 9 * per_page);
    EXPECT_EQ(source_.live_blocks(), 1u);
}

}
