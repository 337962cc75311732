// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// However a program ends, what was noted is there; what cannot be watched says why.

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "watch/watched.hpp"

namespace {

using watched::json;

constexpr int allocations = 1234;

void expect_all_noted(const watched::outcome& seen) {
    const json region = watched::region_of_kind(seen, "thread");
    ASSERT_FALSE(region.empty());
    EXPECT_EQ(watched::site(region, "malloc", "allocate_some")["count"], allocations);
    EXPECT_EQ(watched::site(region, "free", "allocate_some")["count"], allocations);
}

TEST(watch_ends, an_abort_loses_nothing) {
    const watched::outcome seen = watched::run("ends", "", "abort");
    EXPECT_EQ(seen.code, 128 + SIGABRT);
    expect_all_noted(seen);
    EXPECT_TRUE(watched::region_of_kind(seen, "thread")["is_open"]);
    EXPECT_EQ(seen.report["processes"][0]["signal"], SIGABRT);
    EXPECT_TRUE(seen.report["processes"][0]["exit_code"].is_null());
    EXPECT_NE(seen.text.find("ended by signal 6"), std::string::npos) << seen.text;
}

TEST(watch_ends, a_kill_loses_nothing) {
    const watched::outcome seen = watched::run("ends", "", "kill");
    EXPECT_EQ(seen.code, 128 + SIGKILL);
    expect_all_noted(seen);
}

TEST(watch_ends, what_threads_still_wait_for_is_told) {
    const watched::outcome seen = watched::run("ends", "", "deadlock");
    EXPECT_EQ(seen.code, 128 + SIGTERM);
    expect_all_noted(seen);
    const json region = watched::region_of_kind(seen, "thread");
    std::uint64_t waited = 0;
    for (const json& site : region["sites"]) {
        if (site["call"] == "pthread_mutex_lock") waited += site["wait_ns"].get<std::uint64_t>();
    }
    EXPECT_GT(waited, 0U) << seen.text;
}

TEST(watch_ends, an_exit_without_destructors_loses_nothing) {
    const watched::outcome seen = watched::run("ends", "", "exit");
    EXPECT_EQ(seen.code, 7);
    expect_all_noted(seen);
    EXPECT_EQ(seen.report["processes"][0]["end"], "quick_exit");
    EXPECT_EQ(seen.report["processes"][0]["exit_code"], 7);
}

TEST(watch_ends, both_programs_of_an_exec_are_there) {
    const watched::outcome seen = watched::run("ends", "", "exec");
    EXPECT_EQ(seen.code, 0) << seen.err;
    ASSERT_EQ(seen.report["processes"].size(), 2U);
    EXPECT_EQ(seen.report["processes"][0]["process"], seen.report["processes"][1]["process"]);
    EXPECT_EQ(seen.report["processes"][0]["end"], "exec");
    EXPECT_EQ(seen.report["processes"][1]["end"], "exit");
    int regions = 0;
    for (const json& region : seen.report["regions"]) {
        ++regions;
        EXPECT_EQ(watched::site(region, "malloc", "allocate_some")["count"], allocations);
    }
    EXPECT_EQ(regions, 2);
}

TEST(watch_ends, a_child_has_a_recording_of_its_own) {
    const watched::outcome seen = watched::run("ends", "", "fork");
    EXPECT_EQ(seen.code, 0) << seen.err;
    ASSERT_EQ(seen.report["processes"].size(), 2U);
    EXPECT_TRUE(seen.report["processes"][1]["is_child"]);
    EXPECT_EQ(seen.report["processes"][1]["parent"], seen.report["processes"][0]["process"]);
    EXPECT_EQ(seen.report["regions"].size(), 2U);
    for (const json& region : seen.report["regions"]) {
        EXPECT_EQ(watched::site(region, "malloc", "allocate_some")["count"], allocations);
    }
}

TEST(watch_ends, a_child_is_left_alone_when_that_is_asked) {
    const watched::outcome seen = watched::run("ends", "--no-children", "fork");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.report["processes"].size(), 1U);
}

TEST(watch_refuses, a_program_that_is_linked_statically) {
    if (!watched::is_built("static")) GTEST_SKIP() << "nothing can be linked statically here";
    const command_outcome ran = run_command("watch -- '" + watched::path_of("static") + "'");
    EXPECT_EQ(ran.code, 126);
    EXPECT_NE(ran.err.find("linked statically"), std::string::npos) << ran.err;
}

