// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The page of a replay, of a made result.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "observe/replay/report/memory_chart.hpp"
#include "observe/replay/report/replay_html.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "report/json/json.hpp"
#include "report/page_check.hpp"
#include "support/holds.hpp"

namespace {

using namespace tenure::lab;
using support::holds;

constexpr std::int64_t one_mib = 1 << 20;

contestant_result row_of(const std::string& name, contestant_role role, std::vector<std::int64_t> kibibytes) {
    contestant_result made;
    made.name = name;
    made.role = role;
    made.metrics.push_back({std::string(replay_peak), {}, "MiB", better::smaller, {8}});
    made.metrics.push_back({std::string(replay_mean), {}, "B/B", better::neither, {1.25}});
    made.lists.push_back({std::string(course_resident), {}, "KiB", std::move(kibibytes)});
    return made;
}

/// Five places: the program has 0, 1, 4, 0.1 and 0 MiB in use.
result small_replay() {
    result made;
    experiment_result& replay = made.experiments.emplace_back();
    replay.name = replay_name;
    replay.baseline = "glibc malloc";
    replay.rounds = 1;
    replay.lists = {{std::string(course_events), {}, "events", {0, 10, 20, 30, 40}},
                    {std::string(course_times), {}, "ns", {0, 1'000'000, 2'000'000, 900'000'000, 1'000'000'000}},
                    {std::string(course_live), {}, "bytes", {0, one_mib, 4 * one_mib, one_mib / 10, 0}}};
    replay.contestants.push_back(row_of("glibc malloc", contestant_role::peer, {0, 1536, 5120, 5120, 5120}));
    replay.contestants.push_back(row_of("tenure <own>", contestant_role::ours, {0, 2048, 8192, 1024, 0}));
    return made;
}

TEST(memory_chart, takes_live_bytes_and_resident_by_place) {
    const result found = small_replay();
    const memory_over_trace memory = memory_of(found.experiments[0]);
    ASSERT_EQ(memory.lines.size(), 2U);
    EXPECT_EQ(memory.live_mib[2], 4);
    EXPECT_EQ(memory.peak_live_mib(), 4);
    EXPECT_EQ(memory.lines[1].mib[2], 8);
    EXPECT_EQ(memory.lines[1].peak_mib(), 8);
    EXPECT_EQ(memory.seconds.back(), 1);
    EXPECT_TRUE(memory.has_time());
    EXPECT_EQ(memory.fragmentation(memory.lines[0], 2), 1.25);
    EXPECT_TRUE(std::isnan(memory.fragmentation(memory.lines[0], 3))) << "less than a twentieth of the peak is live";
    EXPECT_TRUE(std::isnan(memory.fragmentation(memory.lines[0], 0)));
}

TEST(memory_chart, lists_that_do_not_fit_together_are_left_out) {
    result found = small_replay();
    found.experiments[0].contestants[1].lists[0].values.pop_back();
    EXPECT_EQ(memory_of(found.experiments[0]).lines.size(), 1U);
    found.experiments[0].contestants[0].state = outcome::failed;
    EXPECT_TRUE(memory_of(found.experiments[0]).is_empty());
    found.experiments[0].lists[1].values.pop_back();
    EXPECT_TRUE(memory_of(found.experiments[0]).events.empty());
}

TEST(memory_chart, lines_differ_without_colour) {
    const result found = small_replay();
    const memory_over_trace memory = memory_of(found.experiments[0]);
    for (const std::string& text : {draw_memory(memory, trace_axis::seconds, "m"), memory_key(memory)}) {
        EXPECT_TRUE(faults_of(text).empty());
        for (const char* const style : {"memory m0", "memory m1 own", "memory-mark m0", "memory-mark m1 own"})
            EXPECT_TRUE(holds(text, style)) << style << "\n" << text;
    }
    for (const char* const rule :
         {".memory.m0 { stroke: var(--m0); stroke-dasharray", ".memory.m2 { stroke: var(--m2); "
                                                              "stroke-dasharray"})
        EXPECT_TRUE(holds(memory_style(), rule)) << rule;
    EXPECT_TRUE(holds(memory_key(memory), "tenure &lt;own&gt;: at most 8.00 MiB"));
    EXPECT_TRUE(holds(memory_key(memory), "live bytes: at most 4.00 MiB"));
    EXPECT_TRUE(holds(fragmentation_key(memory), "glibc malloc: 1.25 in the mean"));
}

TEST(memory_chart, is_drawn_by_time_and_by_events) {
    const result found = small_replay();
    const memory_over_trace memory = memory_of(found.experiments[0]);
    const std::string by_time = draw_memory(memory, trace_axis::seconds, "m"),
                      by_events = draw_memory(memory, trace_axis::events, "m");
    EXPECT_TRUE(holds(by_time, "seconds of the recorded program"));
    EXPECT_TRUE(holds(by_events, "events of the trace"));
    // The peak, at 20 of 40 events, is in the middle; by time it is at the left edge.
    EXPECT_TRUE(holds(by_events, "H384V")) << by_events;
    EXPECT_TRUE(holds(by_time, "H63.3V")) << by_time;
    const std::string fragmentation = draw_fragmentation(memory, trace_axis::events, "f");
    EXPECT_TRUE(faults_of(fragmentation).empty());
    EXPECT_FALSE(holds(fragmentation, "nan"));
    EXPECT_FALSE(holds(fragmentation, "inf"));
}

TEST(replay_page, has_charts_tables_and_what_a_replay_cannot_know) {
    const std::string page = replay_page(small_replay(), "a<b>.trace", "40 calls\n\nwaits 5 seconds\n");
    EXPECT_EQ(faults_of(page), std::vector<std::string>{});
    for (const char* const words :
         {"<title>Replay of a&lt;b&gt;.trace", "<h1>Replay of a&lt;b&gt;.trace</h1>", "<p>40 calls</p>",
          "Content-Security-Policy", "Memory over the trace</h2>", "Fragmentation over the trace</h3>",
          "What a replay cannot know</h2>", "The same by events of the trace</summary>",
          "Resident after so many of the trace&#39;s events, in MiB", "live bytes", "--json FILE", "peak resident"})
        EXPECT_TRUE(holds(page, words)) << words;
    EXPECT_FALSE(holds(page, "results.csv")) << "there is none";
    EXPECT_FALSE(holds(page, "Tenure bench"));
}

TEST(replay_page, without_time_or_without_figures_is_still_a_page) {
    result timeless = small_replay();
    timeless.experiments[0].lists[1].values.assign(5, 0);
    const std::string page = replay_page(timeless, "a.trace", "");
    EXPECT_EQ(faults_of(page), std::vector<std::string>{});
    EXPECT_FALSE(holds(page, "seconds of the recorded program"));
    result nothing = small_replay();
    nothing.complete = false;
    for (contestant_result& each : nothing.experiments[0].contestants) {
        each.metrics.clear();
        each.lists.clear();
    }
    const std::string empty = replay_page(nothing, "a.trace", "");
    EXPECT_EQ(faults_of(empty), std::vector<std::string>{});
    EXPECT_TRUE(holds(empty, "No malloc was measured"));
}

TEST(replay_page, is_the_same_of_a_result_that_was_read_back) {
    const result found = small_replay();
    const loaded_result read = parse_json(to_json(found));
    ASSERT_TRUE(read.ok()) << read.error;
    EXPECT_EQ(replay_page(read.value, "a.trace", ""), replay_page(found, "a.trace", ""));
}

TEST(replay_page, of_a_file_has_the_same_charts_and_names_its_trace) {
    result found = small_replay();
    found.experiments[0].parameters.push_back({"--input", "a<b>.trace"});
    ASSERT_TRUE(is_replay(found));
    const std::string page = replay_page_of_file(found, "kept/<replay>.json");
    EXPECT_EQ(faults_of(page), std::vector<std::string>{});
    EXPECT_TRUE(holds(page, "<title>Replay of a&lt;b&gt;.trace"));
    EXPECT_TRUE(holds(page, "drawn from <code>kept/&lt;replay&gt;.json</code>"));
    EXPECT_FALSE(holds(page, "--json FILE"));
    const memory_over_trace memory = memory_of(found.experiments[0]);
    EXPECT_TRUE(holds(page, draw_memory(memory, trace_axis::seconds, "memory-t")));
    EXPECT_TRUE(holds(page, draw_fragmentation(memory, trace_axis::events, "fragmentation-e")));
    found.experiments[0].name = "heap";
    EXPECT_FALSE(is_replay(found));
    EXPECT_FALSE(is_replay(result{}));
}

TEST(memory_chart, lists_that_no_trace_can_have_are_left_out) {
    result found = small_replay();
    experiment_result& replay = found.experiments[0];
    replay.contestants[1].lists[0].values[2] = no_number;
    EXPECT_EQ(memory_of(replay).lines.size(), 1U);
    for (std::size_t list = 0; list < 3; ++list) {
        result foreign = small_replay();
        foreign.experiments[0].lists[list].values[1] = -1;
        EXPECT_TRUE(memory_of(foreign.experiments[0]).is_empty()) << list;
        EXPECT_EQ(faults_of(replay_page(foreign, "a.trace", "")), std::vector<std::string>{});
    }
    replay.lists[0].values = {0, 20, 10, 30, 40};
    EXPECT_TRUE(memory_of(replay).is_empty()) << "places are in the order of the trace";
}

}
