// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Where objects go: alignment, order, and what becomes of freed memory.

#include <tenure/affinity/affinity_group.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/failing_source.hpp>

#include "affinity/fixture.hpp"
#include "support/ledger.hpp"
#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::size_on_free;

using affinity_groups = groups;

TEST_F(affinity_groups, nothing_is_taken_before_the_first_object) {
    affinity_group group("none", {}, source_);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
    EXPECT_FALSE(group.owns(&group));
    group.clear();
    group.deallocate(nullptr);
    group.deallocate(nullptr, 10);
    group.deallocate(nullptr, 10, 64);
    group.deallocate(nullptr, 1 << 20, 8192);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(group.trim(), 0u);
    EXPECT_EQ(group.usage().total_bytes, 0u);
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(affinity_groups, every_alignment_is_kept) {
    for (std::size_t of_group : {4u, 8u, 16u, 64u, 1024u}) {
        for (page_layout layout : {page_layout::mixed, page_layout::by_size}) {
            affinity_options options;
            options.alignment = of_group;
            options.layout = layout;
            affinity_group group("aligned", options, source_);
            EXPECT_EQ(group.alignment(), of_group);
            support::ledger ledger;
            for (std::size_t bytes :
                 {0u, 1u, 4u, 8u, 12u, 56u, 100u, 256u, 260u, 500u, 513u, 5000u, 16'384u, 20'000u}) {
                for (std::size_t alignment = 1; alignment <= 8192; alignment *= 2) {
                    void* const object = group.allocate(bytes, alignment);
                    ASSERT_EQ(ledger.add(object, bytes, std::max(alignment, of_group)), "");
                    ASSERT_EQ(ledger.add(group.allocate(bytes), bytes, of_group), "");
                }
            }
            EXPECT_EQ(ledger.check_all(), "");
            EXPECT_TRUE(group.valid());
            for (bool leaves_size_out = false; !ledger.empty(); leaves_size_out = !leaves_size_out) {
                const support::block gone = ledger.at(ledger.size() / 2);
                ASSERT_EQ(ledger.remove(gone.at), "");
                if (leaves_size_out)
                    group.deallocate(gone.at);
                else
                    group.deallocate(gone.at, gone.bytes, gone.alignment);
            }
            EXPECT_EQ(group.size(), 0u);
            EXPECT_TRUE(group.valid());
        }
    }
}

TEST_F(affinity_groups, an_alignment_that_is_no_power_of_two_is_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    affinity_group group("aligned", {}, source_);
    for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, SIZE_MAX})
        EXPECT_EQ(group.allocate(10, alignment), nullptr) << alignment;
    EXPECT_EQ(group.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(group.allocate(10, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(group.size(), 0u);
}

TEST_F(affinity_groups, zero_bytes_are_an_object_of_their_own) {
    affinity_group group("zero", {}, source_);
    const std::vector<unsigned char*> objects = take_many(group, 1000, 0);
    EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), 1000u);
    EXPECT_EQ(objects[1] - objects[0], tenure::checks::caller ? 24 : 8) << "they count as one byte";
    for (std::size_t index = 0; index < 1000; ++index)
        index % 2 == 0 ? group.deallocate(objects[index]) : group.deallocate(objects[index], 0);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
}

TEST_F(affinity_groups, options_out_of_range_refuse_every_allocation) {
    std::vector<affinity_options> wrong;
    for (std::size_t alignment : {1u, 2u, 3u, 5u, 24u, 2048u, 4096u}) wrong.push_back({.alignment = alignment});
    for (std::size_t bytes :
         {std::size_t{1}, 4 * kibibyte, 32 * kibibyte, 96 * kibibyte, 3 * mebibyte, 2048 * mebibyte, SIZE_MAX})
        wrong.push_back({.alignment = 8, .block_bytes = bytes});
    for (const affinity_options& options : wrong) {
        const support::heard_reports heard;
        affinity_group group("wrong", options, source_);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
        EXPECT_EQ(group.allocate(8), nullptr) << options.alignment << " " << options.block_bytes;
        EXPECT_EQ(group.allocate(8, 64), nullptr) << options.alignment << " " << options.block_bytes;
        EXPECT_EQ(group.allocate(1 << 20), nullptr);
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
        group.clear();
        EXPECT_EQ(group.trim(), 0u);
        EXPECT_FALSE(group.owns(&group));
    }
    EXPECT_EQ(source_.requests(), 0u);
}

TEST_F(affinity_groups, the_largest_and_the_smallest_block_serve) {
    for (std::size_t bytes : {64 * kibibyte, 128 * kibibyte, 1024 * mebibyte}) {
        for (std::size_t alignment : {4u, 8u, 1024u}) {
            affinity_group group("block", {.alignment = alignment, .block_bytes = bytes}, source_);
            void* const largest = take(group, affinity_group::max_in_block_bytes(), 4096);
            std::memset(largest, 1, affinity_group::max_in_block_bytes());
            EXPECT_EQ(source_.live_bytes(), bytes) << "and it lies in the block";
            EXPECT_TRUE(group.valid());
            group.deallocate(largest);
            EXPECT_EQ(group.trim(), bytes);
        }
    }
}