TEST(watch_refuses, what_is_not_there) {
    EXPECT_EQ(run_command("watch -- /nowhere/program").code, 127);
    EXPECT_EQ(run_command("watch -- /etc").code, 126);
    EXPECT_EQ(run_command("watch").code, 2);
    EXPECT_EQ(run_command("watch --region nonsense -- true").code, 2);
    EXPECT_EQ(run_command("watch --stacks nonsense -- true").code, 2);
    EXPECT_EQ(run_command("watch --from /nowhere").code, 2);
    EXPECT_EQ(run_command("watch --nonsense -- true").code, 2);
    const command_outcome swallowed = run_command("watch --html -- true");
    EXPECT_EQ(swallowed.code, 2);
    EXPECT_NE(swallowed.err.find("--html"), std::string::npos) << swallowed.err;
    EXPECT_EQ(run_command("watch --baseline /dev/null -- true").code, 2) << "of no use alone";
}

TEST(watch_refuses, numbers_out_of_range_with_the_range) {
    for (const char* option : {"--sites", "--regions", "--frames", "--slow-ns", "--fail-code"}) {
        for (const char* number : {"-1", "99999999999999999999", "18446744073709551615", "1.5", "x"}) {
            const command_outcome ran = run_command(std::string{"watch "} + option + " " + number + " -- true");
            EXPECT_EQ(ran.code, 2) << option << " " << number << "\n" << ran.err;
            EXPECT_NE(ran.err.find(option), std::string::npos) << ran.err;
            EXPECT_NE(ran.err.find("not a whole number from "), std::string::npos) << ran.err;
        }
    }
    EXPECT_EQ(run_command("watch --sites 010 --frames 0 -- true").code, 0);
}

TEST(watch_tells, of_a_malloc_of_the_programs_own) {
    const watched::outcome seen = watched::run("own_malloc");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_TRUE(seen.report["processes"][0]["has_own_malloc"]);
    EXPECT_NE(seen.text.find("malloc of its own"), std::string::npos) << seen.text;
}

TEST(watch_tells, of_a_program_without_regions) {
    const command_outcome ran = run_command("watch -- true");
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.err.find("No parallel region was seen"), std::string::npos) << ran.err;
}

TEST(watch_command, lists_what_it_stands_in_for) {
    const command_outcome ran = run_command("watch --list");
    EXPECT_EQ(ran.code, 0);
    for (const char* word : {"malloc", "operator new[]", "pthread_rwlock_wrlock", "futex", "snprintf", "setlocale",
                             "fputs", "GOMP_barrier", "What can stay hidden"}) {
        EXPECT_NE(ran.out.find(word), std::string::npos) << word;
    }
}

