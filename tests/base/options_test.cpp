// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/options.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tenure/base/report.hpp>

namespace {

using tenure::option;
using tenure::option_form;
using tenure::option_info;
using tenure::option_origin;
using tenure::report_kind;

const option_info& info_of(option id) { return tenure::option_table()[static_cast<std::size_t>(id)]; }

bool parses(option id, std::string_view text, std::uint64_t expected) {
    std::uint64_t value = 12345;
    return tenure::parse_option(info_of(id), text, value) && value == expected;
}

bool is_refused(option id, std::string_view text) {
    std::uint64_t value = 12345;
    return !tenure::parse_option(info_of(id), text, value) && value == 12345;
}

TEST(options, the_table_is_in_the_order_of_the_enumeration_and_complete) {
    std::set<std::string_view> names;
    std::size_t index = 0;
    for (const option_info& info : tenure::option_table()) {
        EXPECT_EQ(static_cast<std::size_t>(info.id), index++);
        EXPECT_TRUE(names.insert(info.name).second);
        EXPECT_TRUE(names.insert(info.environment).second);
        EXPECT_EQ(info.environment.substr(0, 7), "TENURE_");
        EXPECT_LE(info.lowest, info.built_in);
        EXPECT_LE(info.built_in, info.highest);
        EXPECT_EQ(info.help.back(), '.');
    }
}

TEST(options, bytes_take_a_suffix) {
    EXPECT_TRUE(parses(option::temp_budget_bytes, "65536", 65536));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "16K", 16384));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "16k", 16384));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "3M", 3u << 20));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "3m", 3u << 20));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "2G", std::uint64_t{2} << 30));
    EXPECT_TRUE(parses(option::temp_budget_bytes, "2g", std::uint64_t{2} << 30));
}

TEST(options, bytes_that_are_no_number_are_refused) {
    for (const char* text : {"", " ", "K", "-1", "+1", " 5M", "5M ", "5 M", "5MB", "5KK", "0x1000", "1e6", "5T",
                             "4096.0", "99999999999999999999", "18446744073709551615K", "17592186044416M"})
        EXPECT_TRUE(is_refused(option::temp_budget_bytes, text)) << text;
}

TEST(options, both_ends_of_a_range_are_in_it_and_their_neighbours_are_not) {
    for (const option_info& info : tenure::option_table()) {
        if (info.form == option_form::parts || info.form == option_form::mitigations) continue;
        EXPECT_TRUE(parses(info.id, std::to_string(info.lowest), info.lowest)) << info.name;
        EXPECT_TRUE(parses(info.id, std::to_string(info.highest), info.highest)) << info.name;
        if (info.lowest != 0) {
            EXPECT_TRUE(is_refused(info.id, std::to_string(info.lowest - 1))) << info.name;
        }
        EXPECT_TRUE(is_refused(info.id, std::to_string(info.highest + 1))) << info.name;
    }
}

TEST(options, a_count_takes_no_suffix) {
    EXPECT_TRUE(parses(option::temp_job_frames, "7", 7));
    EXPECT_TRUE(is_refused(option::temp_job_frames, "1K"));
    EXPECT_TRUE(is_refused(option::temp_job_frames, "7 "));
}

TEST(options, parts_are_named_with_commas_between) {
    EXPECT_TRUE(parses(option::passthrough, "all", tenure::all_parts));
    EXPECT_TRUE(parses(option::passthrough, "none", 0));
    EXPECT_TRUE(parses(option::passthrough, "", 0));
    EXPECT_TRUE(parses(option::passthrough, "arena", 1));
    EXPECT_TRUE(parses(option::passthrough, "temp,temp_job", 6));
    EXPECT_TRUE(parses(option::passthrough, "small_object,pool", 24));
    EXPECT_TRUE(parses(option::passthrough, "pool,pool", 8));
    for (const char* text : {"everything", "pools", "pool temp", "pool, temp", "ALL", ",pool", "1"})
        EXPECT_TRUE(is_refused(option::passthrough, text)) << text;
}

TEST(options, all_and_none_are_refused_beside_names_and_no_name_for_mitigations) {
    for (const char* const text : {"all,none", "none,heap", "heap,all"})
        EXPECT_TRUE(is_refused(option::passthrough, text)) << text;
    EXPECT_TRUE(is_refused(option::heap_mitigations, "")) << "an empty variable turns no mitigation off";
}

