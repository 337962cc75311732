// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Call sites with pages of their own: what is found in traces of known shape, measured by replay.

#include <gtest/gtest.h>

#include <signal.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/harness/worker/interrupt.hpp"
#include "observe/replay/report/separation_json.hpp"
#include "observe/replay/report/separation_text.hpp"
#include "observe/replay/separation/advice_file.hpp"
#include "observe/replay/separation/separation_search.hpp"
#include "replay/made_trace.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;
using made::list_code, made::main_code, made::other_code, made::start_code, made::work_code;

const char* const why_not_measured = "a sanitizer's own memory is among what is measured";

/// All code is in one file, but for what is at `begin` and behind it.
trace with_code(trace of, std::uint64_t begin = 0x1000, std::uint64_t file_offset = 0) {
    of.mappings.push_back({begin, begin + 0x7000, file_offset, "/usr/bin/made", "c0ffee"});
    of.mappings.push_back({0x7f0000000000, 0x7f0000001000, 0, "[anon]", ""});
    return of;
}

enum class stay : std::uint8_t { nothing, one_site };

/// Two sites allocate in turn blocks of one size. Then those of the other site are freed, or all; then a third site
/// allocates and frees many.
trace two_sites(stay what, std::uint64_t shift = 0) {
    made::program program;
    const std::uint32_t one = program.stack({list_code + 8 + shift, work_code + 4 + shift, main_code + 4 + shift}),
                        other = program.stack({list_code + 8 + shift, work_code + 40 + shift, main_code + 4 + shift}),
                        busy = program.stack({other_code + 8 + shift, main_code + 8 + shift});
    std::vector<std::uint64_t> of_one, of_other;
    for (int i = 0; i < 40'000; ++i) {
        of_one.push_back(program.allocate(112, one));
        of_other.push_back(program.allocate(112, other));
    }
    if (what != stay::one_site)
        for (const std::uint64_t each : of_one) program.free(each);
    for (const std::uint64_t each : of_other) program.free(each);
    for (int i = 0; i < 80'000; ++i) program.free(program.allocate(48, busy));
    return program.take();
}

TEST(separation, blocks_that_die_together_get_pages_of_their_own) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    trace recorded = with_code(two_sites(stay::one_site));
    std::vector<std::string> steps;
    const separation_report found = find_separation(
        recorded, {}, [&](std::uint32_t, std::uint32_t, const std::string& what) { steps.push_back(what); });
    ASSERT_EQ(found.error, "");
    EXPECT_EQ(found.refusal, "");
    EXPECT_GE(steps.size(), 3U);
    EXPECT_TRUE(recorded.events.empty()) << "their memory is released";
    ASSERT_EQ(found.advised.classes.size(), 1U) << "one of the two is enough: the other has ordinary pages";
    ASSERT_EQ(found.advised.sites.size(), 1U) << to_advice_text(found.advised);
    EXPECT_EQ(found.advised.sites[0].frames.size(), 2U) << "the place that calls malloc is the same";
    EXPECT_EQ(found.separated_calls, 40'000U);
    EXPECT_EQ(found.calls, 160'000U);
    EXPECT_LT(found.learned.after.trimmed, found.learned.before.trimmed * 0.8);
    EXPECT_TRUE(found.learned.is_better());
}

TEST(separation, sites_hold_in_another_run_where_the_file_is_mapped_elsewhere) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    trace recorded = with_code(two_sites(stay::one_site));
    separation_report found = find_separation(recorded, {});
    ASSERT_FALSE(found.advised.sites.empty());
    trace other = with_code(two_sites(stay::one_site, 0x550000000000), 0x550000001000);
    other.damage = "the end is missing.";
    check_separation(found, other, "other.trace", {});
    ASSERT_EQ(found.error, "");
    EXPECT_EQ(found.refusal, "");
    ASSERT_EQ(found.checked.size(), 1U);
    EXPECT_LT(found.checked[0].figures.after.trimmed, found.checked[0].figures.before.trimmed * 0.8);
    EXPECT_EQ(found.checked[0].name, "other.trace");
    EXPECT_EQ(found.checked[0].damage, "the end is missing.");
}

TEST(separation, advice_that_does_not_help_in_another_run_is_withdrawn) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    trace recorded = with_code(two_sites(stay::one_site));
    separation_report found = find_separation(recorded, {});
    ASSERT_FALSE(found.advised.sites.empty());
    trace other = with_code(two_sites(stay::nothing));
    check_separation(found, other, "other.trace", {});
    ASSERT_EQ(found.error, "");
    EXPECT_TRUE(found.advised.sites.empty());
    EXPECT_TRUE(found.sites.empty());
    EXPECT_NE(found.refusal.find("other.trace"), std::string::npos) << found.refusal;
    EXPECT_EQ(to_advice_text(found.advised), "tenure-advice 1\n");
}

