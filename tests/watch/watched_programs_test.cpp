// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Programs with one cause of lost time each: is it named? How much is lost depends on the machine and on what else
/// runs there; what, where and how often does not.

#include <gtest/gtest.h>

#include "watch/watched.hpp"

namespace {

using watched::json;

TEST(watch_story, the_lock_and_both_functions_are_named) {
    const watched::outcome seen = watched::run("story");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_EQ(region["threads"], 2);
    EXPECT_EQ(region["null_frees"], 160'000);
    EXPECT_EQ(region["allocations"], 0);
    // The program makes each thread wait once; after that they may pass each other by.
    const std::uint64_t quick = region["quick_locks"];
    const std::uint64_t waits = watched::count_of(region, "pthread_mutex_lock", "debug_free");
    EXPECT_EQ(waits + quick, 160'000U);
    const json freed = watched::site(region, "free", "debug_free");
    EXPECT_EQ(freed["null_frees"], freed["count"]);
    EXPECT_GE(waits, 2U);
    const json lock = watched::site(region, "pthread_mutex_lock", "debug_free");
    EXPECT_NE(lock["object"].get<std::string>().find("debug_heap_lock"), std::string::npos) << lock["object"];
    EXPECT_EQ(lock["where"]["file"].get<std::string>().substr(lock["where"]["file"].get<std::string>().rfind('/') + 1),
              "story.cpp");
    EXPECT_TRUE(watched::some_stack_has(region, "pthread_mutex_lock", "format_object"));
    EXPECT_TRUE(watched::some_stack_has(region, "pthread_mutex_lock", "format_quietly"));
    EXPECT_GT(region["waiting_share"], 0.0);
    EXPECT_NE(seen.text.find("debug_heap_lock"), std::string::npos);
}

TEST(watch_story, a_function_is_a_region_by_its_name) {
    for (const char* name : {"format_object", "(anonymous namespace)::format_quietly"}) {
        const watched::outcome seen = watched::run("story", std::string("--region 'function:") + name + "'");
        ASSERT_EQ(seen.code, 0) << seen.err;
        const json region = watched::region_of_kind(seen, "function");
        EXPECT_EQ(region["entries"], 80'000) << name;
        EXPECT_EQ(region["null_frees"], 80'000) << name;
        EXPECT_EQ(region["threads"], 2) << name;
        EXPECT_GT(region["time"]["total_ns"], 0);
    }
}

TEST(watch_arena, allocation_and_the_arenas_lock_are_named) {
    const watched::outcome seen = watched::run("arena");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_EQ(region["allocations"], 2 * (3000 * 64 + 1)); // and the vector of each thread
    EXPECT_EQ(watched::site(region, "malloc", "operator()")["count"], 2 * 3000 * 64);
    EXPECT_GT(region["allocation_share"], 0.0);
    EXPECT_EQ(region["quick_locks"], 0); // no lock of the program's
    EXPECT_NE(region["name"].get<std::string>().find("main::{lambda"), std::string::npos)
        << "what the thread was given";
    const json malloc = watched::site(region, "malloc", "operator()");
    if (malloc["wait_ns"].get<double>() * 50 >= malloc["ns"].get<double>()) {
        EXPECT_NE(malloc["what"].get<std::string>().find("lock of the heap"), std::string::npos);
    }
}

TEST(watch_stdio, the_files_lock_is_named) {
    const watched::outcome seen = watched::run("stdio");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    // A compiler makes fwrite of fputs.
    const json write = watched::site(region, "fwrite", "operator()");
    EXPECT_EQ(write["count"], 800'000);
    EXPECT_EQ(write["group"], "stream");
    if (write["wait_ns"].get<double>() * 50 >= write["ns"].get<double>()) {
        EXPECT_NE(write["what"].get<std::string>().find("file's lock"), std::string::npos);
    }
}

TEST(watch_futex, a_lock_without_the_c_library_is_named) {
    const watched::outcome seen = watched::run("futex");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_GE(region["waits"], 2);
    const json wait = watched::site(region, "futex", "take");
    EXPECT_NE(wait["object"].get<std::string>().find("word"), std::string::npos) << wait["object"];
}

TEST(watch_faults, pages_are_counted_by_the_kernel_and_named) {
    const watched::outcome seen = watched::run("faults");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_GE(region["kernel"]["small_faults"], 60'000);
    EXPECT_EQ(region["waits"], 0);
    const double faults = region["time"]["faults_ns"], running = region["time"]["running_ns"];
    EXPECT_GT(faults, running) << "each page costs a fault, and a store beside it";
    EXPECT_GT(region["kernel"]["asked_share"], 0.9);
}

TEST(watch_uneven, one_slow_thread_is_idle_time_of_the_other) {
    const watched::outcome seen = watched::run("uneven");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_EQ(region["waits"], 0);
    EXPECT_EQ(region["allocations"], 0);
    EXPECT_GT(region["max_inside_ns"].get<double>(), region["min_inside_ns"].get<double>());
    const double total = region["time"]["total_ns"], idle = region["time"]["idle_ns"];
    EXPECT_GT(idle, 0);
    EXPECT_LT(idle, total);
    EXPECT_EQ(watched::sum_of_parts(region), region["time"]["total_ns"].get<std::int64_t>());
}

TEST(watch_quiet, a_program_that_calls_nothing_has_a_clean_report) {
    const watched::outcome seen = watched::run("quiet");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "thread");
    EXPECT_EQ(region["allocations"], 0);
    EXPECT_EQ(region["waits"], 0);
    EXPECT_EQ(region["waiting_share"], 0.0);
    EXPECT_EQ(region["time"]["allocation_ns"].get<double>() + region["time"]["mapping_ns"].get<double>() < 1e5, true);
    EXPECT_EQ(watched::sum_of_parts(region), region["time"]["total_ns"].get<std::int64_t>());
}

TEST(watch_openmp, constructs_of_both_libraries_are_regions) {
    for (const char* program : {"openmp", "openmp_llvm"}) {
        if (!watched::is_built(program)) continue;
        const watched::outcome seen = watched::run(program);
        ASSERT_EQ(seen.code, 0) << seen.err;
        const json region = watched::region_of_kind(seen, "openmp");
        EXPECT_EQ(region["instances"], 20) << program;
        EXPECT_EQ(region["threads"], 2) << program;
        EXPECT_EQ(region["entries"], 40) << program;
        EXPECT_GE(region["allocations"], 20'000) << program;
        EXPECT_LE(region["allocations"], 20'200) << program; // LLVM's library allocates as well
        EXPECT_GT(region["waits"], 0) << program;            // the barrier in the middle
        const double total = region["time"]["total_ns"], span = region["span_ns"];
        EXPECT_LT(total, 2.1 * span) << program << ": no thread is in a region after its end";
        EXPECT_EQ(watched::sum_of_parts(region), region["time"]["total_ns"].get<std::int64_t>());
    }
}

TEST(watch_openmp, tasks_that_run_at_the_end_of_a_region_are_in_it) {
    for (const char* program : {"tasks_at_end", "tasks_at_end_llvm"}) {
        if (!watched::is_built(program)) continue;
        const watched::outcome seen = watched::run(program);
        ASSERT_EQ(seen.code, 0) << seen.err;
        const long expected = 100 * (100 + 7 + 1) + 4950 + 100 * 100 + 4950;
        EXPECT_EQ(seen.out, std::to_string(expected) + " 4950 0\n") << program;
        const json region = watched::region_of_kind(seen, "openmp");
        EXPECT_EQ(watched::count_of(region, "malloc", "leaf"), 600U) << program << seen.text;
        EXPECT_EQ(watched::count_of(region, "free", "leaf"), 600U) << program;
    }
}

TEST(watch_execution, algorithms_with_a_policy_are_regions) {
    if (!watched::is_built("execution")) GTEST_SKIP() << "TBB is not installed";
    const watched::outcome seen = watched::run("execution");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "tbb");
    EXPECT_EQ(region["instances"], 3);
    const json malloc = watched::site(region, "malloc", "piece");
    EXPECT_EQ(malloc["count"], 60'000);
    const std::uint64_t waits = watched::count_of(region, "pthread_mutex_lock", "piece");
    EXPECT_EQ(waits + region["quick_locks"].get<std::uint64_t>() >= 60'000, true);
}

TEST(watch_marks, regions_and_promises_of_tenures_own_are_seen) {
    const watched::outcome seen = watched::run("marks");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json marked = watched::region_named(seen, "frame work");
    EXPECT_EQ(marked["kind"], "mark");
    EXPECT_EQ(marked["entries"], 20);
    EXPECT_EQ(watched::site(marked, "malloc", "plain_malloc")["count"], 20);
    ASSERT_EQ(seen.report["marks"].size(), 2U) << "one in each thread";
    EXPECT_EQ(seen.report["marks"][0]["name"], "half of it");
    EXPECT_NE(seen.text.find("Marks: half of it at"), std::string::npos) << seen.text;
    const json promised = watched::region_of_kind(seen, "no_alloc");
    EXPECT_NE(promised["advice"].get<std::string>().find("is broken 9 times"), std::string::npos) << promised["advice"];
    EXPECT_EQ(promised["entries"], 3);
    EXPECT_EQ(watched::site(promised, "malloc", "plain_malloc")["count"], 3) << "the permitted ones are not counted";
    EXPECT_TRUE(watched::site(promised, "aligned_alloc", "tenures_block")["is_tenures"]);
    EXPECT_TRUE(watched::site(promised, "aligned_alloc", "frames_block")["is_tenures"]);
}

TEST(watch_marks, a_program_without_tenure_looks_them_up) {
    const watched::outcome seen = watched::run("looked_up");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "mark");
    EXPECT_EQ(region["name"], "looked up");
    EXPECT_EQ(region["entries"], 5);
    EXPECT_EQ(region["allocated_bytes"], 5 * 123);
}

}
