// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The guarded blocks of the process heap in plain builds. What a fault reports is tested with the drop-in:
// tests/dropin/programs/guarded.cpp.

#include <tenure/heap/detail/guarded/sampled_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/clock.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::heap;
using tenure::option;
using tenure::detail::sample_schedule;
using tenure::detail::sampled_blocks;

constexpr std::size_t page = 4096;

/// Each test runs on a fresh thread, whose cache is empty, with every block a sample.
class sampled : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::checks::caller) GTEST_SKIP() << "not seen in this build";
        tenure::set_option(option::heap_guard_bytes, 1);
    }
    void TearDown() override { tenure::set_option(option::heap_guard_bytes, before_); }

    static bool is_guarded(const void* block) {
        const auto* const head = tenure::detail::segment_head::of(block, tenure::detail::max_segment_bytes);
        return heap::process().owns(block) && head->class_of_slice[1] == tenure::detail::guarded_class;
    }

    /// Only so many tags have pages of their own, and tests before this one may have used them up.
    static tenure::tag tag_with_pages() {
        tenure::tag found = tenure::tag::named("sampled");
        for (std::size_t id = 1; id < tenure::tag::count(); ++id) {
            const tenure::tag each = tenure::tag::from_id(static_cast<std::uint16_t>(id));
            const auto live_count = [&] {
                return tenure::detail::core_of(heap::process()).usage_of_tag(each.id()).live_count;
            };
            const std::size_t live_before = live_count();
            const tenure::tag_scope scope(each);
            void* const block = heap::process().allocate(100'000);
            if (live_count() != live_before) found = each;
            heap::process().deallocate(block);
        }
        return found;
    }

    const std::uint64_t before_ = tenure::option_value(option::heap_guard_bytes);
};

