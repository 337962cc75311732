// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp.hpp>

#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/process.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using support::take;
using support::with_budget;
using tenure::temp;
using tenure::temp_scope;

constexpr std::size_t guards = temp::guard_bytes;
constexpr std::size_t scope_mark = tenure::checks::caller ? 16 : 0; // where a scope begins

TEST(temp, blocks_lie_sixteen_bytes_apart_through_the_whole_budget) {
    with_budget(4 * mebibyte, [] {
        unsigned char* previous = take(4, 4);
        std::memset(previous, 1, 4);
        for (std::size_t count = 1; count < 4 * mebibyte / (16 + guards); ++count) {
            unsigned char* const next = take(4, 4);
            ASSERT_EQ(next, previous + 16 + guards);
            next[3] = 1;
            previous = next;
        }
        EXPECT_EQ(temp::stats().overflow_count, 0u);
        EXPECT_EQ(temp::stats().used_bytes, 4 * mebibyte / (16 + guards) * (16 + guards));
        ASSERT_NE(take(1), nullptr);
        EXPECT_EQ(temp::stats().overflow_count, 1u);
    });
}

TEST(temp, any_size_and_alignment_is_served) {
    with_budget(mebibyte, [] {
        for (std::size_t alignment = 1; alignment <= 4 * mebibyte; alignment *= 2) {
            const temp_scope scope;
            support::ledger ledger;
            for (std::size_t bytes : {0u, 1u, 15u, 16u, 17u, 1000u, 70'000u})
                ASSERT_EQ(ledger.add(take(bytes, alignment), bytes, alignment), "");
            EXPECT_EQ(ledger.check_all(), "");
        }
    });
}

TEST(temp, impossible_requests_are_refused_and_change_nothing) {
    with_budget(mebibyte, [] {
        unsigned char* const first = take(1);
        EXPECT_EQ(temp::allocate(SIZE_MAX), nullptr);
        EXPECT_EQ(temp::allocate(SIZE_MAX - 15), nullptr);
        EXPECT_EQ(temp::allocate(PTRDIFF_MAX), nullptr);
        EXPECT_EQ(temp::allocate(std::size_t{PTRDIFF_MAX} + 1), nullptr);
        EXPECT_EQ(temp::allocate(1, std::size_t{1} << 63), nullptr);
        EXPECT_EQ(temp::allocate(std::size_t{1} << 60), nullptr);
        EXPECT_EQ(take(1), first + 16 + guards);
        EXPECT_EQ(temp::stats().overflow_count, 0u);
    });
}

TEST(temp, the_newest_block_is_taken_back_and_an_older_one_is_not) {
    with_budget(mebibyte, [] {
        unsigned char* const first = take(100);
        unsigned char* const second = take(50);
        temp::deallocate(first, 100);
        unsigned char* const third = take(1);
        EXPECT_EQ(third, second + 64 + guards);
        temp::deallocate(third, 1);
        temp::deallocate(second, 50);
        EXPECT_EQ(take(10), second);
        temp::deallocate(nullptr, 10);
        temp::deallocate(nullptr, 0);
        tenure::deallocate(second, tenure::lifetime::temp); // without the size: nothing
        EXPECT_EQ(take(10), second + 16 + guards);
    });
}

TEST(temp, a_run_freed_in_reverse_rewinds_to_the_start) {
    with_budget(mebibyte, [] {
        unsigned char* const start = take(7);
        std::vector<std::pair<unsigned char*, std::size_t>> run{{start, 7}};
        for (std::size_t bytes = 0; bytes < 500; ++bytes) run.emplace_back(take(bytes), bytes);
        for (; !run.empty(); run.pop_back()) temp::deallocate(run.back().first, run.back().second);
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_EQ(take(7), start);
    });
}

TEST(temp, scopes_nest_and_each_drops_what_came_inside) {
    with_budget(mebibyte, [] {
        unsigned char* const kept = take(100);
        std::memset(kept, 7, 100);
        {
            const temp_scope outer;
            unsigned char* const in_outer = take(100);
            std::memset(in_outer, 8, 100);
            for (int round = 0; round < 3; ++round) {
                const temp_scope inner;
                EXPECT_EQ(take(5000), in_outer + 112 + guards + scope_mark);
                const temp_scope empty;
            }
            EXPECT_EQ(in_outer[99], 8);
            EXPECT_EQ(temp::stats().used_bytes, 224u + 2 * guards + scope_mark);
        }
        EXPECT_EQ(kept[99], 7);
        EXPECT_EQ(take(1), kept + 112 + guards);
    });
}

TEST(temp, a_scope_may_begin_before_the_threads_first_allocation) {
    with_budget(mebibyte, [] {
        {
            const temp_scope scope;
            ASSERT_NE(take(1000), nullptr);
            EXPECT_EQ(temp::stats().used_bytes, 1008u + guards);
        }
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        { const temp_scope nothing_in_it; }
    });
    support::on_fresh_thread([] { const temp_scope on_a_thread_that_never_allocates; });
}

TEST(temp, reset_and_the_end_of_a_frame_empty_the_callers_temp) {
    with_budget(mebibyte, [] {
        unsigned char* const first = take(1000);
        static_cast<void>(take(50'000));
        tenure::reset_temp();
        EXPECT_EQ(temp::stats().used_bytes, 0u);
        EXPECT_EQ(take(1000), first);
        tenure::next_frame();
        EXPECT_EQ(take(1000), first);
        support::on_fresh_thread([] { tenure::next_frame(); });
        EXPECT_EQ(temp::stats().used_bytes, 1008u + guards) << "another thread's frame end is not ours";
    });
    support::on_fresh_thread([] { tenure::reset_temp(); });
}

TEST(temp, each_thread_knows_its_own) {
    with_budget(mebibyte, [] {
        unsigned char* const mine = take(100);
        int local = 0;
        EXPECT_TRUE(temp::owns(mine));
        EXPECT_TRUE(temp::owns(mine + 99));
        EXPECT_FALSE(temp::owns(&local));
        EXPECT_FALSE(temp::owns(nullptr));
        support::on_fresh_thread([=] {
            EXPECT_FALSE(temp::owns(mine));
            EXPECT_NE(take(1), nullptr);
            EXPECT_FALSE(temp::owns(mine));
        });
    });
}

TEST(temp, a_budget_is_kept_to_the_block) {
    for (std::size_t budget : {std::size_t{4096}, std::size_t{5000}, std::size_t{16'384}, std::size_t{100'001}}) {
        with_budget(budget, [=] {
            std::size_t count = 0;
            while (temp::stats().overflow_count == 0) {
                std::memset(take(16), 1, 16);
                ++count;
            }
            EXPECT_EQ(count - 1, budget / 16 * 16 / (16 + guards));
            EXPECT_EQ(temp::stats().budget_bytes, budget);
        });
    }
}

TEST(temp, a_large_budget_is_reserved_and_committed_as_it_grows) {
    with_budget(std::size_t{16} << 30, [] {
        const std::size_t before = tenure::platform::resident_bytes();
        ASSERT_NE(take(1000), nullptr);
        EXPECT_EQ(temp::stats().budget_bytes, std::size_t{16} << 30);
        EXPECT_LE(temp::stats().committed_bytes, 65'536u);
        if (!support::under_sanitizer()) {
            EXPECT_LT(tenure::platform::resident_bytes(), before + mebibyte);
        }
        ASSERT_NE(take(300'000), nullptr);
        EXPECT_GE(temp::stats().committed_bytes, 301'000u);
        EXPECT_LE(temp::stats().committed_bytes, 700'000u);
        EXPECT_EQ(temp::stats().overflow_count, 0u);
    });
}

TEST(temp, trim_gives_back_what_lies_past_the_newest_block) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own memory is counted too";
    with_budget(256 * mebibyte, [] {
        unsigned char* const kept = take(5000);
        std::memset(kept, 7, 5000);
        {
            const temp_scope scope;
            std::memset(take(64 * mebibyte), 1, 64 * mebibyte);
        }
        const std::size_t full = tenure::platform::resident_bytes();
        EXPECT_GE(temp::trim(), 64 * mebibyte - 8192);
        EXPECT_LT(tenure::platform::resident_bytes() + 60 * mebibyte, full);
        EXPECT_EQ(kept[4999], 7);
        std::memset(take(mebibyte), 2, mebibyte);
        EXPECT_EQ(kept[4999], 7);
    });
    support::on_fresh_thread([] { EXPECT_EQ(temp::trim(), 0u); });
}

TEST(temp, trim_counts_only_what_was_committed_since_the_last_one) {
    with_budget(64 * mebibyte, [] {
        {
            const temp_scope scope;
            std::memset(take(8 * mebibyte), 1, 8 * mebibyte);
        }
        EXPECT_GE(temp::trim(), 8 * mebibyte);
        EXPECT_EQ(temp::trim(), 0u);
        EXPECT_EQ(temp::stats().committed_bytes, 0u);
        unsigned char* const again = take(mebibyte);
        std::memset(again, 2, mebibyte);
        EXPECT_GE(temp::stats().committed_bytes, mebibyte);
        EXPECT_LE(temp::stats().committed_bytes, 3 * mebibyte);
        EXPECT_TRUE(temp::valid());
        temp::deallocate(again, mebibyte);
        const std::size_t given_back = temp::trim();
        EXPECT_GE(given_back, mebibyte);
        EXPECT_LE(given_back, 3 * mebibyte);
        EXPECT_TRUE(temp::valid());
    });
}

TEST(temp, is_trimmed_below_its_overflow_and_goes_on_in_the_range_afterwards) {
    with_budget(mebibyte, [] {
        unsigned char* const kept = take(100);
        std::memset(kept, 9, 100);
        {
            const temp_scope scope;
            std::memset(take(900'000), 1, 900'000);
            {
                const temp_scope inner;
                std::memset(take(500'000), 2, 500'000); // does not fit
                EXPECT_EQ(temp::stats().overflow_count, 1u);
                EXPECT_LT(temp::trim(), 200'000u) << "the range is in use up to where it was left";
                std::memset(take(10'000), 3, 10'000);
                EXPECT_TRUE(temp::valid());
            }
            unsigned char* const last = take(50'000); // back in the range, past what was trimmed
            std::memset(last, 4, 50'000);
            EXPECT_TRUE(temp::valid());
        }
        EXPECT_EQ(kept[99], 9);
        EXPECT_EQ(temp::stats().overflow_count, 1u);
    });
}

TEST(temp, a_thread_that_ends_gives_its_range_back) {
    // 64 GiB each: the addresses of a process are used up after two thousand, if they are not given back.
    for (int count = 0; count < 3000; ++count) {
        with_budget(std::size_t{64} << 30, [] {
            ASSERT_NE(take(10), nullptr);
            ASSERT_EQ(temp::stats().budget_bytes, std::size_t{64} << 30);
        });
    }
}

TEST(temp, what_is_allocated_under_a_tag_is_counted_for_it) {
    with_budget(65'536, [] {
        const tenure::tag owner = tenure::tag::named("temp test");
        static_cast<void>(take(1000));
        {
            const tenure::tag_scope tagged(owner);
            static_cast<void>(take(100));
            {
                const temp_scope scope;
                static_cast<void>(take(100));
                const tenure::tag_scope other("temp test, inner");
                static_cast<void>(take(5000));
            }
            static_cast<void>(take(16));
            static_cast<void>(take(100'000)); // goes past the budget
        }
        static_cast<void>(take(1000));
        tenure::reset_temp();
        EXPECT_EQ(tenure::usage_of(owner).temp_bytes, 112u + 112u + 16u + 100'000u + 4 * guards + scope_mark);
        EXPECT_EQ(tenure::usage_of(tenure::tag::named("temp test, inner")).temp_bytes, 5008u + guards);
    });
}

TEST(temp, what_a_free_took_back_is_not_counted_for_the_tag) {
    with_budget(65'536, [] {
        const tenure::tag owner = tenure::tag::named("temp test, freed");
        unsigned char* const before = take(64);
        {
            const tenure::tag_scope tagged(owner);
            temp::deallocate(take(1000), 1000);
            static_cast<void>(take(32));
            temp::deallocate(take(500), 500);
        }
        EXPECT_EQ(tenure::usage_of(owner).temp_bytes, 32u + guards);
        {
            const tenure::tag_scope tagged(owner);
            tenure::reset_temp(); // what was there before the scope is not the tag's
            static_cast<void>(before);
        }
        EXPECT_EQ(tenure::usage_of(owner).temp_bytes, 32u + guards);
    });
}

/// Page faults of the calling thread so far.
long page_faults() {
    ::rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

TEST(temp, after_a_warm_up_the_next_blocks_cause_no_page_fault) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer's own memory faults too";
    with_budget(4 * mebibyte, [] {
        unsigned char* const before = take(1000);
        std::memset(before, 7, 1000);
        ASSERT_TRUE(temp::warm_up(200'000));
        EXPECT_GE(temp::stats().committed_bytes, 200'000u);
        static_cast<void>(page_faults());
        const long faults = page_faults();
        for (int index = 0; index < 200; ++index) *take(1000 - guards) = 1;
        EXPECT_EQ(page_faults(), faults);
        EXPECT_EQ(before[0] + before[999], 14);
        EXPECT_TRUE(temp::valid());
    });
}

TEST(temp, a_warm_up_ends_at_the_budget_and_does_nothing_after_an_overflow) {
    with_budget(mebibyte, [] {
        EXPECT_TRUE(temp::warm_up(SIZE_MAX));
        EXPECT_EQ(temp::stats().committed_bytes, mebibyte);
        EXPECT_TRUE(temp::warm_up(0));
        EXPECT_NE(take(2 * mebibyte), nullptr);
        EXPECT_EQ(temp::stats().overflow_count, 1u);
        EXPECT_FALSE(temp::warm_up(1000));
        tenure::reset_temp();
        EXPECT_TRUE(temp::warm_up(1000));
        EXPECT_TRUE(temp::valid());
    });
}

TEST(temp, the_next_thread_reuses_the_touched_memory_of_an_ended_one) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds unmap it, so that a late access faults";
    static_cast<void>(tenure::temp_job::trim());
    const auto touch = [] { std::memset(take(40'000), 5, 40'000); };
    with_budget(4 * mebibyte, touch);
    with_budget(4 * mebibyte, [] {
        if (!support::under_sanitizer()) {
            static_cast<void>(take(16));
            const long faults = page_faults();
            std::memset(take(30'000), 6, 30'000);
            EXPECT_EQ(page_faults(), faults);
        }
        EXPECT_TRUE(temp::valid());
    });
    with_budget(2 * mebibyte, [] { // another size is not served from it
        EXPECT_NE(take(2 * mebibyte), nullptr);
        EXPECT_EQ(temp::stats().overflow_count, 0u);
    });
    for (int thread = 0; thread < 10; ++thread) with_budget(4 * mebibyte, touch);
    EXPECT_GE(tenure::temp_job::trim(), 65'536u);
    EXPECT_EQ(tenure::temp_job::trim(), 0u);
}

TEST(temp, ranges_of_a_former_budget_give_way_to_those_of_the_present_one) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds unmap it, so that a late access faults";
    static_cast<void>(tenure::temp_job::trim());
    const auto touch = [] { std::memset(take(40'000), 5, 40'000); };
    {
        const support::option_scope budget(tenure::option::temp_budget_bytes, 4 * mebibyte);
        std::barrier all(6);
        std::vector<std::thread> threads;
        for (int index = 0; index < 6; ++index) {
            threads.emplace_back([&] {
                touch();
                all.arrive_and_wait(); // so that no thread reuses another's range
            });
        }
        for (std::thread& each : threads) each.join();
    }
    with_budget(2 * mebibyte, touch);
    with_budget(2 * mebibyte, [] {
        if (support::under_sanitizer()) return;
        static_cast<void>(take(16));
        const long faults = page_faults();
        std::memset(take(30'000), 6, 30'000);
        EXPECT_EQ(page_faults(), faults);
    });
    EXPECT_GE(tenure::temp_job::trim(), 4 * 36'000u);
}

TEST(temp, what_only_a_block_points_to_is_no_leak) {
    if (&__lsan_do_recoverable_leak_check == nullptr) GTEST_SKIP() << "LeakSanitizer is not in this process";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            auto** const pointers = static_cast<void**>(temp::allocate(50 * sizeof(void*)));
            for (int index = 0; index < 50; ++index) pointers[index] = std::malloc(100);
            const bool found = __lsan_do_recoverable_leak_check() != 0;
            std::memset(pointers, 0, 50 * sizeof(void*));
            const bool found_without = __lsan_do_recoverable_leak_check() != 0;
            std::_Exit(found || !found_without ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

}
