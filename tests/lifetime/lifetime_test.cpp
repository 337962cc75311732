// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/lifetime.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <gtest/gtest.h>

#include <tenure/base/frame_clock.hpp>
#include <tenure/base/report.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/reports.hpp"

namespace {

using tenure::lifetime;

class lifetimes : public support::temp_job_test {};

TEST_F(lifetimes, each_serves_any_size_and_alignment) {
    for (lifetime held : {lifetime::temp, lifetime::temp_job, lifetime::persistent}) {
        support::ledger ledger;
        for (std::size_t bytes : {0u, 1u, 17u, 5000u, 100'000u}) {
            for (std::size_t alignment : {1u, 16u, 64u, 4096u})
                ASSERT_EQ(ledger.add(tenure::allocate(bytes, held, alignment), bytes, alignment), "");
        }
        EXPECT_EQ(ledger.check_all(), "");
        while (!ledger.empty()) {
            const support::block each = ledger.at(ledger.size() - 1);
            EXPECT_EQ(ledger.remove(each.at), "");
            if (ledger.size() % 2 == 0)
                tenure::deallocate(each.at, each.bytes, held);
            else
                tenure::deallocate(each.at, held);
        }
    }
    tenure::reset_temp();
}

void allocate_in_a_report(tenure::report_kind, std::string_view) noexcept {
    void* const block = tenure::temp_job::allocate(32);
    std::memset(block, 1, 32);
    tenure::temp_job::deallocate(block);
    std::memset(tenure::temp::allocate(32), 1, 32);
}

TEST_F(lifetimes, the_handler_that_hears_of_a_bad_option_may_allocate) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            ::setenv("TENURE_TEMP_BUDGET", "bogus", 1);
            ::setenv("TENURE_PASSTHROUGH", "bogus", 1);
            ::alarm(20); // instead of waiting for itself for ever
            tenure::set_report_handler(&allocate_in_a_report);
            tenure::temp_job::deallocate(tenure::temp_job::allocate(64));
            std::_Exit(tenure::temp_job::stats().live_count == 0 && tenure::temp_job::valid() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(lifetimes, a_tag_of_any_number_does_no_harm) {
    for (std::uint16_t id : {std::uint16_t{4095}, std::uint16_t{4096}, std::uint16_t{65'535}}) {
        const tenure::tag unknown = tenure::tag::from_id(id);
        const tenure::tag_scope scope(unknown);
        static_cast<void>(tenure::temp::allocate(100));
        tenure::reset_temp();
        void* const block = tenure::temp_job::allocate(100);
        EXPECT_EQ(tenure::usage_of(unknown).temp_job_count, 1u);
        EXPECT_FALSE(unknown.name().empty() && id >= 4096);
        tenure::temp_job::deallocate(block);
    }
}

TEST_F(lifetimes, null_may_be_given_back) {
    const support::heard_reports heard;
    for (lifetime held : {lifetime::temp, lifetime::temp_job, lifetime::persistent}) {
        tenure::deallocate(nullptr, held);
        tenure::deallocate(nullptr, 16, held);
    }
    EXPECT_EQ(heard.count(), 0u);
}

TEST_F(lifetimes, impossible_requests_are_refused) {
    for (lifetime held : {lifetime::temp, lifetime::temp_job, lifetime::persistent}) {
        EXPECT_EQ(tenure::allocate(SIZE_MAX, held), nullptr);
        EXPECT_EQ(tenure::allocate(SIZE_MAX, held, 4096), nullptr);
        EXPECT_EQ(tenure::allocate(1, held, std::size_t{1} << 63), nullptr);
    }
    const support::heard_reports heard;
    EXPECT_EQ(tenure::allocate(1, lifetime::persistent, 3), nullptr);
    EXPECT_EQ(tenure::allocate(1, lifetime::temp_job, 48), nullptr);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 2u : 0u);
    if constexpr (tenure::checks::caller) { // which plain builds do not look at in their inline paths
        EXPECT_EQ(tenure::allocate(1, lifetime::temp_job, 0), nullptr);
        EXPECT_EQ(tenure::allocate(1, lifetime::temp, 24), nullptr);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 4u);
        EXPECT_NE(heard.last().find("Temp was asked for a block with an alignment of 24"), std::string::npos);
    }
}

TEST_F(lifetimes, only_the_end_of_a_frame_counts_one) {
    const std::uint64_t before = tenure::frame_clock::now();
    tenure::reset_temp();
    tenure::temp_job::trim();
    EXPECT_EQ(tenure::frame_clock::now(), before);
    tenure::next_frame();
    EXPECT_EQ(tenure::frame_clock::now(), before + 1);
}

TEST_F(lifetimes, persistent_memory_outlives_frames) {
    const support::heard_leaks leaks;
    auto* const kept = static_cast<unsigned char*>(tenure::allocate(100, lifetime::persistent));
    std::memset(kept, 5, 100);
    support::pass_frames(20);
    EXPECT_EQ(kept[99], 5);
    EXPECT_EQ(leaks.count(), 0u);
    tenure::deallocate(kept, lifetime::persistent);
}

TEST_F(lifetimes, without_its_size_a_temp_block_stays_until_the_scope_ends) {
    support::with_budget(65'536, [] {
        void* const block = tenure::allocate(100, lifetime::temp);
        tenure::deallocate(block, lifetime::temp);
        EXPECT_EQ(tenure::temp::stats().used_bytes, 112u + tenure::temp::guard_bytes);
        tenure::deallocate(block, 100, lifetime::temp);
        EXPECT_EQ(tenure::temp::stats().used_bytes, 0u);
    });
}

}
