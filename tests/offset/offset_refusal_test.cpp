// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Memory for records that is refused or moves.

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/offset/offset_allocator.hpp>

#include "offset/walked.hpp"
#include "support/reports.hpp"

namespace {

using support::everything_seen;
using tenure::offset_allocator;
using tenure::offset_range;

constexpr std::uint64_t much = std::uint64_t{1} << 40;

/// Pages, with only those of a source's ways to grow a block that the test leaves open.
class stubborn_source final : public tenure::block_source {
public:
    enum class growth { by_copy, by_remap };
    explicit stubborn_source(growth how) noexcept : how_(how) {}

    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        ++acquired;
        return pages().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        ++released;
        pages().release(block, bytes);
    }
    void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept override {
        if (how_ != growth::by_remap) return nullptr;
        ++remapped;
        return pages().remap(block, old_bytes, new_bytes, alignment);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::one_thread; }

    int acquired = 0;
    int released = 0;
    int remapped = 0;

private:
    static tenure::page_source& pages() { return tenure::page_source::process(); }
    growth how_;
};

/// So many ranges, of which the n-th has a size of n mod 7 + 1.
std::vector<offset_range> many(offset_allocator& from, std::size_t count) {
    std::vector<offset_range> all;
    for (std::size_t each = 0; each < count; ++each) all.push_back(from.allocate(each % 7 + 1));
    return all;
}

void expect_many(const offset_allocator& from, const std::vector<offset_range>& all) {
    ASSERT_TRUE(from.valid());
    std::uint64_t end = 0;
    for (std::size_t each = 0; each < all.size(); ++each) {
        ASSERT_EQ(all[each].offset, end);
        ASSERT_EQ(from.size_of(all[each]), each % 7 + 1);
        end += each % 7 + 1;
    }
}

TEST(offset_refusal, a_refusal_at_the_nth_request_changes_nothing_for_each_n) {
    constexpr std::size_t count = 20'000;
    tenure::counting_source counted(tenure::page_source::process());
    bool refused_once = true;
    for (std::size_t allowed = 0; refused_once; ++allowed) {
        ASSERT_LT(allowed, 100u);
        refused_once = false;
        tenure::failing_source failing(counted, allowed);
        offset_allocator ranges(much, failing);
        std::vector<offset_range> held;
        for (std::size_t each = 0; each < count; ++each) {
            offset_range range = ranges.allocate(each % 7 + 1);
            if (!range) {
                refused_once = true;
                const everything_seen before(ranges);
                ASSERT_FALSE(ranges.allocate(each % 7 + 1)) << "still refused";
                ASSERT_EQ(everything_seen(ranges), before);
                expect_many(ranges, held);
                if (!held.empty()) { // what is given back needs no memory, and can be had again
                    ranges.deallocate(held.back());
                    held.back() = ranges.allocate((each - 1) % 7 + 1);
                    ASSERT_TRUE(held.back());
                    expect_many(ranges, held);
                }
                failing.allow(1000);
                range = ranges.allocate(each % 7 + 1);
            }
            ASSERT_TRUE(range);
            held.push_back(range);
        }
        expect_many(ranges, held);
        for (const offset_range range : held) ranges.deallocate(range);
        ASSERT_EQ(ranges.usage().largest_free, much);
    }
    EXPECT_EQ(counted.live_blocks(), 0u);
}

TEST(offset_refusal, without_any_memory_every_range_is_refused_and_all_else_answers) {
    tenure::failing_source failing(tenure::page_source::process(), 0);
    offset_allocator ranges(100, failing);
    EXPECT_FALSE(ranges.allocate(1));
    EXPECT_EQ(ranges.usage().free, 100u);
    EXPECT_TRUE(ranges.grow(200));
    EXPECT_TRUE(ranges.shrink(150));
    EXPECT_EQ(ranges.collect(), 0u);
    ranges.clear();
    EXPECT_TRUE(ranges.valid());
    EXPECT_FALSE(ranges.allocate(1));
    failing.allow(1);
    EXPECT_EQ(ranges.allocate(150).offset, 0u);
}