TEST(separation, where_nothing_helps_there_are_no_sites_and_a_sentence) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    trace recorded = with_code(two_sites(stay::nothing));
    const separation_report found = find_separation(recorded, {});
    ASSERT_EQ(found.error, "");
    EXPECT_TRUE(found.advised.sites.empty());
    EXPECT_NE(found.refusal.find(" bytes per live byte."), std::string::npos) << found.refusal;
    EXPECT_EQ(found.separated_calls, 0U);
}

TEST(separation, without_stacks_or_in_code_without_a_file_nothing_is_separated) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    for (const bool has_mappings : {false, true}) {
        trace recorded = two_sites(stay::one_site, has_mappings ? 0x7f0000000000 - 0x1000 : 0);
        if (has_mappings) recorded = with_code(std::move(recorded));
        const separation_report found = find_separation(recorded, {});
        ASSERT_EQ(found.error, "");
        EXPECT_TRUE(found.advised.sites.empty());
        EXPECT_NE(found.refusal.find("No call site lies in the code of a file with a build ID"), std::string::npos)
            << found.refusal;
        EXPECT_GT(found.learned.before.trimmed, 0);
    }
    made::program program;
    for (int i = 0; i < 1000; ++i) program.allocate(10'000);
    trace without = program.take();
    const separation_report found = find_separation(without, {});
    EXPECT_EQ(found.error, "the trace has no call stacks: record it with --stacks 16");
}

TEST(separation, a_trace_that_holds_little_has_a_reason_of_its_own) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    made::program program;
    const std::uint32_t stack = program.stack({list_code + 8, main_code + 4});
    for (int i = 0; i < 60; ++i) program.allocate(100, stack);
    trace recorded = with_code(program.take());
    const separation_report found = find_separation(recorded, {});
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.refusal.substr(0, 36), "Fewer than 1 MiB could be saved: the") << found.refusal;
    EXPECT_EQ(found.candidates, 0U);
}

TEST(separation, an_interrupt_ends_the_search) {
    if (support::under_sanitizer()) GTEST_SKIP() << why_not_measured;
    const interrupt_guard guard;
    trace recorded = with_code(two_sites(stay::one_site));
    std::uint32_t last = 0;
    const separation_report found =
        find_separation(recorded, {}, [&](std::uint32_t step, std::uint32_t, const std::string&) {
            last = step;
            if (step == 2) static_cast<void>(std::raise(SIGTERM));
        });
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.advised.sites.empty());
    EXPECT_EQ(found.replays, 2U) << "none was begun after the signal";
    EXPECT_GE(last, 2U);
    sigset_t raised;
    sigemptyset(&raised);
    sigaddset(&raised, SIGTERM);
    const timespec none{0, 0};
    while (::sigtimedwait(&raised, nullptr, &none) > 0) {}
    forget_interrupt();
}

TEST(separation, two_traces_are_of_one_run_if_recording_process_and_start_are_equal) {
    trace one, other;
    EXPECT_FALSE(is_same_run(one, other)) << "nobody knows";
    one.recording = other.recording = 7;
    one.process = other.process = 1234;
    one.started_ms = other.started_ms = 99;
    EXPECT_TRUE(is_same_run(one, other));
    other.started_ms = 100;
    EXPECT_FALSE(is_same_run(one, other)) << "another program of the same process";
    other.started_ms = 99;
    other.process = 1235;
    EXPECT_FALSE(is_same_run(one, other));
}

TEST(separation, a_damaged_trace_is_refused_in_a_sentence) {
    made::program program;
    const std::uint64_t block = program.allocate(10);
    program.free(block);
    program.free(block);
    trace recorded = program.take();
    EXPECT_NE(find_separation(recorded, {}).error.find("freed before"), std::string::npos);
}

