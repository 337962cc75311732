// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/platform/page_source.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"

namespace {

using support::take;
using support::with_budget;
using tenure::temp;
using tenure::temp_scope;

std::size_t chunks_in_use() { return tenure::temp_job::stats().chunk_bytes - tenure::temp_job::stats().retained_bytes; }

class temp_overflow : public support::temp_job_test {};

TEST_F(temp_overflow, what_goes_past_the_budget_is_whole_and_counted) {
    with_budget(4096, [] {
        support::ledger ledger;
        for (int count = 0; count < 5000; ++count) ASSERT_EQ(ledger.add(take(100), 100, 16), "");
        EXPECT_EQ(ledger.check_all(), "");
        const tenure::temp_stats seen = temp::stats();
        EXPECT_GE(seen.overflow_count, 5000u * 112 / 65'536);
        EXPECT_LE(seen.overflow_count, 5000u * 112 / 50'000 + 1);
        EXPECT_GE(seen.overflow_bytes, 5000u * 112 - 4096);
        EXPECT_EQ(seen.overflow_peak_bytes, seen.overflow_bytes);
        EXPECT_GE(seen.used_bytes, 5000u * 112);
        for (std::size_t index = 0; index < ledger.size(); index += 97) EXPECT_TRUE(temp::owns(ledger.at(index).at));
    });
}

TEST_F(temp_overflow, reset_frame_and_scope_take_it_back) {
    const std::size_t before = chunks_in_use();
    with_budget(4096, [=] {
        static_cast<void>(take(1000));
        for (int way = 0; way < 3; ++way) {
            {
                const temp_scope scope;
                if (way == 0) static_cast<void>(take(200'000));
                for (int count = 0; way == 0 && count < 1000; ++count) static_cast<void>(take(1000));
            }
            for (int count = 0; way != 0 && count < 1000; ++count) static_cast<void>(take(1000));
            if (way != 0) {
                EXPECT_GT(chunks_in_use(), before);
            }
            if (way == 1) tenure::reset_temp();
            if (way == 2) tenure::next_frame();
            EXPECT_EQ(chunks_in_use(), before);
        }
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_GT(temp::stats().overflow_peak_bytes, 0u);
    });
}

TEST_F(temp_overflow, scopes_that_begin_in_the_overflow_end_there) {
    const std::size_t before = chunks_in_use();
    with_budget(4096, [] {
        support::ledger ledger;
        for (int count = 0; count < 100; ++count) ASSERT_EQ(ledger.add(take(3000), 3000, 16), "");
        const std::size_t used = temp::stats().used_bytes;
        for (int round = 0; round < 5; ++round) {
            const temp_scope outer;
            static_cast<void>(take(3000));
            const std::size_t used_in_outer = temp::stats().used_bytes;
            {
                const temp_scope inner;
                for (int count = 0; count < 200; ++count) std::memset(take(3000), 1, 3000);
            }
            EXPECT_EQ(temp::stats().used_bytes, used_in_outer);
        }
        EXPECT_EQ(temp::stats().used_bytes, used);
        EXPECT_EQ(ledger.check_all(), "");
    });
    EXPECT_EQ(chunks_in_use(), before) << "the thread's end took the rest back";
}

TEST_F(temp_overflow, it_is_never_reported_as_a_leak) {
    const support::heard_leaks leaks;
    with_budget(4096, [&] {
        support::ledger ledger;
        for (int count = 0; count < 500; ++count) ASSERT_EQ(ledger.add(take(1000), 1000, 16), "");
        support::on_fresh_thread([] { support::pass_frames(20); });
        EXPECT_EQ(leaks.count(), 0u);
        EXPECT_EQ(tenure::temp_job::stats().live_count, 0u);
        EXPECT_EQ(ledger.check_all(), "");
    });
}

TEST_F(temp_overflow, a_run_freed_in_reverse_rewinds_across_chunks_to_the_start) {
    const std::size_t before = chunks_in_use();
    with_budget(4096, [=] {
        unsigned char* const start = take(64);
        std::vector<unsigned char*> run{start};
        for (int count = 0; count < 5000; ++count) run.push_back(take(64));
        EXPECT_GT(temp::stats().overflow_count, 2u);
        for (; !run.empty(); run.pop_back()) temp::deallocate(run.back(), 64);
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_EQ(chunks_in_use(), before);
        EXPECT_EQ(take(64), start);
        // And forth and back over the edge of the budget.
        for (int count = 0; count < 1000; ++count) {
            unsigned char* const past = take(5000);
            past[4999] = 1;
            temp::deallocate(past, 5000);
            EXPECT_EQ(chunks_in_use(), before);
        }
    });
}

TEST_F(temp_overflow, a_block_larger_than_any_kept_chunk_goes_back_to_the_source) {
    tenure::counting_source counted(tenure::page_source::process());
    tenure::temp_job::set_source(counted);
    with_budget(4096, [&] {
        constexpr std::size_t bytes = std::size_t{100} << 20;
        {
            const temp_scope scope;
            unsigned char* const large = take(bytes, 4096);
            ASSERT_NE(large, nullptr);
            large[0] = large[bytes - 1] = 1;
            EXPECT_GE(counted.live_bytes(), bytes);
        }
        EXPECT_LT(counted.live_bytes(), bytes);
    });
    tenure::temp_job::trim();
    EXPECT_EQ(counted.live_blocks(), 0u);
    tenure::temp_job::set_source(tenure::page_source::process());
}

TEST_F(temp_overflow, a_refusal_is_null_and_changes_nothing) {
    tenure::counting_source counted(tenure::page_source::process());
    for (std::size_t allowed = 0; allowed < 8; ++allowed) {
        tenure::failing_source failing(counted, allowed);
        tenure::temp_job::set_source(failing);
        with_budget(4096, [&] {
            support::ledger ledger;
            tenure::temp_stats before;
            for (;;) {
                before = temp::stats();
                void* const block = take(10'000);
                if (block == nullptr) break;
                ASSERT_EQ(ledger.add(block, 10'000, 16), "");
            }
            EXPECT_EQ(temp::stats().used_bytes, before.used_bytes);
            EXPECT_EQ(temp::stats().overflow_count, before.overflow_count);
            EXPECT_EQ(temp::stats().overflow_count, allowed);
            EXPECT_EQ(ledger.check_all(), "");
            failing.allow(1);
            EXPECT_EQ(ledger.add(take(10'000), 10'000, 16), "");
            EXPECT_EQ(ledger.check_all(), "");
        });
        tenure::temp_job::set_source(tenure::page_source::process()); // and what was kept goes back
        EXPECT_EQ(counted.live_blocks(), 0u);
    }
}

class temp_overflow_notice : public testing::Test {
protected:
    temp_overflow_notice() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    static void overflow() {
        for (int count = 0; count < 1000; ++count) static_cast<void>(temp::allocate(1000));
    }
};

TEST_F(temp_overflow, a_block_from_before_a_scope_may_be_freed_inside_it) {
    // What a vector does that shrinks in a scope and was filled outside: the block was the one of its chunk.
    support::with_budget(4096, [] {
        auto* const first = static_cast<unsigned char*>(temp::allocate(1000));
        std::memset(first, 1, 1000);
        auto* const outer = static_cast<unsigned char*>(temp::allocate(100'000));
        {
            const tenure::temp_scope scope;
            temp::deallocate(outer, 100'000);
            std::memset(temp::allocate(200), 2, 200);
            std::memset(temp::allocate(300'000), 3, 300'000);
            EXPECT_TRUE(temp::valid());
        }
        EXPECT_TRUE(temp::valid());
        if constexpr (!tenure::checks::caller) {
            EXPECT_LE(temp::stats().used_bytes, 1008u + 208u) << "the overflow is gone";
        }
        for (int index = 0; index < 1000; ++index) ASSERT_EQ(first[index], 1);
        tenure::reset_temp();
        EXPECT_EQ(temp::stats().used_bytes, 0u);
    });
}

TEST_F(temp_overflow, a_scopes_end_does_not_take_up_again_what_was_freed_inside_it) {
    support::with_budget(65'536, [] {
        void* const outer = temp::allocate(1000);
        {
            const tenure::temp_scope scope;
            temp::deallocate(outer, 1000);
            temp::trim();
        }
        if constexpr (tenure::checks::caller) { // the free inside the scope only checked the block
            EXPECT_EQ(temp::stats().used_bytes, 1008u + temp::guard_bytes);
            temp::deallocate(outer, 1000);
        }
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_TRUE(temp::valid());
    });
}

TEST_F(temp_overflow_notice, a_program_that_never_ends_a_frame_is_told_once) {
    EXPECT_EXIT(
        {
            tenure::set_option(tenure::option::temp_budget_bytes, 4096);
            overflow();
            overflow();
            support::on_fresh_thread(&overflow);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure: Temp has overflowed its budget and no frame has ended yet[^\n]*\n$");
}

TEST_F(temp_overflow_notice, an_alignment_past_the_budget_is_an_overflow_and_no_refusal_by_the_system) {
    EXPECT_EXIT(
        {
            static_cast<void>(temp::allocate(64));
            // The first may fit, if the system has placed the range over a multiple of 16 MiB; the second cannot.
            for (int n = 0; n < 2; ++n) static_cast<void>(temp::allocate(64, std::size_t{16} << 20));
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^tenure: Temp has overflowed its budget and no frame has ended yet[^\n]*\n$");
}

TEST_F(temp_overflow_notice, a_program_that_ends_frames_or_resets_is_not_told) {
    EXPECT_EXIT(
        {
            tenure::set_option(tenure::option::temp_budget_bytes, 4096);
            tenure::next_frame();
            overflow();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(
        {
            tenure::set_option(tenure::option::temp_budget_bytes, 4096);
            static_cast<void>(temp::allocate(1));
            tenure::reset_temp();
            overflow();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^$");
}

}
