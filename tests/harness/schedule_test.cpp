// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/worker/interrupt.hpp"
#include "harness/toy_experiment.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

const experiment& toys_experiment() { return toys::experiments().front(); }

std::vector<found_malloc> two_mallocs() {
    return {{std::string{system_malloc_name}, {}, "2.36", true, {}, {}},
            {"jemalloc", {}, {}, false, "it is not on this machine", {}}};
}

std::vector<measured_row> rows_named(std::string_view name) {
    const std::vector<library_peer> libraries{{"Absent", "libabsent-dev", {}, false, {}}};
    std::vector<measured_row> rows = list_rows(toys_experiment(), two_mallocs(), libraries);
    std::erase_if(rows, [&](const measured_row& row) { return row.name != name; });
    return rows;
}

experiment_result run_toys(std::string_view name, run_settings settings = {}, std::int64_t size = 7) {
    const std::vector<measured_row> rows = rows_named(name);
    EXPECT_EQ(rows.size(), 1u);
    settings.rounds = std::min(settings.rounds, 3u);
    parameters options(toys_experiment().options);
    options.set("size", size);
    return run_experiment(toys_experiment(), options, rows, settings);
}

contestant_result run_alone(std::string_view name, run_settings settings = {}, std::int64_t size = 7) {
    return run_toys(name, settings, size).contestants.at(0);
}

run_settings only_part(std::size_t part) {
    run_settings settings;
    settings.rounds = 1;
    settings.parts = std::uint64_t{1} << part;
    return settings;
}

std::string parts_of(const experiment_result& found) {
    for (const parameter& each : found.parameters) {
        if (each.name == "--parts") return each.value;
    }
    return "not there";
}

TEST(rounds, a_contestant_that_behaves_has_a_sample_for_each_round_in_the_order_of_the_parts) {
    const contestant_result row = run_alone("behaves");
    ASSERT_EQ(row.state, outcome::measured) << row.reason;
    ASSERT_EQ(row.metrics.size(), 4u);
    EXPECT_EQ(row.metrics[0].name, "number");
    EXPECT_EQ(row.metrics[0].variant, "first");
    EXPECT_EQ(row.metrics[2].variant, "second");
    EXPECT_EQ(row.metrics[0].samples, (std::vector<double>{7, 7, 7}));
    ASSERT_EQ(row.lists.size(), 1u);
    EXPECT_EQ(row.lists[0].values, (std::vector<std::int64_t>{4, -12, 4}));
    EXPECT_NE(row.proof.find("toy called directly"), std::string::npos) << row.proof;
}

TEST(rounds, a_seed_gives_the_same_numbers_to_every_part_of_a_round_and_others_to_the_next) {
    run_settings settings;
    settings.seed = 5;
    const contestant_result first = run_alone("behaves", settings), again = run_alone("behaves", settings);
    EXPECT_EQ(first.metrics[1].samples, again.metrics[1].samples);
    EXPECT_NE(first.metrics[1].samples[0], first.metrics[1].samples[1]);
}

TEST(rounds, a_crash_fails_the_row_and_names_the_signal) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer catches the signal and exits";
    const contestant_result row = run_alone("crashes");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("signal 11"), std::string::npos) << row.reason;
    EXPECT_TRUE(row.metrics.empty());
}

TEST(rounds, the_last_words_of_a_worker_stand_in_the_reason) {
    const contestant_result row = run_alone("speaks and crashes");
    EXPECT_EQ(row.state, outcome::failed);
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer has the last words";
    EXPECT_NE(row.reason.find("something is torn"), std::string::npos) << row.reason;
}

TEST(rounds, a_worker_that_hangs_is_ended_at_its_time_out) {
    run_settings settings;
    settings.timeout = std::chrono::milliseconds{200};
    const contestant_result row = run_alone("hangs", settings); // for ever, were it not ended
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("within 0.2 s"), std::string::npos) << row.reason;
}

TEST(rounds, a_verification_that_fails_leaves_no_number) {
    const contestant_result row = run_alone("lies");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_EQ(row.reason, "part one, round 1: a block did not hold the data written to it");
    EXPECT_TRUE(row.metrics.empty());
}

TEST(rounds, an_allocator_that_is_not_proven_leaves_no_number) {
    const contestant_result row = run_alone("shows nothing");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("not proven"), std::string::npos) << row.reason;
    EXPECT_TRUE(row.metrics.empty());
}

TEST(rounds, an_allocator_that_is_asked_and_owns_its_block_is_proven) {
    const contestant_result row = run_alone("owns up");
    EXPECT_EQ(row.state, outcome::measured) << row.reason;
    EXPECT_NE(row.proof.find("1 of 1 blocks asked are its own by toy::owns"), std::string::npos) << row.proof;
}

TEST(rounds, an_allocator_that_denies_its_block_leaves_no_number) {
    const contestant_result row = run_alone("denies");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("not proven: toy called directly; 0 of 1 blocks asked"), std::string::npos) << row.reason;
    EXPECT_TRUE(row.metrics.empty());
}

