// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a reader of the heap broke with small programs; each stays mended.

#include <tenure/heap/heap.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::heap;

TEST(heap_review, a_block_that_was_reallocated_in_place_is_freed_by_its_page_and_not_by_its_size) {
    if (tenure::checks::caller) GTEST_SKIP() << "blocks of checked builds have a size word";
    heap tested;
    for (const auto& [first, then] : {std::pair<std::size_t, std::size_t>{48, 32}, {40'000, 20'480}}) {
        void* const block = tested.allocate(first);
        void* const again = tested.reallocate(block, then);
        tested.deallocate(again, then);
        std::vector<void*> others;
        for (int each = 0; each < 100; ++each) {
            others.push_back(tested.allocate(then, 32));
            EXPECT_EQ(tenure::address_of(others.back()) % 32, 0u);
        }
        for (void* const other : others) tested.deallocate(other, then, 32);
    }
    tested.trim();
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_EQ(tested.stats().reserved_bytes, 0u);
}

TEST(heap_review, a_free_with_a_size_puts_a_block_of_the_process_heap_among_those_of_its_page) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds keep no blocks at hand";
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
    for (const auto& [first, then] : {std::pair<std::size_t, std::size_t>{48, 32}, {112, 64}, {1024, 520}}) {
        heap::process().deallocate(heap::process().allocate(then)); // there is one at hand
        void* const block = heap::process().reallocate(heap::process().allocate(first), then);
        ASSERT_EQ(heap::process().usable_size(block), first) << "it has shrunk where it is";
        tenure::deallocate(block, then, tenure::lifetime::persistent);
        void* const smaller = tenure::allocate(then, tenure::lifetime::persistent);
        void* const as_before = tenure::allocate(first, tenure::lifetime::persistent);
        EXPECT_NE(smaller, block);
        EXPECT_LT(heap::process().usable_size(smaller), first);
        EXPECT_EQ(as_before, block) << "what was freed last is taken first";
        tenure::deallocate(smaller, then, tenure::lifetime::persistent);
        tenure::deallocate(as_before, first, tenure::lifetime::persistent);
    }
    EXPECT_TRUE(heap::process().valid());
}

TEST(heap_review, a_free_with_a_size_keeps_a_block_with_an_owner_from_those_without) {
    if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "the heap is malloc's";
    const tenure::tag owner = tenure::tag::named("freed with a size");
    void* const kept = tenure::allocate(64, tenure::lifetime::persistent);
    void* block = nullptr;
    {
        const tenure::tag_scope scope(owner);
        block = tenure::allocate(64, tenure::lifetime::persistent);
    }
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count, 1u);
    tenure::deallocate(kept, 64, tenure::lifetime::persistent);
    tenure::deallocate(block, 64, tenure::lifetime::persistent);
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count, 0u);
    void* const of_nobody = tenure::allocate(64, tenure::lifetime::persistent);
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count, 0u);
    if (!tenure::checks::caller) {
        EXPECT_EQ(of_nobody, kept) << "what was freed last of those without an owner";
    }
    tenure::deallocate(of_nobody, 64, tenure::lifetime::persistent);
}

