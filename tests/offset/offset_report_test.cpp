// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Figures, the walk, the picture, and whether valid() sees what is torn.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/offset/offset_allocator.hpp>
#include <tenure/platform/page_source.hpp>

#include "offset/walked.hpp"
#include "support/random.hpp"

namespace {

using support::json_of;
using support::max_capacity;
using support::walked;
using support::walked_range;
using tenure::offset_allocator;
using tenure::offset_range;
using tenure::offset_usage;

TEST(offset_report, a_fresh_allocator_is_one_free_range_in_every_answer) {
    const offset_allocator fresh(1000);
    const offset_usage usage = fresh.usage();
    EXPECT_EQ(usage.capacity, 1000u);
    EXPECT_EQ(usage.free, 1000u);
    EXPECT_EQ(usage.largest_free, 1000u);
    EXPECT_EQ(usage.free_count, 1u);
    EXPECT_EQ(usage.range_count, 0u);
    EXPECT_EQ(usage.waiting, 0u);
    EXPECT_EQ(usage.fragmentation(), 0);
    EXPECT_EQ(walked(fresh), (std::vector<walked_range>{{0, 1000, true}}));
    EXPECT_EQ(json_of(fresh), "{\"capacity\": 1000, \"free\": 1000, \"largest_free\": 1000, \"waiting\": 0, "
                              "\"range_count\": 0, \"free_count\": 1, \"ranges\": [\n"
                              "{\"offset\": 0, \"size\": 1000, \"state\": \"free\"}\n]}\n");
}

TEST(offset_report, a_cleared_allocator_answers_as_a_fresh_one) {
    const offset_allocator fresh(1000);
    offset_allocator cleared(1000);
    static_cast<void>(cleared.allocate(10));
    cleared.clear();
    EXPECT_EQ(walked(cleared), (std::vector<walked_range>{{0, 1000, true}}));
    EXPECT_EQ(json_of(cleared), json_of(fresh));
}

TEST(offset_report, the_figures_count_what_is_there) {
    offset_allocator ranges(100);
    const offset_range first = ranges.allocate(10), second = ranges.allocate(20), third = ranges.allocate(30);
    ranges.deallocate(second);
    ranges.deallocate_after(third, 1);
    const offset_usage usage = ranges.usage();
    EXPECT_EQ(usage.capacity, 100u);
    EXPECT_EQ(usage.free, 60u);
    EXPECT_EQ(usage.largest_free, 40u);
    EXPECT_EQ(usage.waiting, 30u);
    EXPECT_EQ(usage.range_count, 2u);
    EXPECT_EQ(usage.free_count, 2u);
    EXPECT_GT(usage.record_bytes, 0u);
    EXPECT_NEAR(usage.fragmentation(), 1.0 / 3, 1e-9);
    EXPECT_EQ(ranges.size_of(first), 10u);
}

TEST(offset_report, a_full_allocator_is_not_fragmented) {
    offset_allocator ranges(10);
    static_cast<void>(ranges.allocate(10));
    EXPECT_EQ(ranges.usage().fragmentation(), 0);
    EXPECT_EQ(ranges.usage().largest_free, 0u);
    EXPECT_EQ(ranges.usage().free_count, 0u);
}

TEST(offset_report, largest_free_is_exact_and_not_its_bins_least) {
    for (const std::vector<std::uint64_t>& holes :
         {std::vector<std::uint64_t>{1000, 1003, 1001}, {1003, 1000, 961}, {960, 961, 1003}, {1, 2, 3}, {7, 8, 9}}) {
        std::uint64_t capacity = 0;
        for (const std::uint64_t hole : holes) capacity += hole + 1;
        offset_allocator ranges(capacity);
        std::vector<offset_range> gone;
        for (const std::uint64_t hole : holes) {
            gone.push_back(ranges.allocate(hole));
            static_cast<void>(ranges.allocate(1));
        }
        for (const offset_range range : gone) ranges.deallocate(range);
        EXPECT_EQ(ranges.usage().largest_free, *std::max_element(holes.begin(), holes.end()));
    }
}

TEST(offset_report, what_largest_free_says_can_be_had_and_one_more_cannot) {
    const std::uint64_t seed = support::new_seed();
    support::random numbers(seed);
    offset_allocator ranges(max_capacity);
    std::vector<offset_range> held;
    for (int step = 0; step < 2000; ++step) {
        if (held.size() < 20 || numbers.below(2) == 0) {
            if (const offset_range range = ranges.allocate(1 + numbers.below(std::size_t{1} << numbers.below(60))))
                held.push_back(range);
        } else {
            const std::size_t which = numbers.below(held.size());
            ranges.deallocate(held[which]);
            held[which] = held.back();
            held.pop_back();
        }
        const std::uint64_t largest = ranges.usage().largest_free;
        if (largest == 0) continue;
        ASSERT_FALSE(ranges.allocate(largest + 1)) << "TENURE_TEST_SEED=" << seed;
        const offset_range all = ranges.allocate(largest);
        ASSERT_TRUE(all) << "TENURE_TEST_SEED=" << seed;
        ranges.deallocate(all);
    }
}

TEST(offset_report, the_walk_is_complete_and_in_order) {
    support::random numbers(support::new_seed());
    offset_allocator ranges(1 << 20);
    std::vector<offset_range> held;
    for (int each = 0; each < 1000; ++each) held.push_back(ranges.allocate(1 + numbers.below(900), 16));
    for (std::size_t each = 0; each < held.size(); each += 1 + numbers.below(3)) ranges.deallocate(held[each]);
    std::uint64_t end = 0, free = 0;
    std::size_t free_count = 0, range_count = 0;
    bool was_free = false;
    ranges.walk([&](std::uint64_t offset, std::uint64_t size, bool is_free) {
        EXPECT_EQ(offset, end);
        EXPECT_FALSE(is_free && was_free) << "two free ranges touch at " << offset;
        end = offset + size;
        free += is_free ? size : 0;
        ++(is_free ? free_count : range_count);
        was_free = is_free;
    });
    EXPECT_EQ(end, ranges.capacity());
    EXPECT_EQ(free, ranges.usage().free);
    EXPECT_EQ(free_count, ranges.usage().free_count);
    EXPECT_EQ(range_count, ranges.usage().range_count);
}

TEST(offset_report, json_has_the_usage_and_every_range_with_its_state) {
    offset_allocator ranges(100);
    const offset_range first = ranges.allocate(10), second = ranges.allocate(20);
    static_cast<void>(ranges.allocate(30));
    ranges.deallocate(first);
    ranges.deallocate_after(second, 3);
    EXPECT_EQ(json_of(ranges), "{\"capacity\": 100, \"free\": 50, \"largest_free\": 40, \"waiting\": 20, "
                               "\"range_count\": 2, \"free_count\": 2, \"ranges\": [\n"
                               "{\"offset\": 0, \"size\": 10, \"state\": \"free\"},\n"
                               "{\"offset\": 10, \"size\": 20, \"state\": \"waiting\"},\n"
                               "{\"offset\": 30, \"size\": 30, \"state\": \"allocated\"},\n"
                               "{\"offset\": 60, \"size\": 40, \"state\": \"free\"}\n]}\n");
}

/// Reads JSON without its meaning. Says whether all of it is one value; escapes and fractions are not ours.
class json_reader {
public:
    explicit json_reader(std::string_view text) : rest_(text) {}
    bool is_one_value() {
        const bool good = value();
        skip();
        return good && rest_.empty();
    }

private:
    void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\r\t"), rest_.size())); }
    bool take(char wanted) {
        skip();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool text() {
        if (!take('"')) return false;
        const std::size_t end = rest_.find_first_of("\"\\\n");
        if (end == std::string_view::npos || rest_[end] != '"') return false;
        rest_.remove_prefix(end + 1);
        return true;
    }
    bool number() {
        skip();
        const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        const bool good = digits == 1 || (digits > 1 && rest_.front() != '0');
        rest_.remove_prefix(digits);
        return good;
    }
    bool member() { return text() && take(':') && value(); }
    bool value() {
        const bool is_object = take('{');
        if (is_object || take('[')) {
            const char end = is_object ? '}' : ']';
            if (take(end)) return true;
            do {
                if (!(is_object ? member() : value())) return false;
            } while (take(','));
            return take(end);
        }
        skip();
        return !rest_.empty() && rest_.front() == '"' ? text() : number();
    }

    std::string_view rest_;
};

TEST(offset_report, json_is_valid_however_many_ranges_and_however_large_the_numbers) {
    EXPECT_TRUE(json_reader(json_of(offset_allocator(0))).is_one_value());
    EXPECT_TRUE(json_reader(json_of(offset_allocator(max_capacity))).is_one_value());
    offset_allocator ranges(max_capacity);
    for (std::uint64_t each = 0; each < 1000; ++each)
        static_cast<void>(ranges.allocate((max_capacity >> 11) + each, 2));
    ranges.deallocate_after(ranges.allocate(max_capacity >> 2), 1);
    const std::string text = json_of(ranges);
    EXPECT_TRUE(json_reader(text).is_one_value()) << text.substr(0, 500);
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '{')), walked(ranges).size() + 1);
    EXPECT_NE(text.find("\"capacity\": 4611686018427387904,"), std::string::npos);
    EXPECT_FALSE(json_reader(text.substr(0, text.size() - 3)).is_one_value());
}

