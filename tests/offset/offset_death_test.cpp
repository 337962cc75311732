// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The caller's mistakes. They are reported at every level of checks: at once, or without checks by the next
// deallocation or collect().

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

#include "offset/walked.hpp"
#include "support/reports.hpp"

namespace {

using tenure::offset_allocator;
using tenure::offset_range;
using tenure::report_kind;

class offset_death : public testing::Test {
protected:
    offset_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// Does what is wrong, hears one report of it, and sees that nothing has changed.
    template<class Mistake>
    void expect_report(Mistake&& mistake) {
        const support::everything_seen before(ranges_);
        const support::heard_reports heard;
        mistake();
        EXPECT_EQ(heard.count(), 1u);
        EXPECT_EQ(heard.count(report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find("is not allocated"), std::string::npos) << heard.last();
        EXPECT_EQ(support::everything_seen(ranges_), before);
        EXPECT_TRUE(ranges_.valid());
    }
    void deallocate_and_collect(offset_range range) {
        ranges_.deallocate(range);
        ranges_.collect();
    }

    /// Of every way to give a range back, and of size_of().
    void expect_reports(offset_range wrong, bool waits = false) {
        expect_report([&] { deallocate_and_collect(wrong); });
        expect_report([&] {
            ranges_.deallocate_after(wrong, 0);
            ranges_.collect();
        });
        expect_report([&] { ranges_.deallocate_after(wrong, 2); });
        if (!waits) expect_report([&] { EXPECT_EQ(ranges_.size_of(wrong), 0u); });
    }

    offset_allocator ranges_{1000};
};

TEST_F(offset_death, a_double_free_ends_the_program) {
    const offset_range range = ranges_.allocate(100);
    ASSERT_TRUE(ranges_.allocate(100));
    ranges_.deallocate(range);
    EXPECT_DEATH(deallocate_and_collect(range), "offset 0 with id .* is not allocated");
}

TEST_F(offset_death, a_double_free_is_reported_by_the_next_deallocation_at_the_latest) {
    std::vector<offset_range> held;
    for (int each = 0; each < 4; ++each) held.push_back(ranges_.allocate(100));
    ranges_.deallocate(held[0]);
    const support::heard_reports heard;
    ranges_.deallocate(held[0]);
    ranges_.deallocate(held[1]);
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(ranges_.usage().range_count, 2u);
    EXPECT_TRUE(ranges_.valid());
}

TEST_F(offset_death, a_range_given_back_now_and_then_for_later_is_reported_at_once) {
    const offset_range range = ranges_.allocate(100);
    ranges_.deallocate(range);
    const support::heard_reports heard;
    ranges_.deallocate_after(range, 2);
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(ranges_.size_of(range), 0u);
    EXPECT_EQ(heard.count(report_kind::misuse), 2u);
    EXPECT_EQ(ranges_.usage().waiting, 0u);
    EXPECT_EQ(ranges_.usage().range_count, 0u);
}

TEST_F(offset_death, a_range_given_back_twice_in_a_row_is_served_once) {
    const offset_range range = ranges_.allocate(100);
    {
        const support::heard_reports heard;
        ranges_.deallocate(range);
        ranges_.deallocate(range);
        ranges_.collect();
        EXPECT_EQ(heard.count(), 1u);
    }
    const offset_range one = ranges_.allocate(100), two = ranges_.allocate(100);
    EXPECT_NE(one.offset, two.offset);
    EXPECT_TRUE(ranges_.valid());
}

TEST_F(offset_death, a_double_free_is_reported_and_changes_nothing) {
    const offset_range left = ranges_.allocate(100), middle = ranges_.allocate(100), right = ranges_.allocate(100);
    ASSERT_TRUE(ranges_.allocate(100));
    ranges_.deallocate(middle); // alone: its record is a free range's
    expect_reports(middle);
    ranges_.deallocate(right); // joined by the one on its left
    expect_reports(right);
    ranges_.deallocate(left); // joins the one on its right, whose record is nobody's any more
    for (const offset_range range : {left, middle, right}) expect_reports(range);
}

TEST_F(offset_death, a_copy_of_a_range_that_was_given_back_is_reported) {
    const offset_range range = ranges_.allocate(100);
    const offset_range copy = range;
    ranges_.deallocate(range);
    expect_reports(copy);
}

TEST_F(offset_death, a_stale_range_is_reported_when_its_record_has_another_place) {
    std::vector<offset_range> before;
    for (int each = 0; each < 10; ++each) before.push_back(ranges_.allocate(100));
    for (const offset_range range : before) ranges_.deallocate(range);
    EXPECT_EQ(ranges_.usage().range_count, 0u);
    offset_range stale;
    for (int each = 0; each < 30 && !stale; ++each) {
        const offset_range fresh = ranges_.allocate(30);
        for (const offset_range range : before)
            if (range.id == fresh.id && range.offset != fresh.offset) stale = range;
    }
    ASSERT_TRUE(stale) << "records are used again";
    expect_reports(stale);
}

TEST_F(offset_death, a_foreign_range_is_reported) {
    expect_reports({0, 0}); // there is no record yet
    offset_allocator other(1 << 20);
    offset_range foreign;
    for (int each = 0; each < 100; ++each) foreign = other.allocate(33);
    const offset_range own = ranges_.allocate(100);
    expect_reports(foreign);                  // a record that was never used
    expect_reports({own.offset + 1, own.id}); // of another offset
    expect_reports({100, 0});                 // a free range's
    expect_reports({0, 1});                   // of no range: it says which ranges are free
    for (const std::uint32_t id : {3u, 2047u, 2048u, 1u << 30, UINT32_MAX - 1, UINT32_MAX - 2}) expect_reports({0, id});
    ranges_.deallocate(own);
    other.deallocate(foreign);
}

TEST_F(offset_death, a_range_that_waits_cannot_be_given_back_again) {
    const offset_range range = ranges_.allocate(100);
    ranges_.deallocate_after(range, 2);
    expect_reports(range, true);
    EXPECT_EQ(ranges_.size_of(range), 100u) << "the device still reads it";
    tenure::next_frame();
    expect_reports(range, true);
    tenure::next_frame();
    EXPECT_EQ(ranges_.collect(), 1u);
    expect_reports(range);
    EXPECT_EQ(ranges_.usage().free, 1000u);
}

TEST_F(offset_death, a_stale_range_does_not_hide_the_one_that_has_its_record) {
    const offset_range own = ranges_.allocate(100);
    const offset_range stale{own.offset + 50, own.id};
    const support::heard_reports heard;
    ranges_.deallocate(stale);
    EXPECT_EQ(ranges_.size_of(own), 100u);
    EXPECT_EQ(ranges_.usage().range_count, 1u);
    EXPECT_EQ(support::walked(ranges_).size(), 2u);
    ranges_.deallocate_after(own, 1);
    ranges_.collect();
    EXPECT_EQ(ranges_.usage().waiting, 100u);
    EXPECT_EQ(heard.count(), 1u) << heard.last();
}

TEST_F(offset_death, a_range_from_before_clear_is_reported) {
    const offset_range range = ranges_.allocate(100);
    ranges_.clear();
    const support::heard_reports heard;
    deallocate_and_collect(range);
    EXPECT_EQ(ranges_.size_of(range), 0u);
    EXPECT_EQ(heard.count(report_kind::misuse), 2u);
    EXPECT_EQ(ranges_.usage().free, 1000u);
    EXPECT_TRUE(ranges_.valid());
}

TEST_F(offset_death, an_empty_range_may_be_given_back) {
    const support::heard_reports heard;
    ranges_.deallocate({});
    ranges_.deallocate(ranges_.allocate(5000));
    ranges_.deallocate_after({}, 3);
    ranges_.deallocate_after(ranges_.allocate(5000), 0);
    EXPECT_EQ(heard.count(), 0u);
    EXPECT_EQ(ranges_.usage().waiting, 0u);
    EXPECT_EQ(ranges_.size_of({}), 0u); // but it has no size
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
}

}
