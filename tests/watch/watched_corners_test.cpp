// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Corners: a program behaves as if nobody watched, and what is said of it is true.

#include <gtest/gtest.h>

#include <map>

#include "watch/watched.hpp"

namespace {

using watched::json;

watched::outcome corner(const std::string& name, const std::string& expected_output) {
    watched::outcome seen = watched::run("corners", "", name);
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, expected_output);
    return seen;
}

TEST(watch_corners, threads_of_c11_are_threads) {
    const json region = watched::region_of_kind(corner("c11", "17\n"), "thread");
    EXPECT_EQ(region["name"], "i") << "a name of C is no mangled one";
    EXPECT_EQ(watched::site(region, "malloc", "f")["count"], 1000);
    EXPECT_EQ(watched::site(region, "malloc", "f")["where"]["function"], "f");
    // One thread: from when it was asked for to when it began, and from there to its end.
    const double span = region["span_ns"], late = region["late_ns"], longest = region["longest_ns"];
    EXPECT_GT(late, 0);
    EXPECT_NEAR(span, late + longest, 10);
}

TEST(watch_corners, a_small_stack_has_room_for_notes) {
    const json region = watched::region_of_kind(corner("small_stack", "3\n"), "thread");
    EXPECT_EQ(watched::site(region, "malloc", "f")["count"], 1);
}

TEST(watch_corners, of_many_threads_with_one_routine_nothing_is_lost) {
    const json region = watched::region_of_kind(corner("many_threads", ""), "thread");
    EXPECT_EQ(region["entries"], 200);
    EXPECT_EQ(region["threads"], 200);
    EXPECT_EQ(watched::site(region, "malloc", "f")["count"], 600);
    EXPECT_EQ(watched::sum_of_parts(region), region["time"]["total_ns"].get<std::int64_t>());
    EXPECT_LE(region["time"]["total_ns"], region["span_ns"].get<double>() * 1.01) << "one after the other";
}

TEST(watch_corners, errno_stays_as_it_was) { corner("errno", "0\n"); }

TEST(watch_corners, without_a_file_a_thread_goes_on) {
    const watched::outcome seen = corner("no_files", "went on\n");
    EXPECT_NE(seen.text.find("1 thread without a record"), std::string::npos) << seen.text;
    EXPECT_EQ(seen.text.find("no thread was started"), std::string::npos) << seen.text;
}

TEST(watch_corners, a_limit_of_file_sizes_ends_no_program) {
    const watched::outcome seen = watched::run("corners", "", "file_limit");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "went on\n");
}

TEST(watch_corners, the_end_of_a_region_that_never_began_is_none) {
    const json region = watched::region_of_kind(corner("stray_end", ""), "thread");
    EXPECT_EQ(watched::site(region, "malloc", "f")["count"], 1000);
}

TEST(watch_corners, a_semaphore_is_a_place_to_be_cancelled_at) { corner("cancelled", "cancelled\n"); }

TEST(watch_corners, a_lock_that_is_refused_is_no_wait) {
    const json region = watched::region_of_kind(corner("deadlock", "refused\n"), "thread");
    EXPECT_EQ(region["waits"], 0);
    EXPECT_EQ(region["quick_locks"], 1);
}

TEST(watch_corners, what_the_c_library_refuses_is_refused) { corner("nonsense", "22 22 22 -1 dead lost\n"); }

TEST(watch_corners, a_child_without_handlers_has_a_recording_of_its_own) {
    const watched::outcome seen = corner("child", "0\n");
    ASSERT_EQ(seen.report["processes"].size(), 2U);
    ASSERT_EQ(seen.report["regions"].size(), 2U);
    for (const json& region : seen.report["regions"]) {
        EXPECT_EQ(watched::site(region, "malloc", "f")["count"], 1000);
    }
}

TEST(watch_corners, a_sleep_that_nobody_sees_is_no_wait_of_the_next_call) {
    const json region = watched::region_of_kind(corner("unseen_sleep", ""), "thread");
    EXPECT_EQ(region["waits"], 0);
    EXPECT_GT(region["time"]["unexplained_ns"], 0);
}

TEST(watch_corners, a_sleep_within_a_call_is_counted_once) {
    const json region = watched::region_of_kind(corner("slow_stream", ""), "thread");
    EXPECT_EQ(watched::site(region, "usleep", "write_slowly")["count"], 5);
    double spent = 0;
    for (const json& site : region["sites"]) spent += site["ns"].get<double>();
    EXPECT_LE(spent, region["max_inside_ns"].get<double>());
}

TEST(watch_corners, threads_that_share_a_processor_stand_in_its_queue) {
    const json region = watched::region_of_kind(corner("one_processor", ""), "thread");
    const double queue = region["kernel"]["queue_ns"];
    if (queue == 0) GTEST_SKIP() << "this kernel does not count the queue";
    EXPECT_EQ(region["waits"], 0);
    EXPECT_GT(region["time"]["queued_ns"].get<double>(), region["time"]["unexplained_ns"].get<double>());
    EXPECT_GT(region["kernel"]["involuntary"].get<double>(), 0);
}