TEST(rounds, a_figure_that_is_recorded_twice_fails_the_row_and_is_named) {
    const contestant_result row = run_alone("repeats a figure");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_EQ(row.reason, "part one, round 1: the figure \"number, first\" was recorded twice");
    EXPECT_TRUE(row.metrics.empty());
}

TEST(rounds, a_list_that_is_recorded_twice_fails_the_row_and_is_named) {
    const contestant_result row = run_alone("repeats a list");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_EQ(row.reason, "part one, round 1: the list \"distances, first\" was recorded twice");
    EXPECT_TRUE(row.lists.empty());
}

TEST(rounds, a_figure_that_two_parts_record_under_one_name_fails_the_row) {
    const contestant_result row = run_alone("names no part");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("the figure \"number\" was recorded by the part \"part "), std::string::npos)
        << row.reason;
    EXPECT_TRUE(row.metrics.empty());
    EXPECT_EQ(run_alone("names no part", only_part(1)).state, outcome::measured) << "one part alone has one of it";
}

TEST(rounds, a_list_that_two_parts_record_under_one_name_fails_the_row) {
    const contestant_result row = run_alone("lists no part");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("the list \"distances\" was recorded by the part \"part "), std::string::npos)
        << row.reason;
    EXPECT_TRUE(row.lists.empty());
}

TEST(rounds, only_the_parts_that_were_chosen_are_run_and_the_result_names_them) {
    const experiment_result found = run_toys("behaves", only_part(1));
    ASSERT_EQ(found.contestants.at(0).state, outcome::measured);
    for (const metric& each : found.contestants.at(0).metrics) {
        EXPECT_TRUE(each.name != "number" || each.variant == "second");
    }
    EXPECT_TRUE(found.contestants.at(0).lists.empty()) << "part one has a list";
    EXPECT_EQ(parts_of(found), "\"part two\" (1 of 2)");
    EXPECT_EQ(parts_of(run_toys("behaves")), "not there");
}

TEST(rounds, the_seed_of_a_part_is_the_same_with_and_without_the_others) {
    run_settings whole = only_part(1);
    whole.parts = run_all_parts;
    const auto seed_of = [](const contestant_result& row) { return row.metrics.at(1).samples.at(0); };
    EXPECT_EQ(seed_of(run_alone("behaves", only_part(1))), seed_of(run_alone("behaves", whole)));
}

TEST(rounds, a_part_may_run_in_the_first_rounds_only) {
    static constexpr std::array<part, 2> parts{{{"part one", 1}, {"part two", 2, 1}}};
    experiment seldom = toys_experiment(); // its workers find the other by the name, and the part by its number
    seldom.parts = parts;
    run_settings settings;
    settings.rounds = 3;
    const parameters options(seldom.options);
    const std::vector<measured_row> rows = rows_named("behaves");
    const contestant_result row = run_experiment(seldom, options, rows, settings).contestants.at(0);
    ASSERT_EQ(row.state, outcome::measured) << row.reason;
    for (const metric& each : row.metrics) {
        if (each.name != "number") continue;
        ASSERT_EQ(each.samples.size(), 3u);
        const bool first_only = each.variant == "second";
        EXPECT_EQ(each.samples[0], 7);
        EXPECT_EQ(std::isnan(each.samples[1]), first_only) << each.variant;
        EXPECT_EQ(std::isnan(each.samples[2]), first_only) << each.variant;
    }
}

TEST(rounds, the_primary_figures_that_an_experiment_declares_are_in_its_result) {
    static constexpr std::array<primary_figure, 2> primary{{{"number", "first"}, {"seed"}}};
    experiment declared = toys_experiment();
    declared.primary = primary;
    const parameters options(declared.options);
    const std::vector<measured_row> rows = rows_named("behaves");
    const experiment_result found = run_experiment(declared, options, rows, only_part(0));
    ASSERT_EQ(found.primary.size(), 2u);
    EXPECT_EQ(found.primary[0].variant, "first");
    EXPECT_EQ(found.primary[1].metric, "seed");
    EXPECT_EQ(found.primary[1].variant, "*");
}

TEST(rounds, who_takes_no_part_in_what_was_chosen_is_missing_with_that_reason) {
    const contestant_result row = run_alone("owns up", only_part(1));
    EXPECT_EQ(row.state, outcome::missing);
    EXPECT_EQ(row.reason, "it does not take part in any chosen part");
}

TEST(rounds, who_is_left_out_of_a_part_has_the_others_and_the_reason) {
    const contestant_result row = run_alone("is slow", {}, 51);
    EXPECT_EQ(row.state, outcome::measured);
    ASSERT_EQ(row.left_out.size(), 1u);
    EXPECT_EQ(row.left_out[0].part, "part two");
    EXPECT_EQ(row.left_out[0].reason, "it would not come to an end");
    for (const metric& each : row.metrics) EXPECT_NE(each.variant, "second");
    EXPECT_TRUE(run_alone("is slow", {}, 50).left_out.empty());
}