TEST(watch_command, keeps_recordings_and_reports_once_more) {
    const std::string folder = support::own_path("kept");
    EXPECT_EQ(run_command("watch --keep '" + folder + "' -- '" + watched::path_of("ends") + "' exit").code, 7);
    const command_outcome again = run_command("watch --from '" + folder + "' --json -");
    EXPECT_EQ(again.code, 0) << again.err;
    const json report = json::parse(again.out, nullptr, false);
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(report["processes"].size(), 1U);
    const command_outcome mixed = run_command("watch --keep '" + folder + "' -- true");
    EXPECT_EQ(mixed.code, 3);
    EXPECT_NE(mixed.err.find("another run"), std::string::npos) << mixed.err;
    // A damaged file is left out by name.
    std::ofstream(folder + "/1-0.tnw") << "nonsense";
    EXPECT_NE(run_command("watch --from '" + folder + "'").err.find("1-0.tnw is left out"), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(watch_command, puts_away_what_a_killed_run_has_left) {
    namespace fs = std::filesystem;
    const fs::path place = support::own_path("place");
    constexpr const char* nobody = "4194305-0.tnw"; // past the largest process number
    const auto age = [](const fs::path& folder) {
        fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
    };
    const auto make = [&](const std::string& name, const std::string& recording, bool has_lock) {
        fs::create_directories(place / name);
        fs::permissions(place / name, fs::perms::owner_all);
        std::ofstream(place / name / recording) << "x";
        if (has_lock) std::ofstream(place / name / "lock") << "";
        age(place / name);
        return place / name;
    };
    const fs::path left = make("tenure-watch-Left01", nobody, true);
    std::ofstream(left / "plan") << "x";
    fs::create_symlink(place, left / "libtenure_watch.so");
    age(left);
    const fs::path made = make("tenure-watch-made01", nobody, false);
    const fs::path living = make("tenure-watch-living", std::to_string(::getpid()) + "-0.tnw", true);
    const fs::path held = make("tenure-watch-held01", nobody, true);
    const fs::path young = make("tenure-watch-young1", nobody, true);
    fs::last_write_time(young, fs::file_time_type::clock::now());
    std::vector<fs::path> others{make("something-else", nobody, true),
                                 make("tenure-watch-left", nobody, true),
                                 make("tenure-watch-results", nobody, true),
                                 make("tenure-watch-a.b-c1", nobody, true),
                                 make("tenure-watch-files1", "thesis.txt", true),
                                 make("tenure-watch-names1", "thesis.tnw", true),
                                 make("tenure-watch-inside", nobody, true),
                                 make("tenure-watch-links1", nobody, true),
                                 make("tenure-watch-open01", nobody, true)};
    fs::create_directory(others[6] / "more");
    fs::create_symlink(others[0] / "lock", others[7] / "4194306-0.tnw");
    fs::permissions(others[8], fs::perms::all);
    for (std::size_t index = 6; index < others.size(); ++index) age(others[index]);
    fs::create_directory_symlink(others[0], place / "tenure-watch-linked");
    const int lock = ::open((held / "lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
    ::setenv("TMPDIR", place.c_str(), 1);
    EXPECT_EQ(run_command("watch -- true").code, 0);
    ::unsetenv("TMPDIR");
    ::close(lock);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(made) && fs::exists(living) && fs::exists(held));
    EXPECT_TRUE(fs::exists(young));
    for (const fs::path& each : others) {
        const auto files = std::distance(fs::directory_iterator(each), fs::directory_iterator());
        EXPECT_EQ(files, &each == &others[6] || &each == &others[7] ? 3 : 2) << each;
    }
    fs::remove_all(place);
}

TEST(watch_command, fails_only_on_new_places) {
    const std::string program = "-- '" + watched::path_of("ends") + "' fork";
    const std::string known = support::own_path("known.txt");
    EXPECT_EQ(run_command("watch --fail-on allocation " + program).code, 99);
    EXPECT_EQ(run_command("watch --fail-on allocation --fail-code 42 " + program).code, 42);
    EXPECT_EQ(run_command("watch --write-baseline '" + known + "' " + program).code, 0);
    const command_outcome same = run_command("watch --fail-on allocation --baseline '" + known + "' " + program);
    EXPECT_EQ(same.code, 0) << same.err << text_of_file(known);
    EXPECT_EQ(run_command("watch --fail-on allocation --baseline /nowhere " + program).code, 2);
    for (const char* no_file : {"/", "/dev/zero"}) { // one is no file, and one never ends
        const command_outcome ran = run_command("watch --fail-on allocation --baseline " + (no_file + (" " + program)));
        EXPECT_EQ(ran.code, 2) << ran.err;
        EXPECT_NE(ran.err.find(no_file), std::string::npos) << ran.err;
        EXPECT_EQ(ran.out, "") << "it must not have run";
    }
    std::ofstream(known, std::ios::app) << "what is this\n";
    const command_outcome broken = run_command("watch --fail-on allocation --baseline '" + known + "' " + program);
    EXPECT_EQ(broken.code, 2);
    EXPECT_NE(broken.err.find("line"), std::string::npos) << broken.err;
    std::filesystem::remove(known);
}

TEST(watch_functions, are_entered_and_left_however_they_end) {
    const auto seen = watched::run("functions", "--region function:recurse,function:throw_up,function:catch_some,"
                                                "function:jump_out,function:many_values,function:add_wide,"
                                                "function:throw_to_caller");
    ASSERT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "0 wrong\n");
    std::map<std::string, std::uint64_t> entries;
    for (const json& region : seen.report["regions"]) entries[region["name"]] = region["entries"];
    // Of a recursion only the outermost call is one.
    std::map<std::string, std::uint64_t> expected{
        {"recurse", 100}, {"throw_up", 100}, {"catch_some", 100}, {"jump_out", 100}, {"many_values", 100}};
    if (__builtin_cpu_supports("avx")) expected["add_wide"] = 101;
    expected["throw_to_caller"] = 100;
    EXPECT_EQ(entries, expected);
    const json thrower = watched::region_named(seen, "throw_to_caller");
    EXPECT_GE(watched::count_of(thrower, "malloc", "throw_to_caller"), 100U) << "and the exceptions";
    EXPECT_EQ(watched::count_of(thrower, "malloc", "catch_and_allocate"), 0U) << "what has thrown has ended";
}

TEST(watch_functions, let_go_of_threads_that_end_in_them) {
    const auto seen = watched::run("ways_out", "--region threads,function:wait_for_ever,function:end_here");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, "a cancelled thread was left\na thread that ends itself was left\nthere was no such memory\n");
    EXPECT_EQ(watched::region_named(seen, "wait_for_ever")["entries"], 1);
    EXPECT_EQ(watched::region_named(seen, "end_here")["entries"], 10) << "threads on one stack, one after the other";
    std::uint64_t mallocs = 0, bytes = 0;
    for (const json& region : seen.report["regions"]) {
        if (region["kind"] != "thread") continue;
        bytes = std::max(bytes, region["allocated_bytes"].get<std::uint64_t>());
        for (const json& site : region["sites"]) {
            if (site["call"] == "malloc") mallocs = std::max(mallocs, site["count"].get<std::uint64_t>());
        }
    }
    EXPECT_EQ(mallocs, 1000U) << "also behind an operator new that has thrown";
    EXPECT_LT(bytes, 1U << 20U) << "what was refused is no memory";
}

TEST(watch_functions, may_be_called_by_handlers_of_signals) {
    const watched::outcome seen = watched::run("handlers", "--region function:work,marks");
    EXPECT_EQ(seen.code, 0) << seen.err;
    const json region = watched::region_named(seen, "work");
    EXPECT_LE(region["entries"].get<long>() - 300'000, std::stol(seen.out)) << "each handler's once, or not seen";
    EXPECT_GE(region["entries"], 300'000);
    const json mark = watched::region_named(seen, "outer");
    EXPECT_EQ(mark["entries"], 300'000) << "the handlers' own within them change nothing";
}

TEST(watch_functions, that_are_never_called_are_named) {
    const watched::outcome seen = watched::run("ways_out", "--region function:never_called");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_NE(seen.text.find("no call of never_called"), std::string::npos) << seen.text;
}

watched::outcome watch_late(const std::string& how) {
    const std::string plug_in =
        std::filesystem::path(watched::path_of("late")).parent_path() / "plug_ins/late_plug_in.so";
    const std::string options = "--region 'function:" + plug_in + "!begins_long,function:" + plug_in + "!begins_short'";
    watched::outcome seen = watched::run("late", options, how + " late_plug_in.so");
    EXPECT_EQ(seen.out, seen.code == 77 ? "" : "41 42\n") << seen.err;
    return seen;
}

/// How often each function was entered.
std::map<std::string, std::uint64_t> entries_of(const watched::outcome& seen) {
    std::map<std::string, std::uint64_t> entries;
    for (const json& region : seen.report["regions"]) {
        if (region["kind"] == "function") entries[region["name"]] = region["entries"];
    }
    return entries;
}

TEST(watch_functions, of_a_late_library_are_watched_while_there_is_one_thread) {
    const watched::outcome seen = watch_late("alone");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(entries_of(seen), (std::map<std::string, std::uint64_t>{{"begins_long", 1}, {"begins_short", 1}}));
}

TEST(watch_functions, are_not_written_to_where_another_thread_may_stand) {
    const watched::outcome seen = watch_late("threads");
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(entries_of(seen), (std::map<std::string, std::uint64_t>{{"begins_long", 1}}));
    EXPECT_NE(seen.text.find("begins_short is not watched: other threads"), std::string::npos) << seen.text;
}

TEST(watch_functions, stay_as_they_are_where_the_system_refuses) {
    for (const auto& [how, why] :
         {std::pair{"no_writing", "does not allow writing to code"}, std::pair{"no_executing", "does not allow"}}) {
        const watched::outcome seen = watch_late(how);
        if (seen.code == 77) GTEST_SKIP() << "no filter of system calls can be set here";
        EXPECT_EQ(seen.code, 0) << how << seen.err;
        EXPECT_TRUE(entries_of(seen).empty()) << how;
        EXPECT_NE(seen.text.find(why), std::string::npos) << seen.text;
    }
}

TEST(watch_functions, that_cannot_be_patched_are_refused_with_the_reason) {
    const std::string program = " -- '" + watched::path_of("functions") + "'";
    const auto expect = [&program](const std::string& name, const std::string& reason) {
        const command_outcome ran = run_command("watch --region function:" + name + program);
        EXPECT_EQ(ran.code, 126) << name;
        EXPECT_NE(ran.err.find(reason), std::string::npos) << ran.err;
        EXPECT_NE(ran.err.find(name), std::string::npos) << ran.err;
        EXPECT_EQ(ran.out, "") << "it must not have run";
    };
    expect("too_short", "five bytes");
    expect("jumps_to_its_begin", "jumps to another");
    expect("is_jumped_into", "leads into its first");
    expect("nowhere_at_all", "symbol table");
}

}