TEST_F(affinity_groups, together_sizes_lie_one_after_the_other_as_they_were_allocated) {
    for (size_on_free sizes : {size_on_free::optional, size_on_free::required}) {
        affinity_group group("together", {.alignment = 8, .sizes = sizes}, source_);
        unsigned char* expected = nullptr;
        std::size_t jumps = 0, bytes_in_all = 0;
        for (std::size_t count = 0; count < 20'000; ++count) {
            const std::size_t bytes = std::size_t{8} << count % 5;
            const std::size_t whole = bytes + tenure::detail::tail_guard_bytes;
            unsigned char* const object = take(group, bytes - count % 8);
            jumps += std::size_t{object != expected};
            expected = object + whole;
            bytes_in_all += whole;
        }
        // Once a page, and in checked builds, where guards leave gaps there, once more for the end of a page.
        EXPECT_LE(jumps, (tenure::checks::caller ? 2 : 1) * (bytes_in_all / (64 * kibibyte) + 2));
        EXPECT_EQ(source_.live_bytes(), 2 * mebibyte);
    }
}

TEST_F(affinity_groups, at_an_alignment_of_four_objects_of_twelve_bytes_take_twelve) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << has_guards;
    for (page_layout layout : {page_layout::mixed, page_layout::by_size}) {
        affinity_group group("fours", {.alignment = 4, .layout = layout}, source_);
        const std::vector<unsigned char*> objects = take_many(group, 1000, 12);
        for (std::size_t index = 1; index < 1000; ++index) ASSERT_EQ(objects[index] - objects[index - 1], 12);
        unsigned char* const tiny = take(group, 1);
        EXPECT_EQ(take(group, 2) - tiny, 4);
        // An object that needs 8 gets it.
        for (std::size_t bytes : {8u, 16u, 24u, 28u}) {
            EXPECT_EQ(tenure::address_of(take(group, bytes, 8)) % 8, 0u) << bytes;
        }
        for (unsigned char* each : objects) group.deallocate(each);
        EXPECT_TRUE(group.valid());
        EXPECT_EQ(group.size(), 6u);
    }
}

TEST_F(affinity_groups, apart_each_size_has_lines_of_its_own) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << has_guards;
    affinity_group group("apart", {.alignment = 8, .layout = page_layout::by_size}, source_);
    std::set<std::uintptr_t> pages_of[3];
    for (std::size_t count = 0; count < 15'000; ++count) {
        const std::size_t bytes = std::size_t{24} + 32 * (count % 3); // 24, 56, 88
        unsigned char* const object = take(group, bytes);
        pages_of[count % 3].insert(tenure::address_of(object) / (64 * kibibyte));
        if (bytes != 56) continue;
        ASSERT_EQ(tenure::address_of(object) / 64, tenure::address_of(object + 55) / 64);
    }
    std::set<std::uintptr_t> all;
    std::size_t sum = 0;
    for (const auto& pages : pages_of) {
        all.insert(pages.begin(), pages.end());
        sum += pages.size();
    }
    EXPECT_EQ(all.size(), sum) << "no page has two sizes";
    EXPECT_EQ(pages_of[0].size(), 2u) << "24 bytes take 24";
    EXPECT_LE(pages_of[1].size(), 6u) << "56 take 64";
}

TEST_F(affinity_groups, apart_sizes_near_a_line_never_cross_one_without_need) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << has_guards;
    affinity_group group("apart", {.alignment = 8, .layout = page_layout::by_size}, source_);
    for (std::size_t bytes : {32u, 56u, 60u, 64u, 112u, 128u, 176u, 192u, 448u, 512u}) {
        const std::size_t lines = (bytes + 63) / 64;
        for (std::size_t count = 0; count < 3000; ++count) {
            const std::uintptr_t first = tenure::address_of(take(group, bytes));
            ASSERT_EQ((first + bytes - 1) / 64 - first / 64 + 1, lines) << bytes;
        }
    }
    EXPECT_TRUE(group.valid());
}

/// What is allocated, of which every second is freed, and the same again.
struct again {
    std::size_t bytes;
    std::size_t alignment;
};
class affinity_reuse : public groups, public testing::WithParamInterface<affinity_options> {};