TEST(heap_review, the_child_of_a_fork_under_a_tag_keeps_the_caches_of_its_thread) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    for (const bool inside : {true, false}) {
        pid_t child = -1;
        {
            const tenure::tag_scope scope("forker");
            heap::process().deallocate(heap::process().allocate(64));
            if (inside) child = ::fork();
        }
        heap::process().deallocate(heap::process().allocate(64));
        if (!inside) child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            std::atomic<bool> is_wrong{false};
            const auto stamp = [&](unsigned char value) {
                for (int round = 0; round < 2000; ++round) {
                    unsigned char* blocks[20];
                    for (auto*& block : blocks) {
                        block = static_cast<unsigned char*>(heap::process().allocate(64));
                        std::memset(block, value, 64);
                    }
                    for (auto* const block : blocks) {
                        if (block[0] != value || block[63] != value) is_wrong = true;
                        heap::process().deallocate(block);
                    }
                }
            };
            std::thread other(stamp, static_cast<unsigned char>(1));
            stamp(2);
            other.join();
            std::_Exit(is_wrong ? 1 : 0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
}

TEST(heap_review, a_tag_that_nobody_registered_counts_for_nobody) {
    const tenure::tag_scope scope(tenure::tag::from_id(60'000));
    void* const large = heap::process().allocate(100'000);
    void* const small_block = heap::process().allocate(10);
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(60'000).live_count, 0u);
    heap::process().deallocate(large);
    heap::process().deallocate(small_block);
}

TEST(heap_review, a_huge_block_that_grows_has_the_alignment_that_is_asked_for) {
    heap tested;
    for (int round = 0; round < 6; ++round) {
        void* block = tested.allocate(40 * mebibyte, 32 * mebibyte);
        for (const std::size_t alignment : {32 * mebibyte, 64 * mebibyte}) {
            block = tested.reallocate(block, (60 + 30 * static_cast<std::size_t>(round)) * mebibyte, alignment);
            ASSERT_EQ(tenure::address_of(block) % alignment, 0u);
        }
        tested.deallocate(block);
    }
}

TEST(heap_review, any_pointer_may_be_asked_for_while_heaps_give_back) {
    heap asked;
    std::atomic<bool> is_over{false};
    std::atomic<void*> address{nullptr};
    std::thread asking([&] {
        while (!is_over) EXPECT_FALSE(asked.owns(address.load()));
    });
    heap other({.purge_delay_ns = 0});
    for (int round = 0; round < 300; ++round) {
        void* const block = other.allocate(33 * mebibyte);
        address = block;
        other.deallocate(block);
        other.trim();
    }
    is_over = true;
    asking.join();
}

void allocate_and_free() { heap::process().deallocate(heap::process().allocate(50'000)); }

TEST(heap_review, what_others_do_at_a_fork_may_allocate) {
    ASSERT_EQ(::pthread_atfork(&allocate_and_free, &allocate_and_free, &allocate_and_free), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        allocate_and_free();
        std::_Exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::atomic<int> heaps_seen{0};

void count_heaps(tenure::report_kind, std::string_view) noexcept {
    heap::for_each_usage([](const tenure::heap_usage&) { ++heaps_seen; });
}

TEST(heap_review, whoever_hears_of_a_mistake_at_a_threads_end_may_ask_for_all_heaps) {
    if (tenure::checks::caller) GTEST_SKIP() << "mistakes are found at once in this build";
    const tenure::report_handler before = tenure::set_report_handler(&count_heaps);
    {
        heap tested;
        support::on_fresh_thread([&] {
            void* const kept = tested.allocate(4000);
            void* const block = tested.allocate(4000);
            tested.deallocate(block);
            tested.deallocate(block);
            tested.deallocate(kept);
        });
    }
    tenure::set_report_handler(before);
    EXPECT_GE(heaps_seen.load(), 2);
}

TEST(heap_review, tagged_figures_are_true_after_a_double_free_and_after_clear) {
    const support::heard_reports heard;
    const tenure::tag owner = tenure::tag::named("review");
    void* block = nullptr;
    void* other = nullptr;
    {
        const tenure::tag_scope scope(owner);
        block = heap::process().allocate(100'000);
        other = heap::process().allocate(100'000);
    }
    heap::process().deallocate(block);
    heap::process().deallocate(block);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count, 1u);
    heap::process().deallocate(other);
    EXPECT_EQ(tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_bytes, 0u);
}

TEST(heap_review, reallocating_a_bad_block_is_reported_and_does_nothing) {
    if (!tenure::checks::caller || support::under_address_sanitizer()) GTEST_SKIP() << "not seen in this build";
    const support::heard_reports heard;
    heap tested;
    auto* const block = static_cast<unsigned char*>(tested.allocate(100));
    std::memset(block, 7, 100);
    const unsigned char behind = block[100];
    block[100] ^= 1;
    EXPECT_EQ(tested.reallocate(block, 5000), nullptr);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(block[99], 7);
    EXPECT_EQ(tested.stats().live_count, 1u);
    block[100] = behind;
    tested.deallocate(block);
    EXPECT_EQ(tested.reallocate(block, 10), nullptr);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
}

TEST(heap_review, a_refusal_looks_at_what_other_threads_have_freed) {
    heap tested({.limit_bytes = 2 * mebibyte});
    std::vector<void*> blocks;
    while (void* const block = tested.allocate(64)) blocks.push_back(block);
    for (std::size_t each = 0; each < blocks.size(); ++each) {
        if (each % 50 != 0) tested.deallocate(blocks[each]);
    }
    support::on_fresh_thread([&] {
        void* const block = tested.allocate(64);
        EXPECT_NE(block, nullptr);
        tested.deallocate(block);
    });
    for (std::size_t each = 0; each < blocks.size(); each += 50) tested.deallocate(blocks[each]);
    EXPECT_EQ(tested.stats().live_count, 0u);
}

TEST(heap_review, a_walk_tells_usable_sizes_of_huge_blocks_too) {
    heap tested;
    void* const block = tested.allocate(40'000'001);
    std::size_t seen = 0;
    tested.walk([&](void* walked, std::size_t bytes) { seen = walked == block ? bytes : 0; });
    EXPECT_EQ(seen, tested.usable_size(block));
    tested.deallocate(block);
}

TEST(heap_review, a_signal_that_is_sent_ends_the_process_also_with_guarded_blocks) {
    if (!tenure::checks::caller || support::under_sanitizer()) GTEST_SKIP() << "no faults are handled in this build";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            tenure::detail::guarded_blocks guarded;
            static_cast<void>(guarded.allocate(10, 16));
            ::raise(SIGSEGV);
            std::_Exit(0);
        },
        testing::KilledBySignal(SIGSEGV), "^$");
}

}
