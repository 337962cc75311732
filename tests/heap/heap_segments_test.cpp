// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Segments that are mapped in part: how they grow, what belongs to others, and what happens when they cannot grow.

#include <tenure/heap/heap.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/options.hpp>

#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::heap;
using tenure::detail::core_of;

/// What a segment of small blocks begins with: in checked builds its head alone takes more than one MiB.
constexpr std::size_t first_mapped = tenure::checks::caller ? 2 * mebibyte : mebibyte;

/// Passes acquire() and release() on, but cannot extend or shrink.
class rigid_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }
};

class heap_segments : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
        tenure::set_option(tenure::option::heap_guard_sample, 0);
    }
    void TearDown() override { tenure::set_option(tenure::option::heap_guard_sample, guard_sample_before_); }

    const std::uint64_t guard_sample_before_ = tenure::option_value(tenure::option::heap_guard_sample);
    tenure::counting_source source_{tenure::page_source::process()};
    heap heap_{{}, source_};
};

/// Takes blocks until their sizes exceed `whole`.
std::vector<void*> take(heap& from, std::size_t bytes, std::size_t whole) {
    std::vector<void*> blocks;
    for (std::size_t taken = 0; taken < whole; taken += bytes) {
        blocks.push_back(from.allocate(bytes));
        if (blocks.back() != nullptr) std::memset(blocks.back(), 1, 8);
    }
    return blocks;
}

std::size_t free_all(heap& to, const std::vector<void*>& blocks) {
    std::size_t missing = 0;
    for (void* const block : blocks) {
        missing += std::size_t{block == nullptr};
        to.deallocate(block);
    }
    return missing;
}

TEST_F(heap_segments, a_few_blocks_take_few_addresses_for_each_kind) {
    heap_.deallocate(heap_.allocate(100));
    EXPECT_EQ(source_.live_bytes(), first_mapped);
    heap_.deallocate(heap_.allocate(100'000));
    EXPECT_EQ(source_.live_bytes(), first_mapped + mebibyte);
}

TEST_F(heap_segments, a_segment_is_extended_where_it_is_until_it_has_its_full_size) {
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{30'000}, std::size_t{100'000}, 3 * mebibyte}) {
        const std::vector<void*> blocks = take(heap_, bytes, 20 * mebibyte);
        EXPECT_EQ(source_.live_blocks(), 1u) << bytes;
        EXPECT_LE(source_.live_bytes(), 32 * mebibyte) << bytes;
        EXPECT_TRUE(heap_.valid());
        EXPECT_EQ(free_all(heap_, blocks), 0u);
        heap_.trim();
        EXPECT_EQ(source_.live_blocks(), 0u);
    }
    const std::vector<void*> blocks = take(heap_, 1000, 40 * mebibyte);
    EXPECT_EQ(source_.live_blocks(), 2u);
    EXPECT_EQ(free_all(heap_, blocks), 0u);
}

