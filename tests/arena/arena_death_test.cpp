// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/platform/process.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::arena;

class arena_death : public testing::Test {
protected:
    arena_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void touch(void* block) { static_cast<volatile unsigned char*>(block)[0] = 1; }

    arena scratch_{1024, tenure::page_source::process()};
};

TEST_F(arena_death, a_marker_from_before_clear_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    static_cast<void>(scratch_.allocate(100));
    const arena::marker stale = scratch_.mark();
    scratch_.clear();
    EXPECT_DEATH(scratch_.rewind(stale), "arena::rewind got a marker");
}

TEST_F(arena_death, a_marker_of_a_chunk_that_was_left_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    static_cast<void>(scratch_.allocate(100));
    const arena::marker early = scratch_.mark();
    static_cast<void>(scratch_.allocate(10'000));
    const arena::marker stale = scratch_.mark();
    scratch_.rewind(early);
    EXPECT_DEATH(scratch_.rewind(stale), "arena::rewind got a marker");
}

TEST_F(arena_death, a_marker_from_before_a_rewind_to_an_earlier_one_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    static_cast<void>(scratch_.allocate(16));
    const arena::marker early = scratch_.mark();
    static_cast<void>(scratch_.allocate(100));
    const arena::marker late = scratch_.mark();
    scratch_.rewind(late);
    scratch_.rewind(late); // again is legal
    scratch_.rewind(early);
    auto* const alive = static_cast<unsigned char*>(scratch_.allocate(500));
    std::memset(alive, 4, 500);
    const support::heard_reports heard;
    scratch_.rewind(late);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    for (int index = 0; index < 500; ++index) ASSERT_EQ(alive[index], 4);
    scratch_.rewind(early);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
}

TEST_F(arena_death, markers_past_the_log_are_still_taken) {
    const support::heard_reports heard;
    std::vector<arena::marker> markers;
    for (int each = 0; each < 1000; ++each) {
        markers.push_back(scratch_.mark());
        static_cast<void>(scratch_.allocate(100));
    }
    while (!markers.empty()) {
        scratch_.rewind(markers.back());
        markers.pop_back();
    }
    EXPECT_EQ(scratch_.stats().live_bytes, 0u);
    EXPECT_EQ(heard.count(), 0u);
}

TEST_F(arena_death, a_marker_of_another_arena_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    arena other;
    static_cast<void>(scratch_.allocate(100));
    static_cast<void>(other.allocate(100));
    EXPECT_DEATH(scratch_.rewind(other.mark()), "arena::rewind got a marker");
}

TEST_F(arena_death, a_block_of_another_arena_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    arena other;
    void* const block = other.allocate(100);
    static_cast<void>(scratch_.allocate(100));
    const support::heard_reports heard;
    scratch_.deallocate(block, 100);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    other.deallocate(block, 100);
    scratch_.deallocate(nullptr, 0);
    EXPECT_EQ(heard.count(), 1u);
}

TEST_F(arena_death, after_a_handler_that_returns_the_arena_is_as_it_was) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    arena other;
    auto* const kept = static_cast<unsigned char*>(scratch_.allocate(100));
    std::memset(kept, 5, 100);
    static_cast<void>(other.allocate(100));
    const support::heard_reports heard;
    scratch_.rewind(other.mark());
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(scratch_.stats().live_bytes, 100u);
    EXPECT_EQ(kept[99], 5);
    EXPECT_TRUE(scratch_.valid());
}

TEST_F(arena_death, memory_is_filled_when_it_is_rewound_in_checked_builds) {
    if (support::under_address_sanitizer()) GTEST_SKIP() << "it may not be read any more";
    const arena::marker here = scratch_.mark();
    auto* const gone = static_cast<volatile unsigned char*>(scratch_.allocate(100));
    gone[50] = 1;
    scratch_.rewind(here);
    EXPECT_EQ(gone[50], tenure::checks::caller ? tenure::freed_fill : 1);
}

TEST_F(arena_death, a_use_after_rewind_clear_or_free_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    const arena::marker here = scratch_.mark();
    void* const rewound = scratch_.allocate(100);
    void* const in_next_chunk = scratch_.allocate(5000);
    scratch_.rewind(here);
    EXPECT_DEATH(touch(rewound), "use-after-poison");
    EXPECT_DEATH(touch(in_next_chunk), "use-after-poison");
    void* const freed = scratch_.allocate(100);
    touch(freed);
    scratch_.deallocate(freed, 100);
    EXPECT_DEATH(touch(freed), "use-after-poison");
    void* const cleared = scratch_.allocate(100);
    scratch_.clear();
    EXPECT_DEATH(touch(cleared), "use-after-poison");
}

TEST_F(arena_death, a_write_past_the_newest_block_is_seen_by_address_sanitizer) {
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    auto* const block = static_cast<volatile unsigned char*>(scratch_.allocate(100));
    EXPECT_DEATH(block[104] = 1, "use-after-poison");
}

TEST_F(arena_death, pages_that_were_never_touched_stay_so_when_the_arena_is_cleared) {
    if (support::under_sanitizer()) GTEST_SKIP() << "the shadow of what is poisoned is touched";
    constexpr std::size_t bytes = std::size_t{3} << 30;
    auto* const large = static_cast<volatile unsigned char*>(scratch_.allocate(bytes));
    if (large == nullptr) GTEST_SKIP() << "the system has no addresses for 3 GiB";
    large[bytes / 2] = 1;
    const std::size_t before = tenure::platform::resident_bytes();
    scratch_.clear();
    EXPECT_LT(tenure::platform::resident_bytes(), before + (std::size_t{64} << 20));
    EXPECT_EQ(large[bytes / 2], tenure::checks::caller ? tenure::freed_fill : 1);
}

}
