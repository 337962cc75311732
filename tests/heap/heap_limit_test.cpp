// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the heap serves where addresses are scarce (ulimit -v), and what it does for a request that no segment can hold.

#include <tenure/heap/heap.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/options.hpp>

#include "support/address_space.hpp"
#include "support/process.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::heap;

class heap_limits : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
        tenure::set_option(tenure::option::heap_guard_sample, 0); // guarded blocks have addresses of their own
    }
    void TearDown() override { tenure::set_option(tenure::option::heap_guard_sample, guard_sample_before_); }

    const std::uint64_t guard_sample_before_ = tenure::option_value(tenure::option::heap_guard_sample);
    tenure::counting_source source_{tenure::page_source::process()};
    heap heap_{{}, source_};
};

/// All blocks of a size that there are, chained through themselves: a list would need memory.
std::size_t take_all_and_free(heap& from, std::size_t bytes) {
    void* last = nullptr;
    std::size_t count = 0;
    while (void* const block = from.allocate(bytes)) {
        std::memcpy(block, &last, sizeof last);
        last = block;
        ++count;
    }
    while (last != nullptr) {
        void* const block = last;
        std::memcpy(&last, block, sizeof last);
        from.deallocate(block);
    }
    return count;
}

TEST_F(heap_limits, what_was_used_for_blocks_of_one_size_serves_every_other) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    for (const std::size_t spare : {60 * mebibyte, 100 * mebibyte}) {
        const support::address_limit limit(spare);
        for (const std::size_t bytes : {std::size_t{64}, std::size_t{4000}, std::size_t{50'000}, mebibyte}) {
            EXPECT_GE(take_all_and_free(heap_, bytes) * bytes, spare / 4) << spare << " " << bytes;
            void* const all = heap_.allocate(spare - 8 * mebibyte);
            EXPECT_NE(all, nullptr) << "after blocks of " << bytes << " in " << spare;
            heap_.deallocate(all);
        }
        heap_.trim();
        EXPECT_EQ(source_.live_blocks(), 0u);
    }
}

TEST_F(heap_limits, a_request_that_no_segment_can_hold_leaves_the_heap_as_it_is) {
    struct request {
        std::size_t bytes, alignment;
    };
    constexpr request requests[] = {
        {30 * mebibyte, 2 * mebibyte}, {100, 32 * mebibyte}, {20 * mebibyte, 16 * mebibyte}};
    heap_.deallocate(heap_.allocate(1000));
    heap_.deallocate(heap_.allocate(100'000));
    ASSERT_EQ(tenure::detail::core_of(heap_).large().segment_count(), 1u);
    const std::size_t cached = tenure::detail::core_of(heap_).cached_count(tenure::detail::class_of(1000));
    for (const request& each : requests) {
        void* const block = heap_.allocate(each.bytes, each.alignment);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(tenure::is_aligned(block, each.alignment));
        EXPECT_EQ(tenure::detail::core_of(heap_).huge().live_count(), 1u);
        EXPECT_EQ(tenure::detail::core_of(heap_).large().segment_count(), 1u) << "an empty segment is kept";
        EXPECT_EQ(tenure::detail::core_of(heap_).cached_count(tenure::detail::class_of(1000)), cached);
        heap_.deallocate(block);
    }
}

TEST_F(heap_limits, a_huge_block_has_no_room_to_grow_where_addresses_are_limited) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers need addresses of their own";
    const support::address_limit limit(150 * mebibyte);
    void* blocks[4]{};
    for (void*& block : blocks) block = heap_.allocate(34 * mebibyte);
    for (void* const block : blocks) {
        EXPECT_NE(block, nullptr);
        heap_.deallocate(block);
    }
}

}
