// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a fork finds of other threads, and what its child makes of what they left. Both sides at work:
// heap_thread_test.cpp.

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/tag.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/child.hpp"
#include "support/process.hpp"

// The child of a fork cannot join threads of its parent that had just ended: that is no leak.
extern "C" const char* __tsan_default_options() { return "report_thread_leaks=0"; } // NOLINT: ThreadSanitizer's name

namespace {

using support::answer_of_child;
using support::waiting_thread;
using tenure::heap;
using tenure::tag;
using tenure::tag_scope;

constexpr std::size_t block_bytes = 64;
constexpr std::size_t class_index = tenure::detail::class_for(block_bytes, tenure::default_alignment);

// A thread's first call of a heap adds to the lists that a fork goes through to lock and to unlock.
TEST(heap_fork, threads_may_begin_with_many_heaps_meanwhile) {
    constexpr int thread_count = 6, heap_count = 8;
    const int rounds = support::under_sanitizer() ? 8 : 40; // a fork costs several times as much there
    for (int round = 0; round < rounds; ++round) {
        std::array<heap, heap_count> heaps;
        std::atomic<bool> may_begin{false};
        std::atomic<int> ended{0};
        std::vector<std::thread> threads;
        std::vector<void*> kept(thread_count * heap_count);
        for (int each = 0; each < thread_count; ++each) {
            threads.emplace_back([&, each] {
                may_begin.wait(false);
                for (int which = 0; which < heap_count; ++which) {
                    heap& tested = heaps[static_cast<std::size_t>(which)];
                    kept[static_cast<std::size_t>(each * heap_count + which)] = tested.allocate(40'000);
                    for (std::size_t bytes = 1; bytes < 500; bytes += 50) tested.deallocate(tested.allocate(bytes));
                }
                ++ended;
            });
        }
        may_begin = true;
        may_begin.notify_all();
        do {
            ASSERT_EQ(answer_of_child([] { return 0; }), 0);
        } while (ended < thread_count);
        for (std::thread& each : threads) each.join();
        for (int which = 0; which < heap_count; ++which) {
            heap& tested = heaps[static_cast<std::size_t>(which)];
            EXPECT_TRUE(tested.valid());
            EXPECT_EQ(tested.stats().live_count, static_cast<std::size_t>(thread_count));
            for (int each = 0; each < thread_count; ++each)
                tested.deallocate(kept[static_cast<std::size_t>(each * heap_count + which)]);
            EXPECT_EQ(tested.stats().live_count, 0u);
        }
    }
}

/// A source of a heap's blocks, for any thread.
class heap_source final : public tenure::block_source {
public:
    explicit heap_source(heap& from) : from_(from) {}
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return from_.allocate(bytes, alignment);
    }
    void release(void* block, std::size_t) noexcept override { from_.deallocate(block); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

private:
    heap& from_;
};

// A thread's first chunk is then its first call of the heap, under a lock of TempJob's.
TEST(heap_fork, threads_may_begin_with_a_temp_job_over_a_heap_meanwhile) {
    if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    heap behind;
    heap_source source(behind);
    tenure::temp_job::set_source(source);
    const int rounds = support::under_sanitizer() ? 8 : 40;
    for (int round = 0; round < rounds; ++round) {
        constexpr int thread_count = 8;
        std::atomic<int> ended{0};
        std::vector<std::thread> threads;
        for (int each = 0; each < thread_count; ++each) {
            threads.emplace_back([&] {
                for (int times = 0; times < 20; ++times)
                    tenure::temp_job::deallocate(tenure::temp_job::allocate(100'000));
                ++ended;
            });
        }
        do {
            EXPECT_EQ(answer_of_child([] { return 0; }), 0);
        } while (ended < thread_count && !HasFailure());
        for (std::thread& each : threads) each.join();
        tenure::temp_job::trim();
    }
    tenure::temp_job::set_source(tenure::page_source::process());
    EXPECT_EQ(behind.stats().live_count, 0u);
}

/// Forks of a process with another thread, that has blocks in use and others that wait in its cache.
class heap_child : public testing::Test {
protected:
    void SetUp() override {
        if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    }

    /// Of every kind, for the thread that calls.
    void use(heap& tested) {
        for (const std::size_t bytes : {block_bytes, std::size_t{3000}, std::size_t{100'000}, std::size_t{40'000'000}})
            alive.push_back(tested.allocate(bytes));
        for (int each = 0; each < 300; ++each) alive.push_back(tested.allocate(block_bytes));
        for (int each = 0; each < 200; ++each) {
            freed.push_back(alive.back());
            alive.pop_back();
        }
        for (void* const block : freed) tested.deallocate(block);
    }

    std::vector<void*> alive, freed;
};

TEST_F(heap_child, counts_as_its_parent_does_and_leaves_other_threads_caches_as_they_are) {
    heap tested;
    const waiting_thread other([&] { use(tested); });
    const tenure::allocator_stats before = tested.stats();
    const std::size_t cached = tenure::detail::core_of(tested).cached_count(class_index);
    EXPECT_EQ(before.live_count, alive.size());
    EXPECT_TRUE(cached != 0 || tenure::checks::caller) << "checked builds have no caches";
    const int answer = answer_of_child([&] {
        const tenure::allocator_stats now = tested.stats();
        const bool is_same = now.live_count == before.live_count && now.live_bytes == before.live_bytes;
        // Most children soon run another program: a fork is not to cost what emptying all caches does.
        const bool is_left = tenure::detail::core_of(tested).cached_count(class_index) == cached;
        return (is_same ? 0 : 1) + (is_left ? 0 : 2) + (tested.valid() ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

/// Checked builds reserve a heap for the thread that walks it; that thread runs only in the parent.
TEST_F(heap_child, uses_a_heap_that_another_thread_was_walking) {
    heap tested;
    use(tested);
    std::atomic<int> stage{0};
    std::thread walking([&] {
        tested.walk([&](void*, std::size_t) {
            if (int before = 0; stage.compare_exchange_strong(before, 1)) stage.notify_all();
            stage.wait(1);
        });
    });
    stage.wait(0);
    const int answer = answer_of_child([&] {
        void* const block = tested.allocate(100);
        tested.deallocate(block);
        return block != nullptr ? 0 : 1;
    });
    stage = 2;
    stage.notify_all();
    walking.join();
    EXPECT_EQ(answer, 0);
}

TEST_F(heap_child, walks_over_the_blocks_in_use_alone) {
    heap tested;
    const waiting_thread other([&] { use(tested); });
    std::sort(alive.begin(), alive.end());
    const int answer = answer_of_child([&] {
        std::vector<void*> seen;
        tested.walk([&](void* block, std::size_t) { seen.push_back(block); });
        std::sort(seen.begin(), seen.end());
        return seen == alive && tested.stats().live_count == alive.size() ? 0 : 1;
    });
    EXPECT_EQ(answer, 0);
}

TEST_F(heap_child, hands_a_cache_that_nobody_has_to_its_next_thread) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds have no caches";
    heap tested;
    const waiting_thread other([&] { use(tested); });
    const std::size_t cached = tenure::detail::core_of(tested).cached_count(class_index);
    const int answer = answer_of_child([&] {
        bool is_theirs = false, are_distinct = false;
        std::size_t left = cached;
        support::on_fresh_thread([&] {
            std::vector<void*> blocks;
            for (std::size_t each = 0; each < cached; ++each) blocks.push_back(tested.allocate(block_bytes));
            is_theirs = blocks.front() == freed.back();
            left = tenure::detail::core_of(tested).cached_count(class_index);
            for (int each = 0; each < 1000; ++each) blocks.push_back(tested.allocate(block_bytes));
            for (void* const block : blocks) std::memset(block, 1, block_bytes);
            blocks.insert(blocks.end(), alive.begin(), alive.end());
            std::sort(blocks.begin(), blocks.end());
            are_distinct = std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end();
            for (void* const block : blocks) tested.deallocate(block);
        });
        const bool is_good = tested.stats().live_count == 0 && tested.valid();
        return (is_theirs && left == 0 ? 0 : 1) + (are_distinct ? 0 : 2) + (is_good ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

TEST_F(heap_child, gives_back_what_caches_that_nobody_has_hold) {
    heap tested;
    const waiting_thread other([&] { use(tested); });
    tested.deallocate(tested.allocate(block_bytes)); // the child's own cache, so that it takes over none
    const int answer = answer_of_child([&] {
        for (void* const block : alive) tested.deallocate(block);
        const bool is_empty = tested.stats().live_count == 0;
        tested.trim();
        const bool is_given_back = tested.stats().reserved_bytes == 0;
        void* const again = tested.allocate(block_bytes);
        return (is_empty ? 0 : 1) + (is_given_back ? 0 : 2) + (again != nullptr && tested.valid() ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

std::size_t live_count(tag owner) {
    return tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count;
}

/// Allocates under what is the thread's tag, and says how many blocks more the tag has meanwhile.
std::size_t count_more(tag owner, int count) {
    const std::size_t before = live_count(owner);
    std::vector<void*> blocks;
    for (int each = 0; each < count; ++each) blocks.push_back(heap::process().allocate(block_bytes));
    const std::size_t during = live_count(owner);
    for (void* const block : blocks) heap::process().deallocate(block);
    return during - before;
}

class heap_child_tags : public heap_child {
protected:
    /// Under the tag, for the thread that calls.
    void use_under(tag of) {
        const tag_scope scope(of);
        use(heap::process());
    }
    void TearDown() override {
        for (void* const block : alive) heap::process().deallocate(block);
    }

    tag owner = tag::named("before the fork"), other_owner = tag::named("after the fork");
};

TEST_F(heap_child_tags, count_as_the_parent_does) {
    const waiting_thread other([&] { use_under(owner); });
    EXPECT_EQ(live_count(owner), alive.size());
    const int answer = answer_of_child([&] {
        const bool is_same = live_count(owner) == alive.size();
        for (void* const block : alive) heap::process().deallocate(block);
        const bool is_empty = live_count(owner) == 0;
        heap::process().trim();
        return (is_same ? 0 : 1) + (is_empty ? 0 : 2) + (live_count(owner) == 0 ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

// The gone thread's two caches are taken over by threads of the child that have no tag, or another one.
TEST_F(heap_child_tags, are_not_mixed_by_the_threads_of_the_child) {
    const waiting_thread other([&] { use_under(owner); });
    const int answer = answer_of_child([&] {
        std::size_t plain = 0, tagged = 0;
        const waiting_thread first([&] { plain += count_more(owner, 300); });
        const waiting_thread second([&] { plain += count_more(owner, 300); });
        support::on_fresh_thread([&] {
            const tag_scope scope(owner);
            tagged = count_more(owner, 300);
        });
        return (plain == 0 ? 0 : 1) + (tagged == 300 ? 0 : 2) + (heap::process().valid() ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
    const int answer_of_others = answer_of_child([&] {
        std::size_t mine = 0, theirs = 0;
        for (int round = 0; round < 2; ++round) {
            support::on_fresh_thread([&] {
                const tag_scope scope(other_owner);
                theirs += count_more(owner, 300);
                mine += count_more(other_owner, 300);
            });
        }
        const bool is_left = live_count(other_owner) == 0;
        return (mine == 600 && is_left ? 0 : 1) + (theirs == 0 ? 0 : 2) + (heap::process().valid() ? 0 : 4);
    });
    EXPECT_EQ(answer_of_others, 0);
}

}