TEST(rounds, who_is_left_out_of_everything_is_missing_and_still_says_why) {
    const contestant_result row = run_alone("never ends");
    EXPECT_EQ(row.state, outcome::missing);
    EXPECT_EQ(row.reason, "it is left out of all chosen parts");
    EXPECT_EQ(row.left_out.size(), 2u);
    EXPECT_EQ(run_alone("never ends", only_part(0)).left_out.size(), 1u) << "of what was chosen";
}

TEST(rounds, our_own_contestants_have_the_librarys_version_and_its_check_level) {
    EXPECT_EQ(rows_named("behaves").at(0).version, own_version());
    EXPECT_NE(own_version().find(library_version() + ", checks "), std::string::npos) << own_version();
    EXPECT_EQ(run_alone("behaves").version, own_version());
    EXPECT_EQ(rows_named("a limit").at(0).version, "") << "a reference is no version of the library";
    EXPECT_EQ(rows_named("was not built").at(0).version, "") << "somebody else's";
}

TEST(rounds, a_row_has_the_declared_role_or_that_of_its_malloc) {
    EXPECT_EQ(run_alone("behaves").role, contestant_role::ours);
    EXPECT_EQ(rows_named("a limit").at(0).role, contestant_role::reference);
    EXPECT_EQ(rows_named("a limit").at(0).kind, "reference (ours)");
    EXPECT_EQ(rows_named("was not built").at(0).role, contestant_role::peer);
    EXPECT_EQ(rows_named(system_malloc_name).at(0).role, contestant_role::peer);
    std::vector<found_malloc> mallocs = two_mallocs();
    mallocs[1].role = contestant_role::checked;
    for (const measured_row& row : list_rows(toys_experiment(), mallocs, {})) {
        EXPECT_EQ(row.role == contestant_role::checked, row.peer == "jemalloc") << row.name;
    }
}

TEST(rounds, a_worker_that_ends_without_a_word_fails) {
    const contestant_result row = run_alone("leaves early");
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("without a result"), std::string::npos) << row.reason;
}

TEST(rounds, a_preload_that_is_not_there_runs_the_wrong_malloc_and_fails) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    std::vector<measured_row> rows = rows_named(system_malloc_name);
    ASSERT_EQ(rows.size(), 1u);
    rows[0].library = "/nonexistent/libnothing.so";
    run_settings settings;
    settings.rounds = 1;
    const parameters options(toys_experiment().options);
    const contestant_result row = run_experiment(toys_experiment(), options, rows, settings).contestants.at(0);
    EXPECT_EQ(row.state, outcome::failed);
    EXPECT_NE(row.reason.find("malloc resolves into"), std::string::npos) << row.reason;
}

TEST(rounds, the_c_librarys_malloc_is_proven_by_its_own_count) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer brings a malloc of its own";
    const contestant_result row = run_alone(system_malloc_name);
    ASSERT_EQ(row.state, outcome::measured) << row.reason;
    EXPECT_NE(row.proof.find("mallinfo2 counts"), std::string::npos) << row.proof;
    EXPECT_EQ(row.kind, "system");
}

TEST(rounds, a_worker_inherits_neither_a_preload_nor_our_own_settings) {
    ::setenv("TENURE_SOMETHING", "1", 1);
    const contestant_result row = run_alone("looks around");
    ::unsetenv("TENURE_SOMETHING");
    EXPECT_EQ(row.state, outcome::measured) << row.reason;
}

TEST(rounds, a_worker_has_the_settings_of_its_contestant_in_place_of_ours) {
    ::setenv("TENURE_SOMETHING", "1", 1);
    const contestant_result row = run_alone("has a setting");
    ::unsetenv("TENURE_SOMETHING");
    EXPECT_EQ(row.state, outcome::measured) << row.reason;
}

TEST(rounds, what_is_missing_is_named_with_what_would_bring_it) {
    const contestant_result row = run_alone("was not built");
    EXPECT_EQ(row.state, outcome::missing);
    EXPECT_NE(row.reason.find("libabsent-dev"), std::string::npos) << row.reason;
    EXPECT_EQ(run_alone("jemalloc").state, outcome::missing);
    EXPECT_EQ(run_alone("only one").reason, "it is not on this machine");
}

TEST(rounds, an_interrupt_keeps_what_was_finished) {
    const interrupt_guard guard;
    std::vector<measured_row> rows = rows_named("behaves"), other = rows_named("interrupts");
    rows.push_back(other.at(0));
    run_settings settings;
    settings.rounds = 5;
    const parameters options(toys_experiment().options);
    const experiment_result found = run_experiment(toys_experiment(), options, rows, settings);
    EXPECT_TRUE(interrupted());
    const contestant_result& behaves = found.contestants.at(0);
    EXPECT_EQ(found.rounds, behaves.state == outcome::measured ? 1u : 0u) << "as many as the figures have";
    for (const metric& each : behaves.metrics) EXPECT_EQ(each.samples.size(), 1u) << "none of rounds not begun";
    EXPECT_EQ(found.contestants.at(1).state, outcome::missing);
    EXPECT_NE(found.contestants.at(1).reason.find("interrupted"), std::string::npos);
    forget_interrupt();
}

}
