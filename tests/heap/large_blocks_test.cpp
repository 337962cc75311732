// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/large_blocks.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using tenure::detail::contents;
using tenure::detail::heap_memory;
using tenure::detail::large_blocks;
using tenure::detail::sweep_result;
using tenure::detail::sweep_scope;
using tenure::detail::unit_bytes;
constexpr std::size_t max_large_bytes = tenure::detail::max_large_bytes(tenure::detail::max_segment_bytes);

class large : public testing::Test {
protected:
    ~large() override { EXPECT_TRUE(blocks_.valid()); }

    tenure::counting_source source_{tenure::page_source::process()};
    heap_memory memory_{source_};
    large_blocks blocks_{memory_};
};

constexpr std::size_t large_segment_head_bytes = tenure::detail::max_segment_bytes - max_large_bytes;

struct stamped_block {
    unsigned char* at;
    std::size_t bytes;
    unsigned char stamp;
};

/// A stamp at both ends and in each unit: enough to see a block that overlaps another.
void stamp(const stamped_block& block) {
    for (std::size_t at = 0; at < block.bytes; at += unit_bytes) block.at[at] = block.stamp;
    block.at[block.bytes - 1] = block.stamp;
}
bool holds(const stamped_block& block, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += unit_bytes) {
        if (block.at[at] != block.stamp) return false;
    }
    return true;
}

TEST_F(large, random_operations_agree_with_a_model) {
    support::random numbers(support::new_seed());
    std::vector<stamped_block> alive;
    std::size_t units = 0;
    const auto units_of = [](std::size_t bytes) { return (bytes + unit_bytes - 1) / unit_bytes; };
    const auto some_bytes = [&] {
        return numbers.one_in(20) ? numbers.below(max_large_bytes) + 1 : numbers.below(std::size_t{1} << 20) + 1;
    };
    for (int step = 0; step < 6000; ++step) {
        const std::uint64_t kind = numbers.below(10);
        if (kind < 5 && alive.size() < 200) {
            const std::size_t bytes = some_bytes();
            const std::size_t alignment = numbers.one_in(5) ? std::size_t{1} << numbers.below(21) : 16;
            auto* const block = static_cast<unsigned char*>(blocks_.allocate(bytes, alignment));
            if (block == nullptr) {
                ASSERT_GT(bytes + alignment, max_large_bytes);
                continue;
            }
            ASSERT_EQ(tenure::address_of(block) % alignment, 0u);
            alive.push_back({block, bytes, static_cast<unsigned char>(step)});
            stamp(alive.back());
            units += units_of(bytes);
        } else if (kind < 9 && !alive.empty()) {
            const std::size_t which = numbers.below(alive.size());
            ASSERT_TRUE(holds(alive[which], alive[which].bytes));
            units -= units_of(alive[which].bytes);
            blocks_.deallocate(alive[which].at);
            alive[which] = alive.back();
            alive.pop_back();
        } else if (!alive.empty()) {
            stamped_block& block = alive[numbers.below(alive.size())];
            const std::size_t bytes = some_bytes();
            const std::size_t kept = std::min(bytes, block.bytes);
            if (blocks_.resize(block.at, bytes)) {
                units += units_of(bytes) - units_of(block.bytes);
                ASSERT_TRUE(holds(block, kept));
                block.bytes = bytes;
                stamp(block);
            } else {
                ASSERT_GT(bytes, block.bytes) << "smaller is always possible";
            }
            ASSERT_GE(blocks_.usable_bytes(block.at), block.bytes);
        }
        if (step % 500 == 0) blocks_.trim();
        if (step % 20 == 0) {
            ASSERT_TRUE(blocks_.valid());
        }
        ASSERT_EQ(blocks_.live_bytes(), units * unit_bytes);
    }
    for (const stamped_block& block : alive) {
        ASSERT_TRUE(holds(block, block.bytes));
        blocks_.deallocate(block.at);
    }
    EXPECT_EQ(blocks_.live_bytes(), 0u);
    blocks_.trim();
    EXPECT_EQ(source_.live_blocks(), 0u) << "everything was joined again";
}

