// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <deque>
#include <memory>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/reports.hpp"

namespace {

using support::with_budget;
using tenure::temp;
using tenure::temp_scope;

class temp_death : public testing::Test {
protected:
    temp_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    ~temp_death() override { tenure::reset_temp(); }

    static void touch(void* block) { static_cast<volatile unsigned char*>(block)[0] = 1; }
};

TEST_F(temp_death, a_pointer_of_another_thread_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    void* const mine = temp::allocate(100);
    EXPECT_DEATH(support::on_fresh_thread([=] { temp::deallocate(mine, 100); }), "not in this thread's Temp");
    EXPECT_DEATH(support::on_fresh_thread([=] {
                     static_cast<void>(temp::allocate(1));
                     temp::deallocate(mine, 100);
                 }),
                 "not in this thread's Temp");
}

TEST_F(temp_death, a_pointer_that_is_not_temps_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    int local = 0;
    static_cast<void>(temp::allocate(1));
    EXPECT_DEATH(temp::deallocate(&local, 4), "not in this thread's Temp");
    void* const job = tenure::temp_job::allocate(100);
    EXPECT_DEATH(temp::deallocate(job, 100), "not in this thread's Temp");
    tenure::temp_job::deallocate(job);
}

TEST_F(temp_death, a_free_after_its_scope_is_reported_with_and_without_the_size) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    with_budget(4096, [] {
        for (std::size_t bytes : {100u, 50'000u}) {
            void* gone = nullptr;
            void* const kept = temp::allocate(10);
            {
                const temp_scope scope;
                gone = temp::allocate(bytes);
                temp::deallocate(gone); // nothing yet
                const support::heard_reports heard;
                temp::deallocate(kept);
                EXPECT_EQ(heard.count(), 0u);
            }
            const support::heard_reports heard;
            temp::deallocate(gone, bytes);
            tenure::deallocate(gone, tenure::lifetime::temp);
            EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u) << bytes;
        }
    });
}

TEST_F(temp_death, a_block_of_another_lifetime_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    void* const job = tenure::temp_job::allocate(100);
    void* const own = temp::allocate(100);
    const support::heard_reports heard;
    tenure::deallocate(job, tenure::lifetime::temp);
    tenure::deallocate(job, tenure::lifetime::persistent);
    tenure::deallocate(own, tenure::lifetime::persistent);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
    tenure::temp_job::deallocate(job);
    EXPECT_EQ(heard.count(), 3u);
}

TEST_F(temp_death, after_a_handler_that_returns_nothing_has_happened) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto* const kept = static_cast<unsigned char*>(temp::allocate(100));
    std::memset(kept, 5, 100);
    const std::size_t used = temp::stats().used_bytes;
    const support::heard_reports heard;
    int local = 0;
    temp::deallocate(&local, sizeof local);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(temp::stats().used_bytes, used);
    EXPECT_EQ(kept[99], 5);
}

TEST_F(temp_death, scopes_that_end_out_of_order_are_reported_and_drop_nothing_alive) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    auto outer = std::make_unique<temp_scope>();
    static_cast<void>(temp::allocate(100));
    auto inner = std::make_unique<temp_scope>();
    outer.reset();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    auto* const alive = static_cast<unsigned char*>(temp::allocate(500));
    std::memset(alive, 6, 500);
    inner.reset();
    std::memset(temp::allocate(500), 7, 500);
    for (int index = 0; index < 500; ++index) ASSERT_EQ(alive[index], 6);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    tenure::reset_temp();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u) << "no scope counts as open any more";
}

TEST_F(temp_death, any_number_of_scopes_may_be_open) {
    const support::heard_reports heard;
    std::deque<temp_scope> scopes;
    for (int count = 0; count < 70'000; ++count) scopes.emplace_back();
    static_cast<void>(temp::allocate(100));
    while (!scopes.empty()) scopes.pop_back();
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    EXPECT_EQ(temp::stats().used_bytes, 0u);
}

void reset_inside_a_scope_in_the_overflow() {
    for (int count = 0; count < 100; ++count) static_cast<void>(temp::allocate(1000));
    const temp_scope scope;
    tenure::reset_temp();
}

TEST_F(temp_death, a_reset_inside_a_scope_is_reported_and_does_no_harm) {
    if constexpr (tenure::checks::caller) {
        EXPECT_DEATH(with_budget(4096, &reset_inside_a_scope_in_the_overflow), "Temp was emptied inside a temp_scope");
    }
    const support::heard_reports heard;
    with_budget(4096, [] {
        reset_inside_a_scope_in_the_overflow();
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_NE(temp::allocate(1000), nullptr);
        EXPECT_TRUE(temp::valid());
    });
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 1u : 0u);
}

TEST_F(temp_death, memory_is_filled_when_it_is_rewound_in_checked_builds) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it may not be read any more";
    volatile unsigned char* gone = nullptr;
    {
        const temp_scope scope;
        gone = static_cast<unsigned char*>(temp::allocate(100));
        gone[50] = 1;
    }
    EXPECT_EQ(gone[50], tenure::checks::caller ? tenure::freed_fill : 1);
}

TEST_F(temp_death, a_use_after_the_scope_reset_frame_or_free_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    void* gone = nullptr;
    {
        const temp_scope scope;
        gone = temp::allocate(100);
        touch(gone);
    }
    EXPECT_DEATH(touch(gone), "use-after-poison");
    gone = temp::allocate(100);
    tenure::reset_temp();
    EXPECT_DEATH(touch(gone), "use-after-poison");
    gone = temp::allocate(100);
    tenure::next_frame();
    EXPECT_DEATH(touch(gone), "use-after-poison");
    gone = temp::allocate(100);
    temp::deallocate(gone, 100);
    EXPECT_DEATH(touch(gone), "use-after-poison");
    EXPECT_DEATH(with_budget(4096,
                             [] {
                                 void* in_overflow = nullptr;
                                 {
                                     const temp_scope scope;
                                     in_overflow = temp::allocate(10'000);
                                     touch(in_overflow);
                                 }
                                 touch(in_overflow);
                             }),
                 "use-after-poison");
}

TEST_F(temp_death, a_write_past_a_block_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    auto* const block = static_cast<unsigned char*>(temp::allocate(100));
    EXPECT_DEATH(touch(block + 112), "use-after-poison");
}

}
