// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstring>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>

#include "support/careless_source.hpp"
#include "support/ledger.hpp"
#include "support/reports.hpp"

namespace {

using tenure::arena;

constexpr std::size_t sizes[] = {10, 900, 2000, 1, 40'000, 100, 3, 500'000, 64, 7};

bool same(const tenure::allocator_stats& left, const tenure::allocator_stats& right) {
    return left.live_bytes == right.live_bytes && left.peak_bytes == right.peak_bytes &&
           left.reserved_bytes == right.reserved_bytes && left.source_blocks == right.source_blocks;
}

TEST(arena_refusal, a_refusal_at_the_nth_request_changes_nothing_for_each_n) {
    tenure::counting_source counted(tenure::page_source::process());
    bool refused_once = true;
    for (std::size_t allowed = 0; refused_once; ++allowed) {
        refused_once = false;
        tenure::failing_source failing(counted, allowed);
        arena scratch(1024, failing);
        support::ledger ledger;
        for (std::size_t bytes : sizes) {
            const tenure::allocator_stats before = scratch.stats();
            void* block = scratch.allocate(bytes, 64);
            if (block == nullptr) {
                refused_once = true;
                ASSERT_TRUE(same(scratch.stats(), before));
                ASSERT_EQ(scratch.allocate(bytes, 64), nullptr) << "still refused";
                ASSERT_TRUE(same(scratch.stats(), before));
                ASSERT_TRUE(scratch.valid());
                ASSERT_EQ(ledger.check_all(), "");
                failing.allow(1000);
                block = scratch.allocate(bytes, 64);
            }
            ASSERT_NE(block, nullptr);
            ASSERT_EQ(ledger.add(block, bytes, 64), "");
        }
        ASSERT_EQ(ledger.check_all(), "");
        ASSERT_LT(allowed, 100u);
    }
    EXPECT_EQ(counted.live_blocks(), 0u);
}

/// Gives nothing that is larger than a limit.
class limited_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return bytes > 8192 ? nullptr : tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};

TEST(arena_refusal, when_a_grown_chunk_is_refused_one_that_is_just_enough_is_asked_for) {
    limited_source limited;
    arena scratch(64 * 1024, limited);
    for (int count = 0; count < 100; ++count) ASSERT_NE(scratch.allocate(5000), nullptr);
    EXPECT_EQ(scratch.allocate(9000), nullptr);
    EXPECT_NE(scratch.allocate(8000), nullptr);
    EXPECT_TRUE(scratch.valid());
}

TEST(arena_refusal, a_chunk_that_is_not_aligned_goes_back_and_counts_as_refused) {
    support::careless_source source;
    const support::heard_reports heard;
    arena scratch(4096, source);
    EXPECT_EQ(scratch.allocate(100), nullptr);
    EXPECT_EQ(scratch.stats().source_blocks, 0u);
    EXPECT_EQ(source.live_blocks, 0u);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse) != 0, tenure::checks::caller);
    EXPECT_TRUE(scratch.valid());
}

}