/// Remembers the block that it gave, so that a test can spoil what is in it.
class watched_source final : public tenure::block_source {
public:
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return block_ = tenure::page_source::process().acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override {
        tenure::page_source::process().release(block, bytes);
    }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::one_thread; }
    [[nodiscard]] unsigned char* block() const { return static_cast<unsigned char*>(block_); }

private:
    void* block_ = nullptr;
};

TEST(offset_report, valid_sees_a_torn_record) {
    watched_source source;
    offset_allocator ranges(1000, source);
    std::vector<offset_range> held;
    for (int each = 0; each < 8; ++each) held.push_back(ranges.allocate(100));
    ranges.deallocate(held[1]);
    ranges.deallocate(held[3]);
    ranges.deallocate_after(held[5], 5);
    ranges.collect(); // nothing is pending
    ASSERT_EQ(ranges.usage().free_count, 3u);
    ASSERT_TRUE(ranges.valid());
    // Every number of every range but the one that says where a free range stands, which is unused in allocated ones.
    for (std::size_t each = 0; each < held.size(); ++each) {
        const std::uint32_t record = held[each].id;
        for (std::size_t word = 0; word < 8; ++word) {
            const bool is_free = each == 1 || each == 3;
            if (word == 6 && !is_free) continue;
            unsigned char* const at = source.block() + record * 32 + word * 4;
            std::uint32_t kept = 0;
            std::memcpy(&kept, at, sizeof kept);
            const std::uint32_t torn = kept ^ 1u;
            std::memcpy(at, &torn, sizeof torn);
            EXPECT_FALSE(ranges.valid()) << "record " << record << ", number " << word;
            std::memcpy(at, &kept, sizeof kept);
        }
    }
    EXPECT_TRUE(ranges.valid());
}

}