TEST_F(large, a_block_grows_into_the_free_run_behind_it) {
    void* const first = blocks_.allocate(100'000, 16);
    void* const second = blocks_.allocate(100'000, 16);
    void* const third = blocks_.allocate(100'000, 16);
    EXPECT_FALSE(blocks_.resize(first, 200'000));
    blocks_.deallocate(second);
    EXPECT_TRUE(blocks_.resize(first, 200'000));
    EXPECT_FALSE(blocks_.resize(first, 300'000));
    EXPECT_TRUE(blocks_.resize(first, 1));
    EXPECT_EQ(blocks_.usable_bytes(first), unit_bytes);
    EXPECT_EQ(blocks_.live_bytes(), unit_bytes + blocks_.usable_bytes(third));
}

TEST_F(large, a_whole_segment_can_be_one_block) {
    void* const all = blocks_.allocate(max_large_bytes, 16);
    ASSERT_NE(all, nullptr);
    std::memset(all, 1, max_large_bytes);
    EXPECT_EQ(blocks_.segment_count(), 1u);
    EXPECT_EQ(blocks_.allocate(max_large_bytes + 1, 16), nullptr);
    void* const one = blocks_.allocate(1, 16);
    EXPECT_EQ(blocks_.segment_count(), 2u);
    blocks_.deallocate(all);
    blocks_.deallocate(one);
    EXPECT_EQ(blocks_.allocate(max_large_bytes, 4096) == nullptr, false);
    EXPECT_EQ(blocks_.segment_count(), 2u);
}

/// A sweep as callers do it. Returns   the bytes returned.
std::size_t sweep(large_blocks& blocks, sweep_scope scope = {}) {
    sweep_result result;
    auto place = blocks.begin_sweep();
    while (blocks.sweep_some(place, scope, result)) {}
    return result.returned_bytes;
}

TEST_F(large, a_thorough_sweep_returns_single_pages_and_an_urgent_one_at_once) {
    std::vector<void*> taken;
    for (int each = 0; each < 100; ++each) taken.push_back(blocks_.allocate(40'960, 16));
    for (void* const block : taken) std::memset(block, 1, 40'960);
    for (std::size_t each = 0; each < taken.size(); each += 2) blocks_.deallocate(taken[each]);
    EXPECT_EQ(sweep(blocks_), 0u);
    EXPECT_EQ(sweep(blocks_), 0u) << "runs of 40 KiB are too short for a caller";
    EXPECT_EQ(sweep(blocks_, {.is_thorough = true}), 0u) << "the first one only looks";
    EXPECT_EQ(sweep(blocks_, {.is_thorough = true}), 50u * 40'960);
    for (std::size_t each = 1; each < taken.size(); each += 2) blocks_.deallocate(taken[each]);
    EXPECT_EQ(sweep(blocks_, {.is_thorough = true, .is_urgent = true}), 50u * 40'960);
    EXPECT_TRUE(blocks_.valid());
}

TEST_F(large, what_is_requested_again_soon_after_a_sweep_is_thrash) {
    for (const int sweeps : {1, 3}) {
        void* const block = blocks_.allocate(1 << 20, 16);
        std::memset(block, 1, 1 << 20);
        blocks_.deallocate(block);
        const std::size_t before = memory_.thrash_bytes();
        EXPECT_GE(sweep(blocks_, {.is_thorough = true, .is_urgent = true}), std::size_t{1} << 20);
        for (int each = 1; each < sweeps; ++each) sweep(blocks_, {.is_thorough = true});
        blocks_.deallocate(blocks_.allocate(1 << 20, 16));
        EXPECT_EQ(memory_.thrash_bytes() - before, sweeps == 1 ? 1u << 20 : 0u) << "after " << sweeps << " sweeps";
    }
}

TEST_F(large, what_is_fresh_reads_zero_and_what_was_swept_does_again) {
    contents found{};
    auto* block = static_cast<unsigned char*>(blocks_.allocate(1 << 20, 16, found));
    void* const kept = blocks_.allocate(4096, 16);
    EXPECT_EQ(found, contents::zero);
    std::memset(block, 1, 1 << 20);
    blocks_.deallocate(block);
    EXPECT_EQ(sweep(blocks_), 0u) << "it was free for less than a sweep";
    auto* again = static_cast<unsigned char*>(blocks_.allocate(1 << 20, 16, found));
    EXPECT_EQ(again, block);
    EXPECT_EQ(found, contents::unknown);
    blocks_.deallocate(again);
    EXPECT_EQ(sweep(blocks_), 0u);
    void* const within = blocks_.allocate(8192, 16); // does not make the rest of the run any younger
    blocks_.deallocate(within);
    EXPECT_GE(sweep(blocks_), (std::size_t{1} << 20) - 16'384);
    EXPECT_EQ(blocks_.committed_bytes(), large_segment_head_bytes + 4096 + 8192);
    blocks_.trim();
    again = static_cast<unsigned char*>(blocks_.allocate(1 << 20, 16, found));
    EXPECT_EQ(found, contents::zero);
    for (std::size_t at = 0; at < 1 << 20; ++at) ASSERT_EQ(again[at], 0);
    blocks_.deallocate(again);
    blocks_.deallocate(kept);
}

TEST_F(large, all_of_it_can_be_freed_at_once) {
    std::vector<void*> blocks;
    for (std::size_t each = 1; each < 100; ++each) blocks.push_back(blocks_.allocate(each * 20'000, 16));
    std::size_t seen = 0;
    blocks_.for_each([](void* count, void*, std::size_t) { ++*static_cast<std::size_t*>(count); }, &seen);
    EXPECT_EQ(seen, blocks.size());
    EXPECT_EQ(blocks_.live_count(), blocks.size());
    const std::size_t segments = blocks_.segment_count();
    blocks_.free_all();
    EXPECT_TRUE(blocks_.valid());
    EXPECT_EQ(blocks_.live_bytes(), 0u);
    EXPECT_EQ(memory_.in_use_bytes(), 0u);
    for (std::size_t each = 1; each < 100; ++each) (void)blocks_.allocate(each * 20'000, 16);
    EXPECT_EQ(blocks_.segment_count(), segments);
    blocks_.release_all();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(large, a_refused_source_changes_nothing) {
    tenure::failing_source failing(source_, 0);
    heap_memory memory(failing);
    large_blocks blocks(memory);
    EXPECT_EQ(blocks.allocate(50'000, 16), nullptr);
    EXPECT_EQ(blocks.segment_count(), 0u);
    EXPECT_TRUE(blocks.valid());
    failing.allow(1);
    void* const block = blocks.allocate(50'000, 16);
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(blocks.allocate(max_large_bytes, 16), nullptr);
    EXPECT_EQ(blocks.live_bytes(), blocks.usable_bytes(block));
    EXPECT_TRUE(blocks.valid());
}

TEST_F(large, a_double_free_is_reported_and_changes_nothing) {
    const support::heard_reports heard;
    void* const block = blocks_.allocate(50'000, 16);
    void* const kept = blocks_.allocate(50'000, 16);
    blocks_.deallocate(block);
    blocks_.deallocate(block);
    blocks_.deallocate(static_cast<unsigned char*>(kept) + 16);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    // Also of one that has become part of a larger free run, or of another block.
    void* const hole = blocks_.allocate(50'000, 16); // where the first one was
    void* const before = blocks_.allocate(50'000, 16);
    void* const behind = blocks_.allocate(50'000, 16);
    blocks_.deallocate(before);
    blocks_.deallocate(behind);
    blocks_.deallocate(behind);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
    void* const over_both = blocks_.allocate(100'000, 16);
    blocks_.deallocate(behind);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 4u);
    EXPECT_EQ(over_both, before);
    blocks_.deallocate(over_both);
    blocks_.deallocate(hole);
    EXPECT_EQ(blocks_.live_bytes(), blocks_.usable_bytes(kept));
}

}