TEST_P(affinity_reuse, half_of_the_objects_freed_and_allocated_again_need_no_new_memory) {
    for (const again& each :
         {again{56, 1}, again{8, 1}, again{40, 1}, again{200, 1}, again{512, 1}, again{700, 1}, again{16'384, 1}}) {
        for (bool names_size : {true, false}) {
            if (!names_size && GetParam().sizes == size_on_free::required) continue;
            affinity_group group("again", GetParam(), source_);
            std::vector<unsigned char*> objects =
                take_many(group, std::min<std::size_t>(20'000, 3'000'000 / each.bytes * 2), each.bytes, each.alignment);
            const std::size_t blocks = source_.live_blocks();
            for (std::size_t half : {0u, 1u, 0u}) {
                for (std::size_t index = half; index < objects.size(); index += 2) {
                    names_size ? group.deallocate(objects[index], each.bytes, each.alignment)
                               : group.deallocate(objects[index]);
                }
                EXPECT_EQ(group.size(), objects.size() / 2);
                for (std::size_t index = half; index < objects.size(); index += 2)
                    objects[index] = take(group, each.bytes, each.alignment);
                EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
                EXPECT_LE(source_.live_blocks(), blocks) << each.bytes << " bytes aligned to " << each.alignment;
            }
            EXPECT_TRUE(group.valid());
        }
    }
}

TEST_P(affinity_reuse, of_objects_aligned_to_more_too) {
    for (const again& each : {again{16, 16}, again{64, 64}, again{192, 64}, again{1024, 256}}) {
        affinity_group group("again", GetParam(), source_);
        std::vector<unsigned char*> objects = take_many(group, 6'000'000 / each.bytes / 8, each.bytes, each.alignment);
        const std::size_t held = group.stats().reserved_bytes;
        for (int round = 0; round < 6; ++round) {
            for (std::size_t index = 0; index < objects.size(); index += 2)
                group.deallocate(objects[index], each.bytes, each.alignment);
            for (std::size_t index = 0; index < objects.size(); index += 2)
                objects[index] = take(group, each.bytes, each.alignment);
        }
        EXPECT_LE(group.stats().reserved_bytes, held + GetParam().block_bytes)
            << each.bytes << " bytes aligned to " << each.alignment;
        EXPECT_TRUE(group.valid());
    }
}

TEST_P(affinity_reuse, the_newest_object_freed_is_the_next_one_allocated) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds come to the end of the page before";
    affinity_group group("newest", GetParam(), source_);
    const std::vector<unsigned char*> kept = take_many(group, 10, 56);
    unsigned char* const first = take(group, 56);
    for (int round = 0; round < 10'000; ++round) {
        group.deallocate(first, 56);
        ASSERT_EQ(take(group, 56), first);
    }
    EXPECT_EQ(group.size(), 11u);
}

TEST_P(affinity_reuse, what_is_freed_in_any_order_is_all_there_again) {
    for (int order = 0; order < 3; ++order) {
        affinity_group group("orders", GetParam(), source_);
        std::vector<unsigned char*> objects = take_many(group, 30'000, 120);
        const std::size_t requests = source_.requests();
        if (order == 1) std::reverse(objects.begin(), objects.end());
        support::random numbers(5);
        for (std::size_t left = objects.size(); order == 2 && left > 1; --left)
            std::swap(objects[left - 1], objects[numbers.below(left)]);
        for (unsigned char* each : objects) group.deallocate(each, 120);
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
        EXPECT_EQ(group.usage().reserved_bytes, 0u) << "all of it is one free run a page";
        EXPECT_EQ(group.usage().scattered_bytes, 0u);
        objects = take_many(group, 30'000, 120);
        if (GetParam().max_retained_bytes != 0) {
            EXPECT_EQ(source_.requests(), requests);
        }
        EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
    }
}

INSTANTIATE_TEST_SUITE_P(options, affinity_reuse, testing::ValuesIn(every_option({4, 8, 64})),
                         [](const auto& each) { return name_of(each.param); });

TEST_F(affinity_groups, freed_neighbours_are_one_piece_whatever_the_order) {
    for (size_on_free sizes : {size_on_free::optional, size_on_free::required}) {
        int order[] = {0, 1, 2};
        do {
            tenure::failing_source failing(source_, 1);
            affinity_group group("neighbours", {.alignment = 8, .block_bytes = 64 * kibibyte, .sizes = sizes}, failing);
            std::vector<unsigned char*> objects;
            for (void* made = nullptr; (made = group.allocate(within(96))) != nullptr;)
                objects.push_back(static_cast<unsigned char*>(made));
            while (group.allocate(8) != nullptr) {}
            const std::size_t full = group.size();
            for (int each : order) group.deallocate(objects[static_cast<std::size_t>(200 + each)], within(96));
            group.deallocate(objects[300], within(96)); // so that the run that was freed last is another
            EXPECT_EQ(group.allocate(within(std::size_t{3} * 96 + 8)), nullptr);
            EXPECT_EQ(group.allocate(within(std::size_t{3} * 96)), objects[200])
                << "order " << order[0] << order[1] << order[2];
            EXPECT_EQ(group.allocate(within(97)), nullptr);
            EXPECT_EQ(group.allocate(within(96)), objects[300]);
            EXPECT_EQ(group.size(), full - 2);
            EXPECT_TRUE(group.valid());
        } while (std::next_permutation(std::begin(order), std::end(order)));
    }
}

}
