// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>

#include "affinity/fixture.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using namespace affinity_tests;
using tenure::page_layout;
using tenure::report_kind;
using tenure::size_on_free;

/// Every kind of group, in builds that check the caller's mistakes.
class affinity_death : public testing::TestWithParam<affinity_options> {
protected:
    affinity_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        for (int count = 0; count < 20; ++count) objects_.push_back(static_cast<unsigned char*>(group_.allocate(40)));
    }
    static void touch(void* object) { static_cast<volatile unsigned char*>(object)[0] = 1; }

    static void write(void* to, int byte, std::size_t count) {
        TENURE_OPAQUE(to);
        std::memset(to, byte, count);
    }

    affinity_group group_{"mistaken", GetParam()};
    std::vector<unsigned char*> objects_;
};

std::vector<affinity_options> kinds() {
    std::vector<affinity_options> all;
    for (size_on_free sizes : {size_on_free::optional, size_on_free::required}) {
        for (page_layout layout : {page_layout::mixed, page_layout::by_size}) {
            for (tenure::sharing threads : {tenure::sharing::one_thread, tenure::sharing::any_thread}) {
                all.push_back({.alignment = 8, .sizes = sizes, .layout = layout, .threads = threads});
            }
        }
    }
    return all;
}
INSTANTIATE_TEST_SUITE_P(kinds, affinity_death, testing::ValuesIn(kinds()),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(affinity_death, a_double_free_is_reported_at_once) {
    group_.deallocate(objects_[3], 40);
    EXPECT_DEATH(group_.deallocate(objects_[3], 40), "was freed twice.*0x.* second owner");
    EXPECT_DEATH(group_.deallocate(objects_[3]), "freed twice");
    group_.deallocate(objects_[4], 40);
    EXPECT_DEATH(group_.deallocate(objects_[3], 40), "freed twice") << "though its neighbour was freed since";
    EXPECT_DEATH(group_.deallocate(objects_[4], 40), "freed twice");
    group_.clear();
    EXPECT_DEATH(group_.deallocate(objects_[5], 40), "freed twice, or never allocated");
}

TEST_P(affinity_death, an_object_that_was_never_allocated_is_reported) {
    EXPECT_DEATH(group_.deallocate(objects_[19] + 64, 40), "never allocated");
    EXPECT_DEATH(group_.deallocate(objects_[0] + 30'000, 40), "never allocated");
}

TEST_P(affinity_death, a_foreign_pointer_is_reported) {
    affinity_group other("other", GetParam());
    void* const foreign = other.allocate(40);
    alignas(16) int local[16] = {};
    EXPECT_DEATH(group_.deallocate(foreign, 40), "a pointer that does not belong to the group");
    EXPECT_DEATH(group_.deallocate(foreign), "a pointer that does not belong to the group");
    EXPECT_DEATH(group_.deallocate(local, 40), "a pointer that does not belong to the group");
    EXPECT_DEATH(group_.deallocate(this, 40), "a pointer that does not belong to the group");
    EXPECT_DEATH(group_.deallocate(local, 40'000), "a group");
}

TEST_P(affinity_death, a_pointer_into_an_object_is_reported) {
    for (std::size_t offset : {1u, 8u, 32u, 39u})
        EXPECT_DEATH(group_.deallocate(objects_[5] + offset, 40), "not the start of an object") << offset;
    auto* const head = static_cast<unsigned char*>(
        tenure::pointer_at(tenure::align_down(tenure::address_of(objects_[0]), group_.block_bytes())));
    EXPECT_DEATH(group_.deallocate(head + 64, 40), "freed to an affinity group|never allocated");
}

TEST_P(affinity_death, a_free_with_another_size_is_reported) {
    for (std::size_t wrong : {8u, 32u, 41u, 48u, 513u, 5000u})
        EXPECT_DEATH(group_.deallocate(objects_[5], wrong), "another size than it was allocated with") << wrong;
    group_.deallocate(objects_[5], 33); // which takes as much
    EXPECT_EQ(group_.size(), 19u);
}

TEST_P(affinity_death, a_free_without_the_size_is_reported_where_sizes_are_given) {
    if (GetParam().sizes == size_on_free::required) {
        EXPECT_DEATH(group_.deallocate(objects_[5]), "freed without its size.*Pass the size");
    } else {
        group_.deallocate(objects_[5]);
        EXPECT_EQ(group_.size(), 19u);
    }
}

TEST_P(affinity_death, overwritten_bookkeeping_is_reported) {
    EXPECT_DEATH(
        {
            auto* const head =
                tenure::pointer_at(tenure::align_down(tenure::address_of(objects_[0]), group_.block_bytes()));
            std::memset(head, 0x41, 64);
            group_.deallocate(objects_[5], 40);
        },
        "bookkeeping of a group's block was overwritten");
}

TEST_P(affinity_death, after_a_handler_that_returns_the_group_is_as_it_was) {
    std::memset(objects_[1], 5, 40);
    group_.deallocate(objects_[3], 40);
    const support::heard_reports heard;
    group_.deallocate(objects_[3], 40);
    group_.deallocate(objects_[1] + 8, 40);
    group_.deallocate(objects_[1], 400);
    group_.deallocate(this, 40);
    EXPECT_EQ(heard.count(report_kind::misuse), 4u);
    EXPECT_EQ(group_.size(), 19u);
    EXPECT_TRUE(group_.valid());
    EXPECT_EQ(objects_[1][39], 5);
    group_.deallocate(objects_[1], 40);
    EXPECT_EQ(heard.count(), 4u);
    EXPECT_EQ(group_.size(), 18u);
    EXPECT_TRUE(group_.valid());
}

TEST_P(affinity_death, a_write_past_the_end_names_the_object_that_was_overrun) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
    const auto expect_last = [](const support::heard_reports& heard, const char* what, const void* object) {
        tenure::report_text name;
        name.text(what).address(object);
        EXPECT_NE(heard.last().find(name.view()), std::string::npos) << heard.last();
    };
    constexpr const char* overrun = "an object of an affinity group was overrun: memory past its end was overwritten: ";
    constexpr const char* in_front = "memory in front of an object of an affinity group was overwritten: ";
    const support::heard_reports heard;
    for (const std::size_t bytes : {1u, 4u, 12u, 16u}) {
        write(objects_[3] + 40, 2, bytes);
        group_.deallocate(objects_[3], 40);
        expect_last(heard, overrun, objects_[3]);
        objects_[3] = static_cast<unsigned char*>(group_.allocate(40));
    }
    EXPECT_EQ(heard.count(report_kind::misuse), 4u);
    write(objects_[6] + 40, 2, 3);
    group_.deallocate(objects_[7], 40);
    expect_last(heard, overrun, objects_[6]);
    write(objects_[9] - 4, 2, 4);
    group_.deallocate(objects_[9], 40);
    expect_last(heard, in_front, objects_[9]);
    EXPECT_EQ(heard.count(report_kind::misuse), 6u);
    write(objects_[12] + 40, 2, 1);
    group_.clear();
    expect_last(heard, overrun, objects_[12]);
    EXPECT_EQ(heard.count(report_kind::misuse), 7u);
    {
        affinity_group other("other", GetParam());
        write(static_cast<unsigned char*>(other.allocate(13)) + 13, 2, 1);
    }
    EXPECT_EQ(heard.count(report_kind::misuse), 8u);
}

TEST_P(affinity_death, objects_of_every_size_may_be_written) {
    const support::heard_reports heard;
    affinity_group group("whole", GetParam());
    for (int round = 0; round < 2; ++round) {
        std::vector<std::pair<unsigned char*, std::size_t>> held;
        for (std::size_t bytes = 0; bytes <= affinity_group::max_in_block_bytes(); bytes += bytes < 700 ? 1 : 97) {
            held.emplace_back(static_cast<unsigned char*>(group.allocate(bytes)), bytes);
            write(held.back().first, 7, std::max<std::size_t>(bytes, 1));
        }
        for (const std::size_t bytes : {16'350u, 16'352u, 16'360u, 16'367u, 16'368u, 16'376u, 16'383u, 16'384u}) {
            held.emplace_back(static_cast<unsigned char*>(group.allocate(bytes, 64)), bytes);
            write(held.back().first, 7, bytes);
        }
        for (std::size_t index = 0; index < held.size(); ++index) {
            const auto [object, bytes] = held[(index * 7 + 3) % held.size()];
            group.deallocate(object, bytes);
        }
        EXPECT_EQ(group.size(), 0u);
        EXPECT_TRUE(group.valid());
    }
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST_P(affinity_death, a_write_outside_an_object_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer()) GTEST_SKIP() << "not in this build";
    EXPECT_DEATH(touch(objects_[3] + 40), "use-after-poison");
    EXPECT_DEATH(touch(objects_[3] - 1), "use-after-poison");
    touch(objects_[3] + 39);
}

TEST_P(affinity_death, a_use_after_free_or_clear_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer()) GTEST_SKIP() << "not in this build";
    group_.deallocate(objects_[3], 40);
    EXPECT_DEATH(touch(objects_[3]), "use-after-poison");
    EXPECT_DEATH(touch(objects_[19] + 64), "use-after-poison");
    touch(objects_[4]);
    group_.clear();
    EXPECT_DEATH(touch(objects_[4]), "use-after-poison");
}

TEST_P(affinity_death, what_is_freed_is_filled) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it may not be read any more";
    auto* const freed = static_cast<volatile unsigned char*>(objects_[3]);
    freed[20] = 1;
    group_.deallocate(objects_[3], 40);
    EXPECT_EQ(freed[20], tenure::freed_fill);
}

// In builds without checks a free only notes its run; the mistake shows when that is written into the bits.

class affinity_late_death : public testing::Test {
protected:
    affinity_late_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds report it at once";
        while (objects_.size() < 1000) objects_.push_back(static_cast<unsigned char*>(group_.allocate(40)));
    }
    affinity_group group_{"mistaken", {.alignment = 8}};
    std::vector<unsigned char*> objects_;
};

TEST_F(affinity_late_death, a_double_free_is_reported_when_its_run_is_written_into_the_bits) {
    EXPECT_DEATH(
        {
            for (std::size_t index : {5u, 5u, 50u}) group_.deallocate(objects_[index], 40);
            static_cast<void>(group_.usage());
        },
        "an object of an affinity group was freed twice, or with another size: 0x");
    EXPECT_DEATH(
        {
            for (std::size_t index : {5u, 50u, 5u}) group_.deallocate(objects_[index]);
            static_cast<void>(group_.valid());
        },
        "freed twice");
    EXPECT_DEATH(
        {
            for (std::size_t index : {5u, 6u, 7u, 6u, 50u, 51u}) group_.deallocate(objects_[index], 40);
            static_cast<void>(group_.trim());
        },
        "freed twice")
        << "also inside a longer run";
}

TEST_F(affinity_late_death, each_object_that_was_freed_twice_is_named_and_no_place_has_two_owners) {
    const support::heard_reports heard;
    for (std::size_t index = 0; index < 1000; index += 2) group_.deallocate(objects_[index], 40);
    EXPECT_TRUE(group_.usage().reserved_bytes == 500 * 40);
    EXPECT_EQ(heard.count(), 0u);
    for (std::size_t index = 100; index < 120; index += 2) group_.deallocate(objects_[index], 40);
    EXPECT_EQ(group_.usage().reserved_bytes, 500u * 40);
    EXPECT_EQ(heard.count(report_kind::misuse), 10u);
    std::set<void*> alive;
    for (std::size_t index = 1; index < 1000; index += 2) alive.insert(objects_[index]);
    for (int count = 0; count < 3000; ++count)
        ASSERT_TRUE(alive.insert(group_.allocate(40)).second) << "no object has two owners";
}

TEST_F(affinity_late_death, the_newest_object_freed_twice_has_no_two_owners) {
    const support::heard_reports heard;
    group_.deallocate(objects_.back(), 40);
    group_.deallocate(objects_.back(), 40);
    objects_.pop_back();
    std::set<void*> alive(objects_.begin(), objects_.end());
    std::size_t twice = 0;
    for (int count = 0; count < 5000; ++count) twice += std::size_t{!alive.insert(group_.allocate(40)).second};
    EXPECT_TRUE(twice == 0 && heard.count() == 1) << twice << " with two owners, reports: " << heard.count();
}

TEST_F(affinity_late_death, an_object_freed_twice_in_a_row_and_allocated_around_has_no_two_owners) {
    const support::heard_reports heard;
    group_.deallocate(objects_[500], 40);
    group_.deallocate(objects_[500], 40);
    objects_.erase(objects_.begin() + 500);
    std::set<void*> alive(objects_.begin(), objects_.end());
    for (int count = 0; count < 5000; ++count)
        ASSERT_TRUE(alive.insert(group_.allocate(40)).second) << "no object has two owners";
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
}

TEST_F(affinity_late_death, a_free_with_a_larger_size_over_a_freed_neighbour_is_reported) {
    const support::heard_reports heard;
    group_.deallocate(objects_[10], 40);
    group_.deallocate(objects_[12], 40);
    group_.deallocate(objects_[9], 120); // 9, 10 and 11
    for (int count = 0; count < 5000; ++count) ASSERT_NE(group_.allocate(40), nullptr);
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
}

TEST_F(affinity_late_death, the_newest_object_freed_twice_behind_its_neighbour_has_no_two_owners) {
    const support::heard_reports heard;
    for (const std::size_t index : {998u, 999u, 999u}) group_.deallocate(objects_[index], 40);
    objects_.resize(998);
    std::set<void*> alive(objects_.begin(), objects_.end());
    for (int count = 0; count < 5000; ++count)
        ASSERT_TRUE(alive.insert(group_.allocate(40)).second) << "no object has two owners";
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
}

TEST_F(affinity_late_death, a_free_without_the_size_is_reported_where_sizes_are_given) {
    affinity_group given("given", {.alignment = 8, .sizes = size_on_free::required});
    void* const object = given.allocate(40);
    EXPECT_DEATH(given.deallocate(object), "freed without its size.*Pass the size");
    given.deallocate(object, 40);
}

TEST(affinity_deaths, who_hears_of_a_mistake_may_ask_the_group) {
    static affinity_group* asked = nullptr;
    static std::size_t seen = 0;
    for (tenure::sharing threads : {tenure::sharing::one_thread, tenure::sharing::any_thread}) {
        affinity_group group("asked", {.alignment = 8, .threads = threads});
        asked = &group;
        seen = 0;
        std::vector<void*> objects;
        for (int count = 0; count < 100; ++count) objects.push_back(group.allocate(48));
        const tenure::report_handler before =
            tenure::set_report_handler([](tenure::report_kind, std::string_view) noexcept {
                seen += 1 + asked->size() * 0 + asked->stats().source_blocks * 0;
            });
        for (const std::size_t index : {10u, 20u, 30u, 10u, 40u, 50u, 60u}) group.deallocate(objects[index], 48);
        EXPECT_TRUE(group.valid());
        tenure::set_report_handler(before);
        EXPECT_EQ(seen, 1u);
    }
}

TEST(affinity_deaths, a_large_object_freed_with_another_size_is_reported_by_checked_builds) {
    if (!tenure::checks::caller) GTEST_SKIP() << "level 0 takes the size as it is";
    affinity_group group("large");
    for (const std::size_t wrong : {50'000u, 8u}) {
        void* const object = group.allocate(100'000);
        const support::heard_reports heard;
        group.deallocate(object, wrong);
        EXPECT_EQ(heard.count(report_kind::misuse), 1u) << wrong;
    }
    const support::heard_reports heard;
    group.deallocate(group.allocate(100'000), 100'000);
    EXPECT_EQ(heard.count(), 0u);
}

TEST(affinity_deaths, an_object_aligned_past_a_page_needs_its_alignment_or_no_size_at_its_free) {
    const support::heard_reports heard;
    affinity_group group("aligned", {.alignment = 8});
    void* const object = group.allocate(100, 8192);
    group.deallocate(object);
    void* const again = group.allocate(100, 8192);
    group.deallocate(again, 100, 8192);
    EXPECT_EQ(group.size(), 0u);
    void* const without = group.allocate(100, 8192);
    // The header asks for the size in this form and says nothing of the alignment.
    group.deallocate(without, 100);
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    EXPECT_EQ(group.size(), 0u);
    EXPECT_TRUE(group.valid());
}

}