TEST_F(sampled, blocks_of_every_size_and_alignment_are_served) {
    support::on_fresh_thread([] {
        heap& tested = heap::process();
        for (std::size_t bytes = 1; bytes <= sampled_blocks::max_bytes; bytes = bytes * 5 / 4 + 1) {
            for (const std::size_t alignment : {1u, 8u, 16u, 64u, 4096u, 65'536u}) {
                auto* const block = static_cast<unsigned char*>(tested.allocate(bytes, alignment));
                ASSERT_TRUE(is_guarded(block)) << bytes << " " << alignment;
                EXPECT_EQ(tenure::address_of(block) % alignment, 0u);
                EXPECT_EQ(tested.usable_size(block), bytes);
                EXPECT_TRUE(tested.owns(block));
                EXPECT_EQ(tested.usable_size(block + 1), 0u);
                std::memset(block, 0xAB, bytes);
                ASSERT_TRUE(tested.valid());
                tested.deallocate(block, bytes, alignment);
            }
        }
        void* const larger = tested.allocate(sampled_blocks::max_bytes + 1);
        EXPECT_FALSE(is_guarded(larger));
        tested.deallocate(larger);
    });
}

TEST_F(sampled, a_block_ends_or_begins_at_a_guard_page) {
    support::on_fresh_thread([] {
        std::size_t at_begin = 0, at_end = 0;
        for (int each = 0; each < 200; ++each) {
            void* const block = heap::process().allocate(48);
            at_begin += tenure::address_of(block) % page == 0;
            at_end += (tenure::address_of(block) + 48) % page == 0;
            heap::process().deallocate(block);
        }
        EXPECT_EQ(at_begin + at_end, 200u);
        EXPECT_GT(at_begin, 50u);
        EXPECT_GT(at_end, 50u);
    });
}

TEST_F(sampled, a_freed_block_rests_and_takes_no_place_for_ever) {
    support::on_fresh_thread([] {
        std::vector<std::uintptr_t> pages;
        for (std::size_t each = 0; each < 10 * sampled_blocks::record_count; ++each) {
            void* const block = heap::process().allocate(100);
            ASSERT_TRUE(is_guarded(block));
            pages.push_back(tenure::address_of(block) / page);
            heap::process().deallocate(block);
        }
        for (std::size_t each = 0; each + 120 < pages.size(); ++each) {
            const std::set<std::uintptr_t> next(pages.begin() + static_cast<std::ptrdiff_t>(each),
                                                pages.begin() + static_cast<std::ptrdiff_t>(each) + 120);
            ASSERT_EQ(next.size(), 120u) << "an address was used again at once";
        }
        for (int each = 0; each < 200; ++each) { // 200 MiB of addresses
            void* const block = heap::process().allocate(sampled_blocks::max_bytes);
            ASSERT_TRUE(is_guarded(block));
            heap::process().deallocate(block);
        }
        EXPECT_TRUE(heap::process().valid());
    });
}

TEST_F(sampled, only_so_many_blocks_are_guarded_at_a_time) {
    support::on_fresh_thread([] {
        heap& tested = heap::process();
        const tenure::allocator_stats before = tested.stats();
        std::vector<void*> blocks;
        std::size_t guarded = 0;
        for (int each = 0; each < 1000; ++each) {
            blocks.push_back(tested.allocate(5000));
            guarded += is_guarded(blocks.back());
            std::memset(blocks.back(), 1, 5000);
        }
        EXPECT_GT(guarded, sampled_blocks::max_live / 2);
        EXPECT_LE(guarded, sampled_blocks::max_live);
        EXPECT_EQ(tested.stats().live_count, before.live_count + 1000);
        EXPECT_GE(tested.stats().live_bytes, before.live_bytes + 5'000'000);
        std::set<void*> walked;
        tested.walk([&](void* block, std::size_t) { walked.insert(block); });
        for (void* const block : blocks) {
            EXPECT_TRUE(walked.contains(block));
            tested.deallocate(block);
        }
        EXPECT_EQ(tested.stats().live_count, before.live_count);
        EXPECT_TRUE(tested.valid());
    });
}

TEST_F(sampled, zeroed_and_reallocated_blocks_have_their_contents) {
    support::on_fresh_thread([] {
        heap& tested = heap::process();
        for (int turn = 0; turn < 300; ++turn) {
            auto* block = static_cast<unsigned char*>(tested.allocate(3000, 16, tenure::fill::zero));
            for (std::size_t at = 0; at < 3000; ++at) ASSERT_EQ(block[at], 0);
            std::memset(block, 9, 3000);
            for (const std::size_t bytes : {6000u, 100'000u, 700'000u, 2'000'000u, 50'000u, 10u}) {
                block = static_cast<unsigned char*>(tested.reallocate(block, bytes));
                ASSERT_NE(block, nullptr);
                ASSERT_EQ(block[std::min<std::size_t>(bytes, 3000) - 1], 9);
            }
            EXPECT_FALSE(is_guarded(block) && tested.resize(block, 11));
            tested.deallocate(block);
        }
        EXPECT_TRUE(tested.valid());
    });
}

TEST_F(sampled, a_mistake_at_the_free_is_reported_and_the_program_may_go_on) {
    support::on_fresh_thread([] {
        const support::heard_reports heard;
        heap& tested = heap::process();
        auto* const block = static_cast<unsigned char*>(tested.allocate(100));
        tested.deallocate(block + 1);
        EXPECT_NE(heard.last().find("invalid free: a pointer that is not the start"), std::string::npos)
            << heard.last();
        block[100] = 1;
        tested.deallocate(block);
        EXPECT_NE(heard.last().find("overflow: "), std::string::npos) << heard.last();
        tested.deallocate(block);
        EXPECT_NE(heard.last().find("double free: "), std::string::npos) << heard.last();
        EXPECT_EQ(tested.reallocate(block, 200), nullptr);
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 4u);
        for (int each = 0; each < 100; ++each) { // at either end of its pages
            auto* const other = static_cast<unsigned char*>(tested.allocate(5000));
            const bool is_at_begin = tenure::address_of(other) % page == 0;
            *(is_at_begin ? other + 5001 : other - 1) = 1;
            tested.deallocate(other);
            const char* const expected = is_at_begin ? "overflow: memory past the end of a block was overwritten"
                                                     : "underflow: memory before a block was overwritten";
            ASSERT_NE(heard.last().find(expected), std::string::npos) << heard.last();
            ASSERT_NE(heard.last().find(is_at_begin ? ", 1 byte past" : ", 1 byte before"), std::string::npos);
        }
        EXPECT_TRUE(tested.valid());
    });
}

TEST_F(sampled, other_heaps_and_tagged_blocks_are_not_guarded) {
    support::on_fresh_thread([] {
        heap other;
        void* const block = other.allocate(1000);
        EXPECT_NE(other.usable_size(block), 1000u);
        other.deallocate(block);
        const tenure::tag_scope scope(tag_with_pages());
        void* const tagged = heap::process().allocate(100'000);
        EXPECT_FALSE(is_guarded(tagged));
        heap::process().deallocate(tagged);
    });
}

TEST_F(sampled, threads_that_take_over_the_cache_of_a_tag_are_sampled) {
    const tenure::tag owner = tag_with_pages();
    support::on_fresh_thread([&] {
        const tenure::tag_scope scope(owner);
        heap::process().deallocate(heap::process().allocate(3000));
    });
    const auto expect_guarded = [] {
        void* const block = heap::process().allocate(3000);
        EXPECT_TRUE(is_guarded(block));
        heap::process().deallocate(block);
    };
    support::on_fresh_thread([&] { // that thread had two caches
        expect_guarded();
        support::on_fresh_thread(expect_guarded);
    });
}

TEST_F(sampled, may_be_turned_on_while_threads_run) {
    tenure::set_option(option::heap_guard_bytes, 0);
    support::on_fresh_thread([] {
        const auto is_sampled = [] {
            void* const block = heap::process().allocate(100'000);
            const bool answer = is_guarded(block);
            heap::process().deallocate(block);
            return answer;
        };
        for (int each = 0; each < 100; ++each) ASSERT_FALSE(is_sampled());
        tenure::set_option(option::heap_guard_bytes, 1);
        bool is_found = false;
        for (int each = 0; each < 20 && !is_found; ++each) is_found = is_sampled();
        EXPECT_TRUE(is_found);
    });
}

TEST_F(sampled, a_request_without_room_leaves_the_quarantine_alone) {
    support::on_fresh_thread([] {
        const support::heard_reports heard;
        heap& tested = heap::process();
        std::vector<void*> blocks;
        do blocks.push_back(tested.allocate(sampled_blocks::max_bytes));
        while (is_guarded(blocks.back()));
        ASSERT_LT(blocks.size(), sampled_blocks::max_live) << "else it is not room that lacks";
        void* const freed = tested.allocate(100);
        ASSERT_TRUE(is_guarded(freed));
        tested.deallocate(freed);
        blocks.push_back(tested.allocate(sampled_blocks::max_bytes));
        EXPECT_FALSE(is_guarded(blocks.back()));
        tested.deallocate(freed);
        EXPECT_NE(heard.last().find("double free: "), std::string::npos) << heard.last();
        for (void* const block : blocks) tested.deallocate(block);
        EXPECT_TRUE(tested.valid());
    });
}

TEST_F(sampled, blocks_count_as_in_use) {
    support::on_fresh_thread([] {
        const auto& memory = tenure::detail::core_of(heap::process()).memory();
        const std::size_t before = memory.in_use_bytes();
        void* const block = heap::process().allocate(5000);
        ASSERT_TRUE(is_guarded(block));
        EXPECT_EQ(memory.in_use_bytes(), before + 2 * page);
        heap::process().deallocate(block);
        EXPECT_EQ(memory.in_use_bytes(), before);
    });
}

TEST_F(sampled, the_rest_after_a_sample_bounds_the_cost) {
    tenure::set_option(option::heap_guard_bytes, 64 * 1024);
    support::on_fresh_thread([] {
        heap::process().deallocate(heap::process().allocate(1'000'000)); // small processes are not sampled
        const std::uint64_t begin = tenure::platform::monotonic_ns();
        std::size_t guarded = 0;
        while (tenure::platform::monotonic_ns() < begin + 1'000'000'000) {
            void* const block = heap::process().allocate(65'000);
            guarded += is_guarded(block);
            heap::process().deallocate(block);
        }
        const std::uint64_t ms = (tenure::platform::monotonic_ns() - begin) / 1'000'000;
        EXPECT_GE(guarded, 1u);
        EXPECT_LE(guarded, 2 + ms / 20);
    });
}

TEST_F(sampled, blocks_that_stay_in_the_threads_cache_have_their_turn) {
    tenure::set_option(option::heap_guard_bytes, 64 * 1024);
    support::on_fresh_thread([] {
        heap& tested = heap::process();
        tested.deallocate(tested.allocate(1'000'000)); // small processes are not sampled
        const std::uint64_t end = tenure::platform::monotonic_ns() + 20'000'000'000;
        bool is_found = false;
        while (!is_found && tenure::platform::monotonic_ns() < end) {
            tested.deallocate(tested.allocate(50'000)); // counts
            for (int each = 0; each < 1000 && !is_found; ++each) {
                void* const block = tested.allocate(100); // always a cached one
                is_found = is_guarded(block);
                tested.deallocate(block);
            }
        }
        EXPECT_TRUE(is_found);
    });
}

TEST(sample_schedule, countdowns_have_the_mean_and_the_spread_of_an_exponential_distribution) {
    const std::uint64_t before = tenure::option_value(option::heap_guard_bytes);
    tenure::set_option(option::heap_guard_bytes, 1 << 20);
    constexpr std::size_t count = 200'000;
    double sum = 0, below_a_tenth = 0, above_three = 0;
    for (std::size_t each = 0; each < count; ++each) {
        const double drawn = static_cast<double>(sample_schedule::draw(0)) / (1 << 20);
        sum += drawn;
        below_a_tenth += drawn < 0.1;
        above_three += drawn > 3;
    }
    EXPECT_NEAR(sum / count, 1, 0.02);
    EXPECT_NEAR(below_a_tenth / count, 1 - std::exp(-0.1), 0.01);
    EXPECT_NEAR(above_three / count, std::exp(-3), 0.01);
    double later = 0;
    for (std::size_t each = 0; each < count; ++each)
        later += static_cast<double>(sample_schedule::draw(16)) / (1 << 22);
    EXPECT_NEAR(later / count, 1, 0.02) << "the mean doubles for each eight guarded blocks";
    tenure::set_option(option::heap_guard_bytes, 0);
    EXPECT_EQ(sample_schedule::draw(0), sample_schedule::bytes_until_look);
    tenure::set_option(option::heap_guard_bytes, before);
}

}
