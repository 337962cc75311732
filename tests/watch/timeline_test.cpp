// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/timeline.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

struct sum {
    double ns = 0;
    std::uint64_t waits = 0;
    std::size_t marks = 0, stays = 0;
};

sum sum_of(const drawn_timeline& drawn) {
    sum all;
    for (const timeline_lane& lane : drawn.lanes) {
        all.marks += lane.marks.size();
        all.stays += lane.stays.size();
        for (const timeline_mark& mark : lane.marks) {
            all.ns += mark.wait_ns;
            all.waits += mark.count;
        }
    }
    return all;
}

TEST(timeline, merging_keeps_the_total) {
    const findings found = sample::with_waits(60'000);
    const watched_region& region = found.regions[0];
    double ns = 0;
    for (const timeline_thread& thread : region.timeline) {
        for (const timeline_wait& wait : thread.waits) ns += wait.last_ns - wait.first_ns;
    }
    for (const std::size_t marks : {1U, 100U, 3000U, 1'000'000U}) {
        timeline_limits limits;
        limits.marks = marks;
        const drawn_timeline drawn = lay_out_timeline(region, whole_stretch(region), limits);
        const sum all = sum_of(drawn);
        EXPECT_EQ(all.waits, 60'000U);
        EXPECT_NEAR(all.ns, ns, 1);
        EXPECT_LE(all.marks, std::max<std::size_t>(marks, 8 * wait_kinds));
        EXPECT_TRUE(drawn.is_merged);
    }
}

TEST(timeline, waits_of_different_kinds_stay_apart) {
    watched_region region = sample::region();
    timeline_thread& thread = region.timeline[0];
    region.timeline.resize(1);
    thread.waits = {{2e6, 2e6 + 10, 0}, {2e6 + 20, 2e6 + 30, 1}, {2e6 + 40, 2e6 + 60, 0}};
    const drawn_timeline drawn = lay_out_timeline(region, whole_stretch(region), {});
    ASSERT_EQ(drawn.lanes[0].marks.size(), 2U);
    EXPECT_EQ(drawn.lanes[0].marks[0].kind, wait_kind::lock);
    EXPECT_EQ(drawn.lanes[0].marks[0].count, 2U);
    EXPECT_EQ(drawn.lanes[0].marks[0].longest_ns, 20);
    EXPECT_EQ(drawn.lanes[0].marks[1].kind, wait_kind::heap);
}

TEST(timeline, long_waits_are_marks_of_their_own) {
    watched_region region = sample::region();
    region.timeline.resize(1);
    region.timeline[0].waits = {{1e6, 2e6, 0}, {2e6, 3e6, 0}};
    const drawn_timeline drawn = lay_out_timeline(region, whole_stretch(region), {});
    EXPECT_EQ(drawn.lanes[0].marks.size(), 2U);
    EXPECT_FALSE(drawn.is_merged);
}

TEST(timeline, stays_far_apart_stay_apart_and_many_become_few) {
    watched_region region = sample::region();
    EXPECT_EQ(sum_of(lay_out_timeline(region, whole_stretch(region), {})).stays, 6U);
    region.timeline.resize(1);
    region.timeline[0].stays.clear();
    for (int index = 0; index < 16'000; ++index) region.timeline[0].stays.push_back({index * 10.0, index * 10.0 + 3});
    timeline_limits limits;
    limits.marks = 500;
    limits.columns = 64'000;
    EXPECT_LE(sum_of(lay_out_timeline(region, {0, 160'000}, limits)).stays, 500U);
}

TEST(timeline, a_stretch_cuts_what_reaches_into_it) {
    const watched_region region = sample::region();
    const drawn_timeline drawn = lay_out_timeline(region, {1.6e6, 1.65e6}, {});
    const sum all = sum_of(drawn);
    EXPECT_EQ(all.waits, 2U);
    EXPECT_DOUBLE_EQ(all.ns, 1e5);
    EXPECT_EQ(drawn.thinned, 12U);
}

TEST(timeline, the_densest_stretch_has_the_most_waits) {
    watched_region region = sample::region();
    for (int index = 0; index < 30; ++index) {
        region.timeline[2].waits.push_back({7e6 + index * 1000.0, 7e6 + index * 1000.0 + 100, 0});
    }
    const stretch whole = whole_stretch(region);
    const stretch dense = densest_stretch(region, whole, 0.02);
    EXPECT_NEAR(dense.ns(), whole.ns() / 50, 1);
    EXPECT_LE(dense.first_ns, 7e6);
    EXPECT_GE(dense.last_ns, 7.03e6);
}

TEST(timeline, the_threads_that_waited_longest_are_drawn) {
    watched_region region = sample::region();
    timeline_limits limits;
    limits.lanes = 2;
    const drawn_timeline drawn = lay_out_timeline(region, whole_stretch(region), limits);
    ASSERT_EQ(drawn.lanes.size(), 2U);
    EXPECT_EQ(drawn.lanes[0].thread->thread, 101U);
    EXPECT_EQ(drawn.lanes[1].thread->thread, 102U);
    EXPECT_EQ(drawn.left_out, 1U);
}

TEST(timeline, nothing_and_nonsense_are_laid_out_too) {
    watched_region region;
    EXPECT_EQ(whole_stretch(region).ns(), 0);
    EXPECT_TRUE(lay_out_timeline(region, whole_stretch(region), {}).lanes.empty());
    region = sample::region();
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    region.timeline[0].waits = {{nan, 2e6, 0}, {2e6, nan, 0}, {-infinity, infinity, 0}, {3e6, 2e6, 0}, {2e6, 2e6, 999}};
    region.timeline[0].stays = {{nan, nan}, {5e6, 1e6}};
    const drawn_timeline drawn = lay_out_timeline(region, whole_stretch(region), {});
    EXPECT_EQ(sum_of(drawn).waits, 4U) << "two of the first thread, two of the second";
    const stretch moment{2e6, 2e6};
    EXPECT_GE(sum_of(lay_out_timeline(region, moment, {})).waits, 1U);
    EXPECT_EQ(densest_stretch(region, moment, 0.02).ns(), 0);
}

}

}