TEST(options, the_names_of_the_parts_in_the_help_all_parse) {
    std::uint64_t together = 0;
    for (const char* name : {"arena", "temp", "temp_job", "pool", "small_object", "heap", "affinity"}) {
        EXPECT_NE(info_of(option::passthrough).help.find(name), std::string_view::npos);
        std::uint64_t value = 0;
        EXPECT_TRUE(tenure::parse_option(info_of(option::passthrough), name, value));
        EXPECT_EQ(together & value, 0u);
        together |= value;
    }
    EXPECT_EQ(together, tenure::all_parts);
}

TEST(options, a_report_is_asked_for_by_name_or_number) {
    const tenure::option_info& info = info_of(option::malloc_stats);
    std::uint64_t value = 9;
    EXPECT_TRUE(tenure::parse_option(info, "json", value));
    EXPECT_EQ(value, 2u);
    EXPECT_TRUE(tenure::parse_option(info, "text", value));
    EXPECT_EQ(value, 1u);
    EXPECT_TRUE(tenure::parse_option(info, "none", value));
    EXPECT_EQ(value, 0u);
    EXPECT_TRUE(tenure::parse_option(info, "1", value));
    EXPECT_EQ(value, 1u);
    for (const char* wrong : {"xml", "3", "", "json,text"})
        EXPECT_FALSE(tenure::parse_option(info, wrong, value)) << wrong;
    EXPECT_EQ(value, 1u);
}

TEST(options, the_program_sets_what_is_in_range_and_nothing_else) {
    const std::uint64_t before = tenure::option_value(option::temp_job_frames);
    EXPECT_FALSE(tenure::set_option(option::temp_job_frames, 0));
    EXPECT_FALSE(tenure::set_option(option::temp_job_frames, info_of(option::temp_job_frames).highest + 1));
    EXPECT_EQ(tenure::option_value(option::temp_job_frames), before);
    EXPECT_TRUE(tenure::set_option(option::temp_job_frames, 9));
    EXPECT_EQ(tenure::option_value(option::temp_job_frames), 9u);
    EXPECT_EQ(tenure::option_source(option::temp_job_frames), option_origin::program);
    EXPECT_TRUE(tenure::set_option(option::temp_job_frames, before));
}

// What the environment says is read once in a process, so these ask in a child that has asked nothing before.

[[noreturn]] void exit_with(bool good) {
    std::fflush(nullptr);
    std::_Exit(good ? 0 : 1);
}

