// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/report.hpp>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>

#include "support/reports.hpp"

namespace {

using tenure::report_kind;
using tenure::report_text;

constexpr std::size_t capacity = 2048;

TEST(report_text, numbers_are_written_in_full) {
    report_text text;
    text.number(0).text(" ").number(7).text(" ").number(1234567890).text(" ").number(UINT64_MAX);
    EXPECT_EQ(text.view(), "0 7 1234567890 18446744073709551615");
}

TEST(report_text, addresses_are_written_without_leading_zeros) {
    report_text text;
    text.address(nullptr).text(" ").address(reinterpret_cast<void*>(std::uintptr_t{0x10})).text(" ");
    text.address(reinterpret_cast<void*>(std::uintptr_t{0x7f00'0000'abcd})).text(" ");
    text.address(reinterpret_cast<void*>(UINTPTR_MAX));
    EXPECT_EQ(text.view(), "0x0 0x10 0x7f000000abcd 0xffffffffffffffff");
}

TEST(report_text, nothing_added_is_nothing) {
    report_text text;
    text.text("").text(std::string_view{});
    EXPECT_EQ(text.view(), "");
}

TEST(report_text, what_just_fits_is_whole) {
    report_text text;
    const std::string whole(capacity, 'w');
    text.text(whole).text("");
    EXPECT_EQ(text.view(), whole);
}

TEST(report_text, what_does_not_fit_ends_in_dots) {
    const std::string long_part(capacity - 1, 'p');
    for (std::size_t more : {std::size_t{2}, std::size_t{3}, std::size_t{5000}}) {
        report_text text;
        text.text(long_part).text(std::string(more, 'q'));
        EXPECT_EQ(text.view().size(), capacity);
        EXPECT_EQ(text.view(), long_part.substr(0, capacity - 3) + "...");
        text.text("and more").number(5);
        EXPECT_EQ(text.view(), long_part.substr(0, capacity - 3) + "...");
    }
}

TEST(report, a_handler_hears_kind_and_text_and_the_former_one_comes_back) {
    const tenure::report_handler handler = [](report_kind, std::string_view) noexcept {};
    EXPECT_EQ(tenure::set_report_handler(handler), nullptr);
    EXPECT_EQ(tenure::set_report_handler(nullptr), handler);
    const support::heard_reports heard;
    tenure::report(report_kind::notice, "a word");
    tenure::report_misuse("what", reinterpret_cast<void*>(std::uintptr_t{0x40}), "Do that.");
    EXPECT_EQ(heard.count(report_kind::notice), 1u);
    EXPECT_EQ(heard.count(report_kind::misuse), 1u);
    EXPECT_EQ(heard.last(), "what: 0x40. Do that.");
}

TEST(report, notices_and_leaks_by_default_are_written_and_the_program_goes_on) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            tenure::report(report_kind::notice, "one");
            tenure::report(report_kind::leak, "two");
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure: one\ntenure: two\n$");
}

TEST(report_death, misuse_by_default_is_written_with_a_stack_and_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(tenure::report_misuse("a thing happened", nullptr, "Do that."), testing::KilledBySignal(SIGABRT),
                "^tenure: a thing happened. Do that.\n    #0 0x");
}

TEST(report_death, a_broken_invariant_by_default_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(tenure::report_broken("a list", nullptr), testing::KilledBySignal(SIGABRT), "invariant.*a list");
}

TEST(check, an_invariant_that_holds_says_nothing_and_one_that_does_not_is_reported_at_level_two) {
    const support::heard_reports heard;
    tenure::check_invariant(true, "fine");
    EXPECT_EQ(heard.count(), 0u);
    tenure::check_invariant(false, "torn");
    EXPECT_EQ(heard.count(report_kind::invariant), tenure::checks::invariants ? 1u : 0u);
}

TEST(host, a_stack_begins_with_the_caller_and_respects_its_capacity) {
    void* frames[64] = {};
    const std::size_t count = tenure::host::walk_stack(frames, 64);
    ASSERT_GT(count, 2u);
    EXPECT_LE(count, 64u);
    EXPECT_EQ(tenure::host::walk_stack(frames, 2), 2u);
    EXPECT_EQ(tenure::host::walk_stack(frames, 0), 0u);
}

}
