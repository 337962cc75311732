// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <tenure/text/paged_writer.hpp>

#include "support/reports.hpp"

namespace {

using tenure::paged_writer, tenure::text_writer;

void write_letter(text_writer& to, std::size_t, std::size_t) { to.append('x'); }

class text_death : public testing::Test {
protected:
    text_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// Whether the call was refused, and, in checked builds, reported in these words.
    template<class Executor>
    void expect_refused(std::size_t objects, Executor&& executor, const char* words) {
        const support::heard_reports heard;
        EXPECT_FALSE(writer_.write(objects, executor, write_letter));
        EXPECT_FALSE(writer_.error());
        EXPECT_EQ(writer_.join(), "");
        EXPECT_TRUE(writer_.valid());
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
        if constexpr (tenure::checks::caller) {
            EXPECT_NE(heard.last().find(words), std::string::npos) << heard.last();
        }
    }

    paged_writer writer_;
};

TEST_F(text_death, writing_before_reserve_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    EXPECT_DEATH(static_cast<void>(writer_.write(1, tenure::run_serially{}, write_letter)),
                 "more pages than it has room");
}

TEST_F(text_death, what_was_not_reserved_is_refused) {
    expect_refused(1, tenure::run_serially{}, "more pages than it has room");
    ASSERT_TRUE(writer_.reserve({10, 10, 10}));
    expect_refused(101, tenure::run_serially{}, "more pages than it has room");
    expect_refused(SIZE_MAX, tenure::run_serially{}, "more pages than it has room");
    ASSERT_TRUE(writer_.reserve({10, 0, 10}));
    expect_refused(1, tenure::run_serially{}, "more pages than it has room");
    EXPECT_TRUE(writer_.write(0, tenure::run_serially{}, write_letter));
}

TEST_F(text_death, a_page_with_more_objects_than_reserved_is_refused) {
    ASSERT_TRUE(writer_.reserve({4, 10, 10}));
    const support::heard_reports heard;
    const auto objects_of = [](std::size_t page) { return page == 2 ? std::size_t{11} : std::size_t{10}; };
    EXPECT_FALSE(writer_.write_pages(4, objects_of, tenure::run_serially{}, write_letter));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
    EXPECT_EQ(writer_.join(), "");
}

TEST_F(text_death, a_page_past_the_count_is_refused) {
    ASSERT_TRUE(writer_.reserve({5, 10, 10})); // behind the last page lie the pieces
    const support::heard_reports heard;
    const auto too_many = [](std::size_t count, const auto& body) {
        for (std::size_t page = 0; page <= count; ++page) body(page);
    };
    const auto ten = [](std::size_t) { return std::size_t{10}; };
    const auto write_ten = [](text_writer& to, std::size_t, std::size_t) { to.append("0123456789"); };
    EXPECT_TRUE(writer_.write_pages(5, ten, too_many, write_ten)) << "its own pages are whole";
    EXPECT_EQ(writer_.join().size(), 500u);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
}

TEST_F(text_death, a_page_that_was_left_out_is_no_text) {
    ASSERT_TRUE(writer_.reserve({10, 10, 10}));
    expect_refused(
        50,
        [](std::size_t, const auto& body) {
            body(0);
            body(1);
            body(2);
            body(4);
        },
        "left a page out");
}

TEST_F(text_death, a_page_that_runs_twice_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    ASSERT_TRUE(writer_.reserve({10, 10, 10}));
    const auto twice = [](std::size_t, const auto& body) {
        body(0);
        body(0);
    };
    EXPECT_DEATH(static_cast<void>(writer_.write(5, twice, write_letter)), "ran a page twice");
    const support::heard_reports heard;
    EXPECT_TRUE(writer_.write(5, twice, write_letter));
    EXPECT_EQ(writer_.join(), "xxxxx");
}

TEST_F(text_death, a_precision_above_the_most_is_reported_and_counts_as_the_most) {
    char room[100], right[100];
    const support::heard_reports heard;
    const std::size_t size = tenure::format_fixed(room, sizeof room, 0.1, 1000);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
    const std::size_t right_size = tenure::format_fixed(right, sizeof right, 0.1, tenure::max_precision);
    EXPECT_EQ(std::string_view(room, size), std::string_view(right, right_size));
}

}