class options_environment : public testing::Test {
protected:
    options_environment() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(options_environment, what_it_says_is_taken) {
    EXPECT_EXIT(
        {
            ::setenv("TENURE_TEMP_BUDGET", "64K", 1);
            ::setenv("TENURE_PASSTHROUGH", "pool,arena", 1);
            exit_with(tenure::option_value(option::temp_budget_bytes) == 65536 &&
                      tenure::option_source(option::temp_budget_bytes) == option_origin::environment &&
                      tenure::option_source(option::temp_job_frames) == option_origin::built_in &&
                      tenure::passthrough_enabled(tenure::part::pool) &&
                      tenure::passthrough_enabled(tenure::part::arena) &&
                      !tenure::passthrough_enabled(tenure::part::temp));
        },
        testing::ExitedWithCode(0), "^$");
}

TEST_F(options_environment, a_bad_value_gives_one_notice_and_the_default) {
    EXPECT_EXIT(
        {
            ::setenv("TENURE_TEMP_BUDGET", "many", 1);
            ::setenv("TENURE_TEMP_JOB_FRAMES", "5", 1);
            const std::uint64_t budget = tenure::option_value(option::temp_budget_bytes);
            exit_with(budget == info_of(option::temp_budget_bytes).built_in &&
                      tenure::option_source(option::temp_budget_bytes) == option_origin::built_in &&
                      tenure::option_value(option::temp_job_frames) == 5);
        },
        testing::ExitedWithCode(0), "^tenure: TENURE_TEMP_BUDGET=many is not valid[^\n]*\n$");
}

TEST_F(options_environment, a_bad_value_is_told_what_would_be_good) {
    const auto read_with = [](const char* name, const char* value) {
        ::setenv(name, value, 1);
        static_cast<void>(tenure::option_value(option::temp_budget_bytes));
        std::_Exit(0);
    };
    EXPECT_EXIT(
        read_with("TENURE_TEMP_BUDGET", "4MB"), testing::ExitedWithCode(0),
        "TENURE_TEMP_BUDGET=4MB is not valid and was ignored. Valid values: [0-9]+K to [0-9]+G bytes, with an optional "
        "suffix K, M or G. Using the default 4M. ");
    EXPECT_EXIT(
        read_with("TENURE_PASSTHROUGH", "shared_pool"), testing::ExitedWithCode(0),
        "TENURE_PASSTHROUGH=shared_pool is not valid and was ignored. Valid values: \"all\", \"none\", or part names");
}

TEST_F(options_environment, a_misspelt_name_is_named_with_the_nearest_option) {
    const auto read_with = [](const char* name) {
        ::setenv(name, "1", 1);
        static_cast<void>(tenure::option_value(option::temp_budget_bytes));
        std::_Exit(0);
    };
    EXPECT_EXIT(read_with("TENURE_TEMP_BUGDET"), testing::ExitedWithCode(0),
                "^tenure: TENURE_TEMP_BUGDET is not an option and was ignored. Did you mean TENURE_TEMP_BUDGET[?]");
    EXPECT_EXIT(read_with("TENURE_TEMP_JOBFRAMES"), testing::ExitedWithCode(0),
                "Did you mean TENURE_TEMP_JOB_FRAMES[?]");
}

TEST_F(options_environment, a_name_in_other_letters_or_with_missing_words_is_named_with_its_option) {
    const auto read_with = [](const char* name) {
        ::setenv(name, "1", 1);
        static_cast<void>(tenure::option_value(option::temp_budget_bytes));
        std::_Exit(0);
    };
    for (const auto& [name, meant] :
         {std::pair{"TENURE_temp_budget", "TENURE_TEMP_BUDGET"}, std::pair{"TENURE_Temp_Bugdet", "TENURE_TEMP_BUDGET"},
          std::pair{"TENURE_HEAP_GUARD", "TENURE_HEAP_GUARD_SAMPLE"},
          std::pair{"TENURE_heap_purge", "TENURE_HEAP_PURGE_DELAY_MS"},
          std::pair{"TENURE_BUDGET", "TENURE_TEMP_BUDGET"}})
        EXPECT_EXIT(read_with(name), testing::ExitedWithCode(0),
                    std::string{"^tenure: "} + name + " is not an option and was ignored. Did you mean " + meant +
                        "[?] `tenure options` lists all.\n$");
    for (const char* const unclear : {"TENURE_HEAP", "TENURE_temp"})
        EXPECT_EXIT(read_with(unclear), testing::ExitedWithCode(0),
                    std::string{"^tenure: "} + unclear + " is not an option and was ignored. `tenure options` lists");
}

TEST_F(options_environment, an_unknown_name_is_named_and_those_of_others_are_not) {
    const auto read_with = [](const char* name) {
        ::setenv(name, "1", 1);
        static_cast<void>(tenure::option_value(option::temp_budget_bytes));
        std::_Exit(0);
    };
    for (const char* const unknown :
         {"TENURE_FOO", "TENURE_A_NAME_THAT_IS_LONGER_THAN_EVERY_OPTION_OF_OURS_WITH_ALL_ITS_LETTERS"})
        EXPECT_EXIT(read_with(unknown), testing::ExitedWithCode(0),
                    std::string{"^tenure: "} + unknown +
                        " is not an option and was ignored. `tenure options` lists all.\n$");
    for (const char* const other :
         {"TENURE_WATCH_STACKS", "TENURE_RECORD_FREE_STACKS", "TENURE_ADVICE_PROCESS", "TENURE_", "TENURE_TEST_SEED",
          "TENURE_CHECKS", "TENURE_ROOT", "TENURE_JE_MALLOC_CONF", "TENURE_PORT_80_TCP_ADDR", "TENURE_SERVICE_HOST",
          "XTENURE_TEMP_BUGDET", "TENURES"})
        EXPECT_EXIT(read_with(other), testing::ExitedWithCode(0), "^$") << other;
}

TEST_F(options_environment, the_program_wins_over_it) {
    EXPECT_EXIT(
        {
            ::setenv("TENURE_TEMP_JOB_FRAMES", "7", 1);
            const bool set = tenure::set_option(option::temp_job_frames, 3);
            exit_with(set && tenure::option_value(option::temp_job_frames) == 3);
        },
        testing::ExitedWithCode(0), "^$");
}

void ask_for_an_option(report_kind, std::string_view) noexcept {
    exit_with(tenure::option_value(option::temp_job_frames) == 7);
}

TEST_F(options_environment, the_handler_that_hears_of_a_bad_value_may_ask_for_options) {
    EXPECT_EXIT(
        {
            ::setenv("TENURE_TEMP_JOB_FRAMES", "7", 1);
            ::setenv("TENURE_TEMP_BUDGET", "many", 1);
            ::alarm(20); // instead of waiting for itself for ever
            tenure::set_report_handler(&ask_for_an_option);
            static_cast<void>(tenure::option_value(option::temp_budget_bytes));
            std::_Exit(2);
        },
        testing::ExitedWithCode(0), "^$");
}

}