TEST(watch_corners, what_was_refused_is_no_memory) {
    const json region = watched::region_of_kind(corner("refused_memory", ""), "thread");
    EXPECT_EQ(region["allocations"], 6);
    EXPECT_EQ(region["allocated_bytes"], 0);
}

TEST(watch_corners, names_of_regions_may_be_anything) {
    const watched::outcome seen = corner("names", "");
    ASSERT_EQ(seen.report["regions"].size(), 3U) << seen.text;
    std::map<std::uint64_t, std::string> found; // by what each allocates
    for (const json& region : seen.report["regions"]) found[region["allocations"]] = region["name"];
    EXPECT_EQ(found[1], "one") << "a byte of zero ends it";
    EXPECT_EQ(found[2].size(), 62U) << "cut, but no letter of it";
    EXPECT_TRUE(found[2].ends_with("\u00E9")) << found[2];
    EXPECT_EQ(found[3], "marked region");
}

TEST(watch_corners, a_stack_below_a_threads_own_is_not_taken_for_it) {
    // Addresses differ in each run: there may be no place in one and room in the next.
    watched::outcome seen = watched::run("corners", "--stacks frames", "stack_limit");
    for (int run = 0; run < 5 && seen.out == "no place\n"; ++run)
        seen = watched::run("corners", "--stacks frames", "stack_limit");
    EXPECT_EQ(seen.code, 0) << seen.err;
    if (seen.out == "no place\n") GTEST_SKIP() << "something else lies below the thread's stack here";
    EXPECT_EQ(seen.out, "came back\n");
    EXPECT_EQ(watched::count_of(watched::region_of_kind(seen, "thread"), "malloc", "allocate_beside"), 1U);
}

TEST(watch_corners, children_of_many_forks_never_hang) {
    // Of those whose children are watched each child has a recording.
    for (const auto& [options, forks] : {std::pair{"--no-children", "500"}, std::pair{"--stacks none", "50"}}) {
        const watched::outcome seen = watched::run("forks", options, std::string{forks} + " plug_in.so");
        EXPECT_EQ(seen.code, 0) << seen.err;
        EXPECT_EQ(seen.out, "0 wrong\n") << options;
    }
}

TEST(watch_corners, fibers_on_one_stack_are_told_apart) {
    const watched::outcome seen = watched::run("fibers");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "both came back\n");
    EXPECT_EQ(watched::site(watched::region_of_kind(seen, "mark"), "malloc", "allocate")["count"], 2);
}

TEST(watch_corners, a_wait_within_a_wait_is_counted_once) {
    const json region = watched::region_of_kind(watched::run("nested"), "thread");
    EXPECT_GE(region["waits"], 1);
    double waited = 0;
    for (const json& site : region["sites"]) {
        if (site["call"] == "usleep") continue; // the other one, which makes the static
        waited += site["wait_ns"].get<double>();
        EXPECT_EQ(watched::is_site(site, "futex", ""), false) << "the static is what it waits for";
    }
    EXPECT_LE(waited, region["max_inside_ns"].get<double>());
    watched::site(region, "initialisation of a static", "use_it");
}

TEST(watch_corners, who_runs_tasks_meanwhile_does_not_wait) {
    if (!watched::is_built("tasks")) GTEST_SKIP() << "the compiler has no OpenMP";
    const json region = watched::region_of_kind(watched::run("tasks"), "openmp");
    EXPECT_LT(region["waits"], 10) << "of 88 calls; the kernel may have let it sleep for a page";
}

TEST(watch_corners, a_lock_of_tbbs_is_no_want_of_work) {
    if (!watched::is_built("tasks_lock")) GTEST_SKIP() << "TBB is not installed";
    const watched::outcome seen = watched::run("tasks_lock");
    EXPECT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "tbb");
    for (const json& site : region["sites"]) EXPECT_NE(site["call"], "futex") << "it is the lock's own";
    ASSERT_TRUE(watched::some_stack_has(region, "tbb::mutex", "take_turns")) << seen.text;
    const json wait = watched::site(region, "tbb::mutex", "take_turns");
    EXPECT_NE(wait["object"].get<std::string>().find("lock"), std::string::npos) << wait["object"];
}

TEST(watch_plug_ins, have_a_cpp_library_of_their_own) {
    const watched::outcome seen = watched::run("host", "", "plug_in.so");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "103\n") << "found by the run path of the program";
    EXPECT_TRUE(watched::some_stack_has(watched::region_of_kind(seen, "thread"), "malloc", "run_plug_in")) << seen.text;
}

TEST(watch_plug_ins, have_an_openmp_of_their_own) {
    const auto folder = std::filesystem::path(watched::path_of("host")).parent_path() / "plug_ins";
    if (!std::filesystem::exists(folder / "plug_in_openmp.so")) GTEST_SKIP() << "the compiler has no OpenMP";
    const watched::outcome seen = watched::run("host", "", "plug_in_openmp.so");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "2\n");
    const json region = watched::region_of_kind(seen, "openmp");
    EXPECT_EQ(region["entries"], 2);
    EXPECT_EQ(region["allocations"], 2);
}

}
