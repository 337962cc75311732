// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Promises not to wait that a program breaks in one way each: is the place named, and does --fail-on fail for it
/// alone?

#include <gtest/gtest.h>

#include "watch/watched.hpp"

namespace {

using watched::json;

struct breach {
    const char* way;
    const char* call;
    const char* function;
    const char* kind; ///< the word of --fail-on
};

class broken_promises : public testing::TestWithParam<breach> {};

TEST_P(broken_promises, are_counted_with_their_place) {
    const breach& asked = GetParam();
    const watched::outcome seen = watched::run("no_wait", {}, asked.way);
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "no_wait");
    EXPECT_EQ(region["entries"], 5) << "a scope inside another is no stay of its own";
    EXPECT_EQ(watched::site(region, asked.call, asked.function)["count"], 5);
    const auto advice = region["advice"].get<std::string>();
    EXPECT_NE(advice.find("The promise not to wait is broken"), std::string::npos) << advice;
    EXPECT_NE(advice.find(asked.function), std::string::npos) << advice;
    EXPECT_NE(seen.text.find(asked.function), std::string::npos) << "free locks are listed, too" << seen.text;
}

TEST_P(broken_promises, fail_the_run_where_their_kind_is_asked_for) {
    const breach& asked = GetParam();
    for (const std::string kind : {"allocation", "free", "lock"}) {
        const watched::outcome seen = watched::run("no_wait", "--fail-on " + kind, asked.way);
        // Memory that is freed in the scope was allocated outside of it and of every other region, and the other way
        // round.
        EXPECT_EQ(seen.code, kind == asked.kind ? 99 : 0) << kind << "\n" << seen.err;
        if (kind != asked.kind) continue;
        EXPECT_NE(seen.err.find("found: " + kind + " in " + asked.call), std::string::npos) << seen.err;
        EXPECT_NE(seen.err.find("region no-wait scopes"), std::string::npos) << seen.err;
        const std::string places = asked.way == std::string("condition") ? "2 places" : "1 place"; // and its mutex
        EXPECT_NE(seen.err.find("--fail-on: " + places + "; exit 99; --write-baseline FILE accepts"), std::string::npos)
            << seen.err;
    }
}

INSTANTIATE_TEST_SUITE_P(watch, broken_promises,
                         testing::Values(breach{"allocation", "malloc", "allocate_once", "allocation"},
                                         breach{"free", "free", "free_once", "free"},
                                         breach{"null", "free", "free_once", "free"},
                                         breach{"lock", "pthread_mutex_lock", "lock_once", "lock"},
                                         breach{"read", "pthread_rwlock_rdlock", "read_once", "lock"},
                                         breach{"condition", "pthread_cond_timedwait", "wait_once", "lock"}),
                         [](const auto& way) { return std::string(way.param.way); });

TEST(watch_no_wait, a_lock_that_another_thread_holds_is_a_wait) {
    const watched::outcome seen = watched::run("no_wait", "--fail-on wait", "held");
    EXPECT_EQ(seen.code, 99) << seen.err;
    const json region = watched::region_of_kind(seen, "no_wait");
    EXPECT_EQ(watched::site(region, "pthread_mutex_lock", "lock_once")["waits"], 1);
    EXPECT_NE(seen.err.find("found: wait in pthread_mutex_lock"), std::string::npos) << seen.err;
}

TEST(watch_no_wait, a_correct_program_with_a_thread_passes_when_only_marks_are_watched) {
    const watched::outcome by_default = watched::run("no_wait", "--fail-on free", "keep");
    EXPECT_EQ(by_default.code, 99) << "std::thread frees its state";
    const watched::outcome seen = watched::run("no_wait", "--region marks --fail-on allocation,free,lock,wait", "keep");
    EXPECT_EQ(seen.code, 0) << seen.err;
}

TEST(watch_fail_on, without_a_value_says_what_is_missing) {
    for (const std::string option : {"--fail-on", "--stacks", "--html"}) {
        const watched::outcome seen = watched::run("no_wait", option + " --", "keep");
        EXPECT_EQ(seen.code, 2) << option;
        EXPECT_NE(seen.err.find(option + " needs a value before --"), std::string::npos) << seen.err;
    }
}

TEST(watch_no_wait, tries_permissions_and_other_threads_keep_the_promise) {
    const watched::outcome seen = watched::run("no_wait", {}, "keep");
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_of_kind(seen, "no_wait");
    EXPECT_EQ(region["entries"], 1);
    EXPECT_EQ(region["sites"].size(), 0U) << region["sites"];
    EXPECT_EQ(region["quick_locks"], 0);
    EXPECT_EQ(region["advice"].get<std::string>().find("broken"), std::string::npos) << region["advice"];
}

TEST(watch_no_wait, a_child_of_fork_breaks_promises_of_its_own) {
    const watched::outcome seen = watched::run("no_wait", {}, "fork");
    ASSERT_EQ(seen.code, 0) << seen.err;
    std::size_t broken = 0, kept = 0;
    for (const json& region : seen.report["regions"]) {
        if (region["kind"] != "no_wait") continue;
        (region["quick_locks"] == 1 ? broken : kept) += 1;
    }
    EXPECT_EQ(broken, 1U) << seen.text;
    EXPECT_EQ(kept, 1U) << seen.text;
}

}
