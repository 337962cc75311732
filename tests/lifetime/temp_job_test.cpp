// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp_job.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::temp_job;

std::size_t live_count() { return temp_job::stats().live_count; }

class temp_jobs : public support::temp_job_test {};

TEST_F(temp_jobs, any_size_and_alignment_is_served) {
    support::ledger ledger;
    for (std::size_t alignment = 1; alignment <= mebibyte; alignment *= 2) {
        for (std::size_t bytes : {0u, 1u, 15u, 16u, 17u, 1000u, 16'300u, 16'400u, 70'000u}) {
            ASSERT_EQ(ledger.add(temp_job::allocate(bytes, alignment), bytes, alignment), "");
            ASSERT_TRUE(temp_job::valid());
        }
    }
    EXPECT_EQ(live_count(), ledger.size());
    EXPECT_EQ(ledger.check_all(), "");
    while (!ledger.empty()) {
        void* const block = ledger.at(ledger.size() * 7 / 11).at;
        EXPECT_TRUE(temp_job::owns(block));
        EXPECT_EQ(ledger.remove(block), "");
        temp_job::deallocate(block);
        ASSERT_TRUE(temp_job::valid());
    }
}

TEST_F(temp_jobs, large_blocks_have_a_chunk_of_their_own) {
    for (std::size_t bytes : {5 * mebibyte, 70 * mebibyte, 100 * mebibyte}) {
        for (std::size_t alignment : {std::size_t{16}, std::size_t{4096}, mebibyte}) {
            auto* const block = static_cast<unsigned char*>(temp_job::allocate(bytes, alignment));
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
            block[0] = block[bytes / 2] = block[bytes - 1] = 1;
            EXPECT_TRUE(temp_job::owns(block + bytes - 1));
            EXPECT_EQ(temp_job::stats().live_bytes, bytes);
            EXPECT_TRUE(temp_job::valid());
            temp_job::deallocate(block);
            EXPECT_EQ(live_count(), 0u);
        }
    }
}

TEST_F(temp_jobs, blocks_past_4_gib_know_their_size) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer would need gigabytes of its own";
    const std::size_t bytes = (std::size_t{5} << 30) + 12;
    auto* const block = static_cast<unsigned char*>(temp_job::allocate(bytes));
    ASSERT_NE(block, nullptr);
    block[bytes - 1] = 1;
    EXPECT_EQ(temp_job::stats().live_bytes, bytes);
    EXPECT_TRUE(temp_job::valid());
    const support::heard_leaks leaks;
    support::pass_frames(5);
    ASSERT_TRUE(leaks.has(block));
    EXPECT_EQ(leaks.of(block).bytes, bytes);
    temp_job::deallocate(block);
    temp_job::trim();
    EXPECT_LT(temp_job::stats().chunk_bytes, bytes);
}