TEST(separation, reports_name_classes_sites_and_figures) {
    separation_report found;
    found.advised.objects = {{"c0ffee", "/usr/bin/made"}};
    found.advised.classes = {{1, ""}, {2, ""}, {3, ""}};
    found.advised.sites = {{1, {{0, 0x10}, {0, 0x20}}}, {2, {{0, 0x30}}}, {3, {{0, 0x40}}}};
    found.sites = {{1, 2, 1, 4, {100, 2000, 1500}}, {2, 1, 2, 1, {50, 1000, 10}}, {3, 1, 3, 1, {5, 1000, 10}}};
    found.calls = 1000;
    found.separated_calls = 155;
    found.origin = "lifetimes, compared by up to 4 frames";
    found.candidates = 31;
    found.replays = 61;
    found.learned = {{4e7, 3e7, 2e7, 3e7}, {4e7, 3e7, 1e7, 2e7}, 9e6, 30'000'000};
    const place_names names = [](std::uint32_t stack) -> std::vector<std::string> {
        if (stack == 3) return {"made+0x1234"};
        return {"list_grow(char const*) at list.cpp:10",
                stack == 1 ? "parse<int>::document_of_one_file() at p.cpp:3" : ""};
    };
    name_classes(found, names);
    EXPECT_EQ(found.advised.classes[0].name, "parse") << "the outermost frame that decides";
    EXPECT_EQ(found.advised.classes[1].name, "list-grow");
    EXPECT_EQ(found.advised.classes[2].name, "class 3") << "no function is known";
    EXPECT_TRUE(parse_advice(to_advice_text(found.advised)).ok()) << "names have valid letters";
    const std::string text = to_text(found, names, {});
    for (const char* const words : {"155 of 1000 calls", "class 1: parse", "100 calls (10.0 %)", "called by parse<int>",
                                    "mean after trim()", "peak after trim()", "-50.0 %", "Not checked on another run",
                                    "cannot know", "best of 31 candidates, chosen on this trace",
                                    "medians of 5 replays", "derived from lifetimes, compared by up to"})
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    EXPECT_NE(remark_for(found, "made.trace").find("best of 31 candidates on this trace"), std::string::npos);
    found.checked.push_back({"best.trace", "", {{4e7, 3e7, 2e7}, {4e7, 3e7, 1e7}, 0, 0}});
    found.checked.push_back({"worst.trace", "the end is missing.", {{4e7, 3e7, 2e7}, {4e7, 3e7, 1.5e7}, 0, 0}});
    const std::string checked = to_text(found, names, {});
    for (const char* const words : {"Checked on another run, best.trace:", "Checked on another run, worst.trace:",
                                    "This trace is damaged: the end is missing."})
        EXPECT_NE(checked.find(words), std::string::npos) << words << "\n" << checked;
    const std::string remark = remark_for(found, "made.trace");
    EXPECT_NE(remark.find("19.1 MiB to 14.3 MiB"), std::string::npos) << remark;
    EXPECT_NE(remark.find("(checked on worst.trace)"), std::string::npos) << remark;
    const auto read = nlohmann::json::parse(to_json(found, names));
    EXPECT_EQ(read["classes"][1]["name"], "list-grow");
    EXPECT_EQ(read["sites"][0]["stack"].size(), 2U);
    EXPECT_EQ(read["learned"]["with"]["mean_trimmed_bytes"], 1e7);
    EXPECT_EQ(read["learned"]["is_better"], true);
    EXPECT_EQ(read["learned"]["with"]["peak_trimmed_bytes"], 2e7);
    EXPECT_EQ(read["candidates"], 31);
    EXPECT_EQ(read["checked"][1]["trace"], "worst.trace");
    EXPECT_EQ(read["checked"][1]["damage"], "the end is missing.");
    EXPECT_EQ(read["checked"][1]["with"]["mean_trimmed_bytes"], 1.5e7);
}

TEST(separation, figures_are_better_only_if_nothing_rises) {
    const separation_figures better{{40e6, 30e6, 20e6}, {40e6, 30e6, 18e6}, 0, 0};
    EXPECT_TRUE(better.is_better());
    separation_figures other = better;
    other.after.peak = 41e6;
    EXPECT_FALSE(other.is_better()) << "the peak rises";
    other = better;
    other.after.mean = 31e6;
    EXPECT_FALSE(other.is_better()) << "the mean rises";
    other = better;
    other.after.trimmed = 19.8e6;
    EXPECT_FALSE(other.is_better()) << "1 % is too little";
    other.after.peak = 36e6;
    EXPECT_TRUE(other.is_better()) << "the peak falls";
    other = better;
    other.before.trimmed_peak = 30e6;
    other.after.trimmed_peak = 31e6;
    EXPECT_FALSE(other.is_better()) << "the peak after trim() rises";
    const separation_figures small{{4e6, 3e6, 2e6}, {4e6, 3e6, 1.5e6}, 0, 0};
    EXPECT_FALSE(small.is_better()) << "less than 1 MiB";
}

}
