// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_usage_log.hpp>

#include <string>

#include <gtest/gtest.h>

#include <tenure/base/check.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::frame_usage_log;
using tenure::tag;

std::string text_of(const frame_usage_log& log) {
    std::string text;
    log.write([](void* into, std::string_view piece) { *static_cast<std::string*>(into) += piece; }, &text);
    return text;
}

TEST(frame_usage_log, shows_which_tag_grew_in_which_frame) {
    const tag loader = tag::named("loader of the log");
    frame_usage_log log({.frame_count = 8, .max_tags = 4096});
    ASSERT_TRUE(log.is_ready());
    log.record();
    void* level = nullptr;
    void* job = nullptr;
    {
        const tenure::tag_scope owner(loader);
        level = tenure::heap::process().allocate(3 * mebibyte);
        job = tenure::allocate(10'000, tenure::lifetime::temp_job);
        static_cast<void>(tenure::allocate(5000, tenure::lifetime::temp));
    }
    log.record();
    tenure::next_frame();
    tenure::heap::process().deallocate(level);
    tenure::deallocate(job, tenure::lifetime::temp_job);
    log.record();
    ASSERT_EQ(log.size(), 3u);
    EXPECT_EQ(log.frame_at(2), log.frame_at(1) + 1);
    EXPECT_EQ(log.at(0, loader).persistent_bytes, 0u);
    EXPECT_GE(log.at(1, loader).persistent_bytes, 3 * mebibyte);
    EXPECT_GE(log.at(1, loader).temp_job_bytes, 10'000u);
    EXPECT_GE(log.at(1, loader).temp_bytes, 5000u);
    EXPECT_EQ(log.at(2, loader).persistent_bytes, 0u);
    EXPECT_EQ(log.at(2, loader).temp_job_bytes, 0u);
    EXPECT_EQ(log.at(2, loader).temp_bytes, 0u) << "a frame's Temp, not the total";
}

TEST(frame_usage_log, keeps_the_latest_frames) {
    frame_usage_log log({.frame_count = 3, .max_tags = 8});
    const std::uint64_t first = tenure::frame_clock::now();
    for (int frame = 0; frame < 5; ++frame) {
        log.record();
        tenure::next_frame();
    }
    ASSERT_EQ(log.size(), 3u);
    for (std::size_t index = 0; index < 3; ++index) EXPECT_EQ(log.frame_at(index), first + 2 + index);
}

TEST(frame_usage_log, counts_the_requests_that_a_budget_refused_in_a_frame) {
    const tag owner = tag::named("refused in the log \"a\"");
    ASSERT_TRUE(tenure::set_budget(owner, {2 * mebibyte, mebibyte}));
    frame_usage_log log({.frame_count = 8, .max_tags = 4096});
    {
        const tenure::tag_scope tagged(owner);
        EXPECT_EQ(tenure::heap::process().allocate(4 * mebibyte), nullptr);
        EXPECT_EQ(tenure::heap::process().allocate(4 * mebibyte), nullptr);
    }
    log.record();
    log.record();
    tenure::set_budget(owner, {});
    log.record();
    EXPECT_EQ(log.at(0, owner).refusals, 2u);
    EXPECT_EQ(log.at(1, owner).refusals, 0u);
    const std::string text = text_of(log);
    EXPECT_NE(text.find(R"({"name": "refused in the log \"a\"", "limit_bytes": 2097152, "threshold_bytes": 1048576,)"),
              std::string::npos)
        << "a removed budget stays in the log: " << text;
    EXPECT_NE(text.find("\"refusals\": [2, 0, 0]}"), std::string::npos) << text;
}

TEST(frame_usage_log, allocates_once_and_not_in_record) {
    tenure::counting_source source(tenure::page_source::process());
    {
        frame_usage_log log({.frame_count = 4, .max_tags = 16}, source);
        for (int frame = 0; frame < 10; ++frame) log.record();
        EXPECT_EQ(source.requests(), 1u);
    }
    EXPECT_EQ(source.live_blocks(), 0u);
}

TEST(frame_usage_log, without_memory_is_not_ready_and_does_nothing) {
    tenure::failing_source source(tenure::page_source::process(), 0);
    frame_usage_log log({}, source);
    EXPECT_FALSE(log.is_ready());
    log.record();
    EXPECT_EQ(log.size(), 0u);
    EXPECT_EQ(text_of(log), "{\"format\": \"tenure frame usage\", \"version\": 1,\n\"frames\": [],\n\"tags\": []}\n");
    EXPECT_FALSE(frame_usage_log({.frame_count = SIZE_MAX}).is_ready());
}

TEST(frame_usage_log, takes_the_nearest_of_impossible_options) {
    frame_usage_log log({.frame_count = 0, .max_tags = 0});
    ASSERT_TRUE(log.is_ready());
    log.record();
    log.record();
    EXPECT_EQ(log.size(), 1u);
    EXPECT_TRUE(frame_usage_log({.frame_count = 1, .max_tags = SIZE_MAX}).is_ready());
}

TEST(frame_usage_log, has_zeros_past_its_last_frame_and_reports_them_in_checked_builds) {
    static std::string reported;
    reported.clear();
    const auto before = tenure::set_report_handler(
        [](tenure::report_kind, std::string_view text) noexcept { reported = std::string{text}; });
    frame_usage_log log({.frame_count = 4});
    for (const std::size_t records : {0u, 1u}) {
        if (records != 0) log.record();
        for (const std::size_t index : {records, std::size_t{4}, SIZE_MAX}) {
            EXPECT_EQ(log.frame_at(index), 0u);
            EXPECT_EQ(log.at(index, tenure::tag{}).persistent_bytes, 0u);
        }
    }
    tenure::failing_source none(tenure::page_source::process(), 0);
    EXPECT_EQ(frame_usage_log({}, none).frame_at(0), 0u);
    tenure::set_report_handler(before);
    EXPECT_EQ(reported.find("an index of a frame_usage_log is out of range") != std::string::npos,
              tenure::checks::caller);
}

}