TEST(offset_refusal, records_are_copied_where_a_source_cannot_make_its_block_larger) {
    for (const stubborn_source::growth how : {stubborn_source::growth::by_copy, stubborn_source::growth::by_remap}) {
        stubborn_source source(how);
        offset_allocator ranges(much, source);
        const auto held = many(ranges, 20'000);
        EXPECT_GT(how == stubborn_source::growth::by_copy ? source.acquired : source.remapped, 3);
        expect_many(ranges, held);
        for (const offset_range range : held) ranges.deallocate(range);
        EXPECT_EQ(ranges.usage().largest_free, much);
        EXPECT_EQ(source.released + 1, source.acquired) << "only the newest block is held";
    }
}

TEST(offset_refusal, a_fixed_buffer_for_records_is_filled_and_no_more) {
    alignas(64) static unsigned char buffer[200'000];
    tenure::static_buffer_source fixed(buffer, sizeof buffer);
    offset_allocator ranges(much, fixed);
    std::vector<offset_range> held;
    for (offset_range range; (range = ranges.allocate(held.size() % 7 + 1));) held.push_back(range);
    EXPECT_GT(held.size(), 2000u);
    EXPECT_LE(ranges.usage().record_bytes, sizeof buffer);
    expect_many(ranges, held);
    for (const offset_range range : held) ranges.deallocate(range);
    EXPECT_TRUE(ranges.allocate(much));
}

/// The last range is allocated, there is a hole before it, and the source gives no more memory for records.
class full_records : public testing::Test {
protected:
    full_records() {
        while (const offset_range range = ranges_.allocate(4)) held_.push_back(range);
        EXPECT_GE(failing_.refused(), 1u);
        EXPECT_GT(held_.size(), 500u);
        EXPECT_TRUE(ranges_.shrink(ranges_.capacity() - ranges_.usage().free));
        EXPECT_EQ(ranges_.usage().free_count, 0u);
        ranges_.deallocate(held_[10]);
        EXPECT_EQ(ranges_.usage().free_count, 1u);
    }
    /// Allocates until no record is left.
    void use_spare_records() {
        while (ranges_.usage().free >= 2)
            if (!ranges_.allocate(1)) return;
    }

    tenure::failing_source failing_{tenure::page_source::process(), 1};
    offset_allocator ranges_{much, failing_};
    std::vector<offset_range> held_;
};

TEST_F(full_records, growing_is_refused_and_changes_nothing) {
    // Holes take their pieces of bins out of what is reserved for them, and ranges no more than that.
    while (ranges_.grow(ranges_.capacity() + 1)) ASSERT_TRUE(ranges_.allocate(1, 1));
    const everything_seen before(ranges_);
    EXPECT_FALSE(ranges_.grow(much));
    EXPECT_EQ(everything_seen(ranges_), before);
    EXPECT_TRUE(ranges_.valid());
    failing_.allow(100);
    EXPECT_TRUE(ranges_.grow(much));
    EXPECT_TRUE(ranges_.allocate(1000));
    EXPECT_TRUE(ranges_.valid());
}

TEST_F(full_records, a_range_that_would_be_split_is_refused_and_changes_nothing) {
    ranges_.deallocate(held_[20]);
    ranges_.deallocate(held_[30]);
    use_spare_records();
    ASSERT_GT(ranges_.usage().free, 1u);
    const everything_seen before(ranges_);
    EXPECT_FALSE(ranges_.allocate(1)); // of one that is larger
    EXPECT_EQ(everything_seen(ranges_), before);
    EXPECT_TRUE(ranges_.valid());
    ranges_.deallocate(held_[40]);
    EXPECT_TRUE(ranges_.allocate(4)) << "a hole of just the size needs no record";
    EXPECT_TRUE(ranges_.valid());
}

TEST_F(full_records, a_request_that_fits_nowhere_takes_no_memory_for_records) {
    failing_.allow(100);
    const std::size_t refused = failing_.refused();
    const everything_seen before(ranges_);
    EXPECT_FALSE(ranges_.allocate(5));
    EXPECT_FALSE(ranges_.allocate(1, 1024));
    EXPECT_EQ(everything_seen(ranges_), before);
    EXPECT_EQ(failing_.refused(), refused);
}

TEST_F(full_records, giving_back_needs_no_memory) {
    const std::size_t refused = failing_.refused();
    for (std::size_t each = 0; each < held_.size(); each += 2)
        if (each != 10) ranges_.deallocate(held_[each]);
    EXPECT_TRUE(ranges_.valid());
    EXPECT_EQ(ranges_.usage().free_count, (held_.size() + 1) / 2);
    for (std::size_t each = 1; each < held_.size(); each += 2) ranges_.deallocate(held_[each]);
    EXPECT_TRUE(ranges_.valid());
    EXPECT_EQ(failing_.refused(), refused);
    EXPECT_TRUE(ranges_.shrink(10));
}

/// Free ranges of as many sizes as there are bins: each needs a piece of its own.
TEST(offset_refusal, giving_back_ranges_of_every_bin_needs_no_memory) {
    tenure::failing_source failing(tenure::page_source::process(), 1);
    offset_allocator ranges(offset_allocator::max_capacity, failing);
    std::vector<offset_range> held, between;
    for (std::uint64_t least = 8; least < (std::uint64_t{1} << 56); least *= 2) {
        for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
            const offset_range range = ranges.allocate(least + eighth * (least / 8));
            held.push_back(range);
            between.push_back(ranges.allocate(1)); // some are refused at the end: those are empty
        }
    }
    ASSERT_GT(held.size(), 200u);
    const std::size_t refused = failing.refused();
    for (const offset_range range : held) ranges.deallocate(range);
    EXPECT_TRUE(ranges.valid());
    for (const offset_range range : between) ranges.deallocate(range);
    EXPECT_TRUE(ranges.valid());
    EXPECT_EQ(failing.refused(), refused);
    EXPECT_EQ(ranges.usage().free_count, 1u);
}

/// Moves what it has 16 bytes past where it is asked to.
class straying_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return pages().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        const bool is_odd = !tenure::is_aligned(block, tenure::cache_line_bytes);
        is_odd ? pages().release(static_cast<char*>(block) - 16, bytes + 16) : pages().release(block, bytes);
    }
    void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept override {
        auto* const odd = static_cast<char*>(pages().acquire(new_bytes + 16, alignment)) + 16;
        std::memcpy(odd, block, old_bytes);
        pages().release(block, old_bytes);
        return odd;
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::one_thread; }

private:
    static tenure::page_source& pages() { return tenure::page_source::process(); }
};

TEST(offset_refusal, records_that_the_source_moves_elsewhere_than_asked_are_copied) {
    straying_source source;
    const support::heard_reports heard;
    offset_allocator tested(1u << 24, source);
    const std::vector<offset_range> all = many(tested, 20'000);
    EXPECT_TRUE(tested.valid());
    EXPECT_EQ(heard.count(tenure::report_kind::misuse) != 0, tenure::checks::caller);
    for (const offset_range& each : all) tested.deallocate(each);
    EXPECT_TRUE(tested.valid());
}

}
