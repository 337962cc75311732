// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A budget_source tells one refusal for each request that fails, however often the allocator asked it, and none for a
// request that succeeds in the end.

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/arena/arena.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/offset/offset_allocator.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>

#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::budget_event;
using tenure::budget_source;
using tenure::page_source;

class refused_by_source : public testing::Test {
protected:
    [[nodiscard]] budget_source limited_to(std::size_t bytes) {
        return budget_source("level", {bytes, SIZE_MAX, &hear, this}, page_source::process());
    }
    [[nodiscard]] std::size_t count() const { return all_.size(); } // of refusals: no threshold is set
    [[nodiscard]] const budget_event& last() const { return all_.back(); }

private:
    static void hear(const budget_event& event, void* context) noexcept {
        static_cast<refused_by_source*>(context)->all_.push_back(event);
    }
    std::vector<budget_event> all_;
    support::heard_reports reports_; // checked builds report what is refused
};

TEST_F(refused_by_source, a_heap_of_each_size_tells_one_refusal_per_request) {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{20'000}, 3 * mebibyte, 50 * mebibyte}) {
        budget_source source = limited_to(64 * mebibyte);
        tenure::heap from({.name = "level"}, source);
        std::size_t before = count();
        std::vector<void*> blocks;
        while (void* const block = from.allocate(bytes)) blocks.push_back(block);
        EXPECT_EQ(count(), before + 1) << bytes;
        EXPECT_EQ(source.refused_count(), 1u) << bytes;
        EXPECT_EQ(last().what, budget_event::kind::refusal);
        EXPECT_GT(last().used_bytes + last().requested_bytes, 64 * mebibyte);
        before = count();
        EXPECT_EQ(from.allocate(bytes), nullptr);
        EXPECT_EQ(from.allocate(bytes), nullptr);
        EXPECT_EQ(count(), before + 2) << bytes;
        for (void* const each : blocks) from.deallocate(each);
    }
}

TEST_F(refused_by_source, a_reallocation_tells_one_refusal) {
    budget_source source = limited_to(64 * mebibyte);
    tenure::heap from({.name = "level"}, source);
    void* const block = from.allocate(40 * mebibyte);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(from.reallocate(block, 80 * mebibyte), nullptr);
    EXPECT_EQ(count(), 1u);
    from.deallocate(block);
}

TEST_F(refused_by_source, a_request_that_succeeds_with_less_or_after_a_trim_tells_none) {
    budget_source source = limited_to(48 * mebibyte);
    tenure::heap from({.name = "level"}, source);
    void* const first = from.allocate(20 * mebibyte);
    ASSERT_NE(first, nullptr);
    from.deallocate(first); // retained for reuse
    void* const second = from.allocate(40 * mebibyte);
    EXPECT_NE(second, nullptr) << "the heap returned what it had retained";
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ(source.refused_count(), 0u);
    from.deallocate(second);

    budget_source of_arena = limited_to(100'000);
    tenure::arena scratch(60'000, of_arena);
    EXPECT_NE(scratch.allocate(50'000), nullptr);
    EXPECT_NE(scratch.allocate(30'000), nullptr) << "in a chunk of its own size";
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ(scratch.allocate(40'000), nullptr);
    EXPECT_EQ(count(), 1u);
}

TEST_F(refused_by_source, a_pool_tries_smaller_segments_and_tells_one_refusal) {
    budget_source source = limited_to(1000);
    tenure::block_pool pool(64, 16, source);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(count(), 1u);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(count(), 2u);
}

TEST_F(refused_by_source, a_shared_pool_whose_batch_crosses_into_a_refused_segment_tells_none) {
    budget_source source = limited_to(150'000);
    tenure::shared_block_pool pool(3000, 16, source);
    std::vector<void*> blocks;
    while (void* const block = pool.allocate()) {
        ASSERT_EQ(count(), 0u) << blocks.size();
        blocks.push_back(block);
    }
    EXPECT_GT(blocks.size(), 10u);
    EXPECT_EQ(count(), 1u);
    for (void* const each : blocks) pool.deallocate(each);
}

TEST_F(refused_by_source, the_records_of_an_offset_allocator_tell_one_refusal) {
    budget_source source = limited_to(400'000);
    tenure::offset_allocator offsets(std::size_t{1} << 40, source);
    std::size_t made = 0;
    while (offsets.allocate(64)) ++made;
    EXPECT_GT(made, 10u);
    EXPECT_EQ(count(), 1u);
}

}
