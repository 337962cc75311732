// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Whose memory is whose where the mapping of a huge block is shorter than a segment.

#include <tenure/heap/heap.hpp>

#include <sys/mman.h>

#include <optional>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/platform/memory.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::heap;

constexpr std::size_t segment_bytes = tenure::detail::max_segment_bytes;

class heap_owns : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
    }
    /// Larger than a segment can hold, and shorter than one with all that belongs to it.
    static constexpr std::size_t short_bytes = segment_bytes - 160 * 1024;

    support::heard_reports heard_;
};

TEST_F(heap_owns, what_lies_behind_the_memory_of_a_huge_block_is_not_the_heaps) {
    heap tested({.limit_bytes = 300 * mebibyte});
    auto* const block = static_cast<char*>(tested.allocate(short_bytes));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(tenure::detail::core_of(tested).huge().live_count(), 1u);
    char* const begin =
        static_cast<char*>(tenure::pointer_at(tenure::align_down(tenure::address_of(block), segment_bytes)));
    EXPECT_TRUE(tested.owns(block));
    EXPECT_TRUE(tested.owns(block + short_bytes - 1));
    EXPECT_TRUE(tested.owns(begin));
    EXPECT_FALSE(tested.owns(begin + segment_bytes - 64));
    EXPECT_FALSE(tested.owns(begin + segment_bytes));
    EXPECT_FALSE(tested.owns(begin - 1));
    tested.deallocate(block);
    EXPECT_FALSE(tested.owns(begin + segment_bytes - 64));
    tested.trim();
    EXPECT_FALSE(tested.owns(block));
    EXPECT_EQ(heard_.count(), 0u);
}

TEST_F(heap_owns, the_memory_of_long_and_of_aligned_huge_blocks_is_the_heaps_to_its_end) {
    heap tested;
    for (const std::size_t alignment : {std::size_t{16}, segment_bytes, 2 * segment_bytes}) {
        auto* const block = static_cast<char*>(tested.allocate(3 * segment_bytes, alignment));
        ASSERT_NE(block, nullptr);
        for (std::size_t at = 0; at < 3 * segment_bytes; at += mebibyte) EXPECT_TRUE(tested.owns(block + at));
        EXPECT_TRUE(tested.owns(block - 1));
        EXPECT_GE(tested.usable_size(block), 3 * segment_bytes);
        tested.deallocate(block);
    }
    EXPECT_EQ(heard_.count(), 0u);
}

TEST_F(heap_owns, a_block_of_somebody_else_behind_a_short_mapping_is_known_as_foreign) {
    heap tested({.limit_bytes = 300 * mebibyte});
    auto* const block = static_cast<char*>(tested.allocate(short_bytes));
    ASSERT_NE(block, nullptr);
    char* const begin =
        static_cast<char*>(tenure::pointer_at(tenure::align_down(tenure::address_of(block), segment_bytes)));
    char* const foreign = begin + segment_bytes - 64;
    EXPECT_EQ(tested.usable_size(foreign), 0u);
    EXPECT_FALSE(tested.resize(foreign, 100));
    tested.deallocate(foreign);
    EXPECT_NE(heard_.last().find("not a block of this heap"), std::string::npos) << heard_.last();
    tested.deallocate(block);
    EXPECT_EQ(tested.stats().live_count, 0u);
}

/// Moves blocks to addresses of which no heap knows anything yet, and lets the system refuse memory from then on.
class moving_source final : public tenure::block_source {
public:
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return pages_.acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override { pages_.release(block, bytes); }
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t) noexcept override {
        constexpr std::uintptr_t far = std::uintptr_t{32} << 40;
        void* const place = ::mmap(tenure::pointer_at(far), new_bytes, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (place == MAP_FAILED) return nullptr;
        void* const moved = ::mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
        limit.emplace(0);
        return moved == MAP_FAILED ? nullptr : moved;
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

    std::optional<support::address_limit> limit;

private:
    tenure::page_source pages_;
};

TEST_F(heap_owns, a_block_that_moved_where_its_head_cannot_be_noted_is_known_with_its_size) {
    if (tenure::checks::caller) GTEST_SKIP() << "blocks of checked builds do not move";
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    moving_source source;
    heap tested({}, source);
    auto* block = static_cast<char*>(tested.allocate(40 * mebibyte));
    ASSERT_NE(block, nullptr);
    block[0] = 1;
    block[40 * mebibyte - 1] = 2;
    auto* const moved = static_cast<char*>(tested.reallocate(block, 100 * mebibyte));
    const bool is_limited = source.limit.has_value();
    source.limit.reset();
    ASSERT_TRUE(is_limited);
    ASSERT_NE(moved, nullptr);
    EXPECT_NE(moved, block);
    EXPECT_EQ(moved[0], 1);
    EXPECT_EQ(moved[40 * mebibyte - 1], 2);
    EXPECT_TRUE(tested.owns(moved));
    EXPECT_GE(tested.usable_size(moved), 100 * mebibyte);
    EXPECT_TRUE(tested.resize(moved, 90 * mebibyte));
    tested.deallocate(moved);
    EXPECT_EQ(tested.stats().live_count, 0u);
    tested.trim();
    EXPECT_EQ(tested.stats().reserved_bytes, 0u);
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

}