TEST_F(temp_jobs, impossible_requests_are_refused) {
    EXPECT_EQ(temp_job::allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(temp_job::allocate(PTRDIFF_MAX), nullptr);
    EXPECT_EQ(temp_job::allocate(PTRDIFF_MAX - 4096, 4096), nullptr);
    EXPECT_EQ(temp_job::allocate(1, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(temp_job::allocate(1, std::size_t{1} << 60), nullptr);
    EXPECT_EQ(temp_job::allocate(std::size_t{1} << 60), nullptr);
    temp_job::deallocate(nullptr);
    EXPECT_EQ(live_count(), 0u);
}

TEST_F(temp_jobs, blocks_may_be_freed_on_other_threads_and_after_their_owner_is_gone) {
    std::vector<void*> blocks;
    support::on_fresh_thread([&] {
        for (std::size_t count = 0; count < 10'000; ++count) {
            blocks.push_back(temp_job::allocate(count % 3000));
            std::memset(blocks.back(), 1, std::max<std::size_t>(count % 3000, 1));
        }
    });
    EXPECT_EQ(live_count(), blocks.size());
    EXPECT_TRUE(temp_job::valid());
    for (std::size_t index = 0; index < blocks.size(); index += 2) temp_job::deallocate(blocks[index]);
    EXPECT_EQ(live_count(), blocks.size() / 2);
    support::on_fresh_thread([&] {
        for (std::size_t index = 1; index < blocks.size(); index += 2) temp_job::deallocate(blocks[index]);
    });
    EXPECT_EQ(live_count(), 0u);
    temp_job::trim();
    EXPECT_LE(temp_job::stats().chunk_bytes, 65'536u) << "at most this thread's chunk remains";
}

TEST_F(temp_jobs, the_same_work_each_frame_takes_no_more_memory) {
    std::vector<void*> last;
    std::size_t after_ten = 0;
    for (int frame = 0; frame < 500; ++frame) {
        std::vector<void*> blocks;
        for (std::size_t count = 0; count < 1000; ++count) blocks.push_back(temp_job::allocate(count % 700));
        for (void* each : last) temp_job::deallocate(each);
        last = blocks;
        tenure::next_frame();
        if (frame == 10) after_ten = temp_job::stats().chunk_bytes;
    }
    EXPECT_LE(temp_job::stats().chunk_bytes, after_ten);
    for (void* each : last) temp_job::deallocate(each);
}

TEST_F(temp_jobs, one_block_that_stays_does_not_hold_up_the_memory_behind_it) {
    const support::heard_leaks leaks;
    void* const stays = temp_job::allocate(100);
    for (int round = 0; round < 1000; ++round) {
        std::vector<void*> blocks;
        for (int count = 0; count < 1000; ++count) blocks.push_back(temp_job::allocate(200));
        for (void* each : blocks) temp_job::deallocate(each);
        if (round == 500) support::pass_frames(10);
    }
    EXPECT_LT(temp_job::stats().chunk_bytes, 8 * mebibyte);
    temp_job::deallocate(stays);
}

TEST_F(temp_jobs, know_the_age_of_a_block_however_old_it_is) {
    const support::heard_leaks leaks;
    void* const in_chunk = temp_job::allocate(100);
    void* direct = nullptr;
    {
        const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
        support::on_fresh_thread([&] { direct = temp_job::allocate(100); });
    }
    constexpr std::uint64_t frames = 10'000; // the word of a block has twelve bits for them
    support::pass_frames(frames);
    struct ages {
        std::uint64_t of_all[2] = {};
        std::size_t count = 0;
    } seen;
    temp_job::for_each_live(
        [](void* context, const tenure::temp_job_leak& block) {
            auto& to = *static_cast<ages*>(context);
            to.of_all[to.count++] = block.age_frames;
        },
        &seen);
    ASSERT_EQ(seen.count, 2u);
    EXPECT_EQ(seen.of_all[0], frames);
    EXPECT_EQ(seen.of_all[1], frames);
    EXPECT_EQ(leaks.count(), 2u);
    temp_job::deallocate(in_chunk);
    temp_job::deallocate(direct);
}

TEST_F(temp_jobs, a_visitor_may_be_the_first_to_use_temp_on_its_thread) {
    void* const block = temp_job::allocate(100);
    support::on_fresh_thread([] {
        temp_job::for_each_live(
            [](void*, const tenure::temp_job_leak&) { std::memset(tenure::temp::allocate(64), 1, 64); }, nullptr);
        EXPECT_EQ(tenure::temp::stats().used_bytes, 64u + tenure::temp::guard_bytes);
    });
    temp_job::deallocate(block);
}

TEST_F(temp_jobs, what_only_a_block_taken_by_itself_points_to_is_no_leak) {
    if (&__lsan_do_recoverable_leak_check == nullptr) GTEST_SKIP() << "LeakSanitizer is not in this process";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            tenure::set_option(tenure::option::temp_job_limit_bytes, 0);
            auto** const pointers = static_cast<void**>(temp_job::allocate(4000));
            for (int index = 0; index < 50; ++index) pointers[index] = std::malloc(100);
            std::_Exit(__lsan_do_recoverable_leak_check());
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(temp_jobs, a_source_for_one_thread_is_refused_in_checked_builds) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    alignas(64) static unsigned char buffer[4096];
    tenure::static_buffer_source source(buffer, sizeof buffer);
    const support::heard_reports heard;
    temp_job::set_source(source);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    void* const block = temp_job::allocate(100);
    EXPECT_EQ(source.used_bytes(), 0u);
    temp_job::deallocate(block);
}

TEST_F(temp_jobs, trim_gives_back_the_chunks_that_hold_nothing) {
    tenure::counting_source counted(tenure::page_source::process());
    temp_job::set_source(counted);
    support::on_fresh_thread([&] {
        std::vector<void*> blocks;
        for (int count = 0; count < 10'000; ++count) blocks.push_back(temp_job::allocate(500));
        EXPECT_GT(counted.live_bytes(), 5'000'000u);
        EXPECT_EQ(temp_job::trim(), 0u);
        std::memset(blocks[5000], 7, 500);
        for (std::size_t index = 0; index < blocks.size(); ++index) {
            if (index != 5000) temp_job::deallocate(blocks[index]);
        }
        const std::size_t before = counted.live_bytes();
        const std::size_t given_back = temp_job::trim();
        EXPECT_EQ(counted.live_bytes(), before - given_back);
        EXPECT_LE(counted.live_bytes(), 2 * 65'536u) << "the block's chunk and the thread's current one";
        EXPECT_EQ(static_cast<unsigned char*>(blocks[5000])[499], 7);
        temp_job::deallocate(blocks[5000]);
    });
    temp_job::trim();
    EXPECT_EQ(counted.live_blocks(), 0u);
    temp_job::set_source(tenure::page_source::process());
}

TEST_F(temp_jobs, chunks_that_nobody_asks_for_leave_after_two_seconds_of_frames) {
    tenure::counting_source counted(tenure::page_source::process());
    temp_job::set_source(counted);
    support::on_fresh_thread([] {
        std::vector<void*> blocks;
        for (int count = 0; count < 10'000; ++count) blocks.push_back(temp_job::allocate(500));
        for (void* each : blocks) temp_job::deallocate(each);
    });
    EXPECT_GT(counted.live_bytes(), 5'000'000u);
    support::pass_frames(200);
    EXPECT_EQ(counted.live_blocks(), 0u);
    temp_job::set_source(tenure::page_source::process());
}

TEST_F(temp_jobs, a_chunk_goes_back_to_the_source_that_it_came_from) {
    tenure::counting_source first(tenure::page_source::process());
    tenure::counting_source second(tenure::page_source::process());
    temp_job::set_source(first);
    support::on_fresh_thread([&] {
        void* const small_block = temp_job::allocate(100);
        void* const large_block = temp_job::allocate(100 * mebibyte);
        void* const aligned_block = temp_job::allocate(100, mebibyte); // no chunk has room for it
        EXPECT_EQ(first.live_blocks(), 2u);
        EXPECT_TRUE(tenure::heap::process().owns(aligned_block));
        temp_job::set_source(second);
        void* const other = temp_job::allocate(100'000);
        EXPECT_EQ(second.live_blocks(), 1u);
        for (void* each : {small_block, large_block, aligned_block, other}) temp_job::deallocate(each);
    });
    temp_job::trim();
    EXPECT_EQ(first.live_blocks(), 0u);
    EXPECT_EQ(second.live_blocks(), 0u);
    EXPECT_EQ(first.live_bytes(), 0u);
    temp_job::set_source(tenure::page_source::process());
}

TEST_F(temp_jobs, past_the_limit_blocks_are_taken_one_by_one_and_counted) {
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
    const tenure::temp_job_stats before = temp_job::stats();
    support::on_fresh_thread([&] {
        support::ledger ledger;
        for (std::size_t bytes : {0u, 10u, 1000u, 100'000u, 10'000'000u}) {
            for (std::size_t alignment : {1u, 16u, 64u, 4096u, 65'536u})
                ASSERT_EQ(ledger.add(temp_job::allocate(bytes, alignment), bytes, alignment), "");
        }
        const tenure::temp_job_stats seen = temp_job::stats();
        EXPECT_EQ(seen.live_count, 25u);
        EXPECT_EQ(seen.live_bytes, 5 * 10'101'010u);
        EXPECT_GE(seen.overflow_count, before.overflow_count + 20);
        EXPECT_GE(seen.overflow_bytes, before.overflow_bytes + 4 * 10'101'010u);
        EXPECT_EQ(seen.chunk_bytes, before.chunk_bytes);
        EXPECT_TRUE(temp_job::valid());
        EXPECT_EQ(ledger.check_all(), "");
        while (!ledger.empty()) {
            void* const block = ledger.at(ledger.size() / 2).at;
            EXPECT_TRUE(temp_job::owns(block));
            EXPECT_EQ(ledger.remove(block), "");
            temp_job::deallocate(block);
        }
    });
}

TEST_F(temp_jobs, the_living_are_visited_with_size_owner_and_age) {
    const tenure::tag owner = tenure::tag::named("visit test");
    std::set<const void*> expected;
    std::vector<void*> all;
    {
        const tenure::tag_scope tagged(owner);
        for (std::size_t count = 0; count < 2000; ++count) all.push_back(temp_job::allocate(count));
    }
    for (std::size_t count = 0; count < all.size(); ++count) {
        if (count % 3 == 0)
            temp_job::deallocate(all[count]);
        else
            expected.insert(all[count]);
    }
    support::pass_frames(2);
    struct seen {
        std::set<const void*> blocks;
        std::size_t bytes = 0;
        tenure::tag owner;
    } found{{}, 0, owner};
    temp_job::for_each_live(
        [](void* context, const tenure::temp_job_leak& block) {
            auto& to = *static_cast<seen*>(context);
            EXPECT_TRUE(to.blocks.insert(block.address).second);
            to.bytes += block.bytes;
            EXPECT_EQ(block.owner, to.owner);
            EXPECT_EQ(block.age_frames, 2u);
        },
        &found);
    EXPECT_EQ(found.blocks, expected);
    EXPECT_EQ(found.bytes, temp_job::stats().live_bytes);
    EXPECT_EQ(tenure::usage_of(owner).temp_job_count, expected.size());
    EXPECT_EQ(tenure::usage_of(owner).temp_job_bytes, found.bytes);
    for (const void* each : expected) temp_job::deallocate(const_cast<void*>(each));
    EXPECT_EQ(tenure::usage_of(owner).temp_job_count, 0u);
}

TEST_F(temp_jobs, a_warm_up_prepares_the_next_chunks) {
    const std::size_t before = temp_job::stats().chunk_bytes;
    support::on_fresh_thread([before] {
        ASSERT_TRUE(temp_job::warm_up(150'000));
        const tenure::temp_job_stats ready = temp_job::stats();
        EXPECT_GE(ready.chunk_bytes, before + 3 * 65'536);
        std::vector<void*> blocks;
        for (int index = 0; index < 150; ++index) blocks.push_back(temp_job::allocate(984));
        EXPECT_EQ(temp_job::stats().chunk_bytes, ready.chunk_bytes) << "no chunk was acquired any more";
        for (void* const each : blocks) {
            ASSERT_NE(each, nullptr);
            temp_job::deallocate(each);
        }
        EXPECT_TRUE(temp_job::valid());
    });
}

TEST_F(temp_jobs, a_warm_up_of_more_than_a_gibibyte_prepares_nothing) {
    const std::size_t before = temp_job::stats().chunk_bytes;
    support::on_fresh_thread([before] {
        EXPECT_FALSE(temp_job::warm_up(temp_job::max_warm_up_bytes + 1));
        EXPECT_FALSE(temp_job::warm_up(SIZE_MAX));
        EXPECT_EQ(temp_job::stats().chunk_bytes, before);
    });
}

TEST_F(temp_jobs, a_warm_up_that_reaches_the_limit_releases_what_it_does_not_use) {
    static_cast<void>(temp_job::trim());
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, temp_job::stats().chunk_bytes + 2 * 65'536);
    const std::uint64_t overflows = temp_job::stats().overflow_count;
    support::on_fresh_thread([overflows] {
        EXPECT_FALSE(temp_job::warm_up(10 * 65'536));
        EXPECT_EQ(temp_job::stats().retained_bytes, 0u);
        void* const block = temp_job::allocate(100);
        EXPECT_NE(block, nullptr);
        temp_job::deallocate(block);
        EXPECT_EQ(temp_job::stats().overflow_count, overflows) << "what was prepared is used";
    });
}

}