TEST_F(heap_segments, memory_behind_the_mapped_part_belongs_to_others) {
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{100'000}}) {
        void* const first = heap_.allocate(bytes);
        auto* const behind = static_cast<char*>(
            tenure::pointer_at(tenure::align_down(tenure::address_of(first), tenure::detail::max_segment_bytes) +
                               (bytes == 1000 ? first_mapped : mebibyte)));
        EXPECT_FALSE(heap_.owns(behind));
        void* const taken =
            ::mmap(behind, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        ASSERT_EQ(taken, behind);
        std::memset(behind, 7, 4096);
        const std::vector<void*> blocks = take(heap_, bytes, 10 * mebibyte);
        for (void* const block : blocks) std::memset(block, 1, bytes);
        EXPECT_EQ(source_.live_blocks(), 2u) << "the first segment cannot grow";
        EXPECT_FALSE(heap_.owns(behind));
        for (std::size_t index = 0; index < 4096; ++index) ASSERT_EQ(behind[index], 7);
        EXPECT_TRUE(heap_.valid());
        EXPECT_EQ(free_all(heap_, blocks), 0u);
        ::munmap(taken, 4096);
        heap_.deallocate(first);
        heap_.trim();
        EXPECT_EQ(source_.live_blocks(), 0u);
    }
}

TEST_F(heap_segments, a_source_that_cannot_extend_gives_whole_segments) {
    rigid_source rigid;
    tenure::counting_source counted(rigid);
    heap over_rigid({}, counted);
    const std::vector<void*> small_ones = take(over_rigid, 500, 5 * mebibyte);
    const std::vector<void*> large_ones = take(over_rigid, 50'000, 5 * mebibyte);
    EXPECT_EQ(counted.live_blocks(), 2u);
    EXPECT_EQ(counted.live_bytes(), 64 * mebibyte);
    EXPECT_EQ(free_all(over_rigid, small_ones) + free_all(over_rigid, large_ones), 0u);
    EXPECT_TRUE(over_rigid.valid());
}

TEST_F(heap_segments, a_request_that_is_refused_at_any_step_leaves_the_heap_usable) {
    for (std::size_t allowed = 0; allowed < 16; ++allowed) {
        tenure::failing_source failing(source_, allowed);
        {
            heap limited({}, failing);
            for (const std::size_t bytes : {std::size_t{200}, std::size_t{20'000}, std::size_t{70'000}, 4 * mebibyte}) {
                const std::vector<void*> blocks = take(limited, bytes, 12 * mebibyte);
                EXPECT_TRUE(limited.valid()) << allowed << " " << bytes;
                free_all(limited, blocks);
            }
            EXPECT_TRUE(limited.valid()) << allowed;
            failing.allow(SIZE_MAX);
            EXPECT_EQ(free_all(limited, take(limited, 30'000, 8 * mebibyte)), 0u) << allowed;
            EXPECT_EQ(free_all(limited, take(limited, 90'000, 8 * mebibyte)), 0u) << allowed;
            limited.trim();
        }
        EXPECT_EQ(source_.live_blocks(), 0u);
        EXPECT_EQ(source_.live_bytes(), 0u);
    }
}

TEST_F(heap_segments, a_block_that_stays_does_not_hold_the_addresses_behind_it) {
    tenure::heap_options options;
    options.limit_bytes = 256 * mebibyte;
    heap limited(options, source_);
    for (const std::size_t bytes : {std::size_t{2000}, std::size_t{200'000}}) {
        void* const stays = limited.allocate(bytes);
        std::memset(stays, 5, bytes);
        std::vector<void*> blocks = take(limited, bytes, 240 * mebibyte);
        free_all(limited, blocks);
        blocks = {limited.allocate(240 * mebibyte)};
        EXPECT_NE(blocks[0], nullptr) << "after blocks of " << bytes;
        EXPECT_TRUE(limited.valid());
        limited.deallocate(blocks[0]);
        blocks = take(limited, bytes, 200 * mebibyte);
        EXPECT_EQ(free_all(limited, blocks), 0u) << "the segment grows again";
        for (std::size_t index = 0; index < bytes; ++index) ASSERT_EQ(static_cast<char*>(stays)[index], 5);
        limited.deallocate(stays);
        limited.trim();
        EXPECT_EQ(source_.live_blocks(), 0u);
    }
}

TEST_F(heap_segments, more_heads_than_have_static_entries_are_all_known) {
    std::vector<void*> blocks;
    for (int index = 0; index < 12; ++index) blocks.push_back(heap_.allocate(40 * mebibyte));
    for (void* const block : blocks) {
        EXPECT_TRUE(heap_.owns(block));
        EXPECT_TRUE(heap_.owns(static_cast<char*>(block) + 39 * mebibyte));
    }
    EXPECT_EQ(free_all(heap_, blocks), 0u);
    heap_.trim();
    for (void* const block : blocks) EXPECT_FALSE(heap_.owns(block));
    EXPECT_EQ(free_all(heap_, take(heap_, 40 * mebibyte, 400 * mebibyte)), 0u);
}

TEST_F(heap_segments, a_large_block_grows_in_place_past_the_mapped_part) {
    void* const block = heap_.allocate(100'000);
    std::memset(block, 3, 100'000);
    std::size_t bytes = 100'000;
    while (bytes < 12 * mebibyte) {
        bytes += bytes / 2;
        ASSERT_TRUE(heap_.resize(block, bytes)) << bytes;
    }
    EXPECT_EQ(source_.live_blocks(), 1u);
    for (std::size_t index = 0; index < 100'000; ++index) ASSERT_EQ(static_cast<char*>(block)[index], 3);
    EXPECT_TRUE(heap_.valid());
    EXPECT_FALSE(heap_.resize(block, 32 * mebibyte)) << "no segment holds it";
    void* const behind = heap_.allocate(5 * mebibyte);
    EXPECT_FALSE(heap_.resize(block, 31 * mebibyte)) << "another block is behind it";
    heap_.deallocate(behind);
    heap_.deallocate(block);
    EXPECT_TRUE(heap_.valid());
}

}
