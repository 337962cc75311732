// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/scratch.hpp>

#include "lifetime/fixture.hpp"
#include "support/reports.hpp"

namespace {

using tenure::temp_job;

class temp_job_death : public support::temp_job_test {
protected:
    temp_job_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void touch(void* block) { static_cast<volatile unsigned char*>(block)[0] = 1; }
};

TEST_F(temp_job_death, a_double_free_is_reported_at_once_in_every_build) {
    void* const block = temp_job::allocate(100);
    void* const large = temp_job::allocate(100'000);
    temp_job::deallocate(block);
    temp_job::deallocate(large);
    EXPECT_DEATH(temp_job::deallocate(block), "a TempJob block was freed twice.*: 0x.*second owner");
    EXPECT_DEATH(temp_job::deallocate(large), "a TempJob block was freed twice.*: 0x");
    EXPECT_DEATH(support::on_fresh_thread([=] { temp_job::deallocate(block); }), "a TempJob block was freed twice");
}

TEST_F(temp_job_death, a_double_free_of_a_reported_block_is_reported) {
    const support::heard_leaks leaks;
    void* const block = temp_job::allocate(100);
    support::pass_frames(10);
    EXPECT_EQ(leaks.count(), 1u);
    temp_job::deallocate(block);
    EXPECT_DEATH(temp_job::deallocate(block), "freed twice");
}

TEST_F(temp_job_death, after_a_handler_that_returns_nothing_has_happened) {
    void* const freed = temp_job::allocate(100);
    auto* const kept = static_cast<unsigned char*>(temp_job::allocate(100));
    std::memset(kept, 5, 100);
    temp_job::deallocate(freed);
    const support::heard_reports heard;
    temp_job::deallocate(freed);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    if constexpr (tenure::checks::caller) {
        temp_job::deallocate(kept + 16);
        alignas(16) unsigned char local[16] = {};
        temp_job::deallocate(local);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
    }
    EXPECT_EQ(temp_job::stats().live_count, 1u);
    EXPECT_EQ(kept[99], 5);
    EXPECT_TRUE(temp_job::valid());
    temp_job::deallocate(kept);
    EXPECT_EQ(heard.count(), tenure::checks::caller ? 3u : 1u);
}

TEST_F(temp_job_death, a_foreign_pointer_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    alignas(128) unsigned char local[256] = {};
    EXPECT_DEATH(temp_job::deallocate(local + 128),
                 "a pointer freed as TempJob is not a TempJob block, or was freed before: 0x.*only once");
}

TEST_F(temp_job_death, a_block_of_temp_freed_as_temp_job_is_reported_in_every_build) {
    if (tenure::passthrough_enabled(tenure::part::temp)) GTEST_SKIP() << "malloc serves";
    constexpr const char* words = "a block of Temp was freed as TempJob: 0x.*Free it as Temp";
    // New ranges, where all is zero: of a used one the state byte may say by chance that a block of TempJob lives.
    for (const std::size_t budget : {4096u, 20'480u, 1'064'960u}) {
        support::with_budget(budget, [&] {
            void* const first = tenure::temp::allocate(100); // nothing of Temp is in front of it
            EXPECT_DEATH(temp_job::deallocate(first), words) << budget;
            void* const next = tenure::temp::allocate(112);
            std::memset(next, 0xFF, 112);
            void* const after = tenure::temp::allocate(100);
            EXPECT_DEATH(temp_job::deallocate(after), words) << "the word in front of it has all bits set";
            void* const second = tenure::temp_stack::second().allocate(100);
            EXPECT_DEATH(temp_job::deallocate(second), words);
        });
    }
}

TEST_F(temp_job_death, a_pointer_into_a_block_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto* const block = static_cast<unsigned char*>(temp_job::allocate(1000));
    std::memset(block, 0, 1000);
    for (std::size_t offset : {1u, 8u, 16u, 64u, 128u, 512u})
        EXPECT_DEATH(temp_job::deallocate(block + offset), "is not a TempJob block") << offset;
    EXPECT_DEATH(temp_job::deallocate(block - 16), "") << "a block's prefix";
    temp_job::deallocate(block);
}

TEST_F(temp_job_death, a_free_after_its_chunk_was_kept_or_used_by_temp_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    void* const gone = temp_job::allocate(100'000);
    temp_job::deallocate(gone);
    support::pass_frames(1); // its chunk waits in the supply
    EXPECT_DEATH(temp_job::deallocate(gone), "is not a TempJob block|freed twice");
    support::with_budget(4096, [&] {
        static_cast<void>(tenure::temp::allocate(100'000)); // which takes the chunk
        EXPECT_DEATH(temp_job::deallocate(gone), "is not a TempJob block|freed twice");
    });
}

TEST_F(temp_job_death, a_block_taken_by_itself_is_known_by_its_address_among_many) {
    const support::heard_reports heard;
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
    std::vector<void*> blocks;
    for (int each = 0; each < 2000; ++each) blocks.push_back(temp_job::allocate(64));
    EXPECT_EQ(temp_job::stats().live_count, 2000u);
    for (std::size_t each = 0; each < blocks.size(); each += 2) temp_job::deallocate(blocks[each]);
    EXPECT_EQ(temp_job::stats().live_count, 1000u);
    if constexpr (tenure::checks::caller) {
        temp_job::deallocate(blocks[0]);
        temp_job::deallocate(static_cast<unsigned char*>(blocks[1]) + 16);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    }
    EXPECT_EQ(temp_job::stats().live_count, 1000u);
    for (std::size_t each = 1; each < blocks.size(); each += 2) temp_job::deallocate(blocks[each]);
}

TEST_F(temp_job_death, a_free_after_trim_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    void* gone = nullptr;
    support::on_fresh_thread([&] { gone = temp_job::allocate(100); });
    temp_job::deallocate(gone);
    temp_job::trim();
    EXPECT_DEATH(temp_job::deallocate(gone), "is not a TempJob block");
}

TEST_F(temp_job_death, what_is_freed_is_filled_in_checked_builds) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it may not be read any more";
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    auto* const freed = static_cast<unsigned char*>(temp_job::allocate(100));
    std::memset(freed, 1, 100);
    temp_job::deallocate(freed);
    EXPECT_EQ(static_cast<volatile unsigned char*>(freed)[50], tenure::freed_fill);
}

TEST_F(temp_job_death, a_use_after_free_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    void* const block = temp_job::allocate(100);
    void* const large = temp_job::allocate(100'000);
    touch(block);
    temp_job::deallocate(block);
    temp_job::deallocate(large);
    EXPECT_DEATH(touch(block), "use-after-poison");
    EXPECT_DEATH(touch(large), "use-after-poison");
    support::pass_frames(10); // the large one's chunk is kept now
    EXPECT_DEATH(touch(large), "use-after-poison");
}

}
