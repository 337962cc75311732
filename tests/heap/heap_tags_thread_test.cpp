// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Threads under one tag: each has pages of its own, as threads without a tag do, and the counts are those of all.

#include <algorithm>
#include <cstddef>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/thread.hpp>

namespace {

using tenure::heap;
using tenure::tag;
using tenure::tag_scope;
using tenure::detail::heap_shard;

constexpr std::size_t tagged_bytes = 64;

/// The part of the heap that the block's page belongs to.
[[nodiscard]] const heap_shard* owner_of(const void* block) {
    return tenure::detail::heap_segment::page_of(block, tenure::detail::max_segment_bytes).owner.load();
}

[[nodiscard]] tenure::detail::tagged_usage tagged_usage_of(tag owner) {
    return tenure::detail::core_of(heap::process()).usage_of_tag(owner.id());
}

class heap_tags_thread : public testing::Test {
protected:
    void SetUp() override {
        if (tenure::passthrough_enabled(tenure::part::heap)) GTEST_SKIP() << "malloc knows no tags";
    }
    ~heap_tags_thread() override { EXPECT_TRUE(heap::process().valid()); }

    /// Blocks of threads that are under the tag at the same time, each with so many.
    static std::vector<std::vector<void*>> of_threads(tag owner, std::size_t thread_count, std::size_t count) {
        std::vector<std::vector<void*>> blocks(thread_count);
        std::latch are_done(static_cast<std::ptrdiff_t>(thread_count));
        std::vector<std::thread> threads;
        for (auto& mine : blocks) {
            threads.emplace_back([&, owner] {
                const tag_scope tagged(owner);
                for (std::size_t each = 0; each < count; ++each) mine.push_back(heap::process().allocate(tagged_bytes));
                are_done.arrive_and_wait(); // none ends before the last one begins
            });
        }
        for (std::thread& each : threads) each.join();
        return blocks;
    }
    static void free_all(const std::vector<void*>& blocks) {
        for (void* const each : blocks) heap::process().deallocate(each);
    }
    static std::set<const heap_shard*> owners_of(const std::vector<void*>& blocks) {
        std::set<const heap_shard*> owners;
        for (const void* each : blocks) owners.insert(owner_of(each));
        return owners;
    }
};

TEST_F(heap_tags_thread, two_threads_under_one_tag_share_no_page_and_no_lock) {
    if (tenure::platform::processor_count() < 2) GTEST_SKIP() << "one processor: they share";
    const tag owner = tag::named("two threads");
    const auto blocks = of_threads(owner, 2, 1000);
    const auto first = owners_of(blocks[0]), second = owners_of(blocks[1]);
    ASSERT_EQ(first.size(), 1u);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_NE(*first.begin(), *second.begin());
    EXPECT_EQ((*first.begin())->tag, owner.id());
    EXPECT_EQ((*second.begin())->tag, owner.id());
    EXPECT_EQ(tagged_usage_of(owner).live_count, 2000u);
    // Another thread frees them: into its own cache, and from there to the pages that they are of.
    for (const auto& mine : blocks) free_all(mine);
    EXPECT_EQ(tagged_usage_of(owner).live_count, 0u);
    EXPECT_EQ(tagged_usage_of(owner).live_bytes, 0u);
}

TEST_F(heap_tags_thread, a_tag_has_no_more_parts_than_processors_and_threads_in_turn_use_one) {
    const tag many = tag::named("many threads"), turns = tag::named("threads in turn");
    std::set<const heap_shard*> owners;
    const auto blocks = of_threads(many, 3 * tenure::platform::processor_count(), 10);
    for (const auto& mine : blocks) owners.merge(owners_of(mine));
    EXPECT_LE(owners.size(), tenure::platform::processor_count());
    EXPECT_GE(owners.size(), std::min<std::size_t>(tenure::platform::processor_count(), 2));
    std::set<const heap_shard*> in_turn;
    std::vector<std::vector<void*>> later;
    for (int thread = 0; thread < 10; ++thread) {
        later.push_back(of_threads(turns, 1, 10)[0]);
        in_turn.merge(owners_of(later.back()));
    }
    EXPECT_EQ(in_turn.size(), 1u);
    for (const auto& mine : blocks) free_all(mine);
    for (const auto& mine : later) free_all(mine);
    EXPECT_EQ(tagged_usage_of(many).live_count + tagged_usage_of(turns).live_count, 0u);
}

TEST_F(heap_tags_thread, a_limit_counts_the_blocks_of_all_threads_and_is_exact_for_the_one_that_works) {
    const tag owner = tag::named("limit of two threads");
    constexpr std::size_t limit = std::size_t{4} << 20, held_count = (std::size_t{3} << 20) / tagged_bytes;
    ASSERT_TRUE(tenure::set_budget(owner, {limit, SIZE_MAX, nullptr, nullptr}));
    std::latch is_full(1), is_over(1);
    std::vector<void*> held, own;
    std::thread other([&] {
        const tag_scope tagged(owner);
        for (std::size_t each = 0; each < held_count; ++each) held.push_back(heap::process().allocate(tagged_bytes));
        is_full.count_down();
        is_over.wait();
    });
    is_full.wait();
    {
        const tag_scope tagged(owner);
        while (void* const block = heap::process().allocate(tagged_bytes)) own.push_back(block);
        EXPECT_EQ(heap::process().allocate(tagged_bytes), nullptr);
    }
    const std::size_t each_bytes =
        tagged_usage_of(owner).live_bytes / tagged_usage_of(owner).live_count; // checked builds: more
    EXPECT_EQ(tagged_usage_of(owner).live_count, held.size() + own.size());
    EXPECT_LE(tagged_usage_of(owner).live_bytes, limit);
    EXPECT_GT(tagged_usage_of(owner).live_bytes + each_bytes, limit);
    // What this thread frees of the other one's makes room for as many.
    for (int count = 0; count < 100; ++count) {
        heap::process().deallocate(held.back());
        held.pop_back();
    }
    {
        const tag_scope tagged(owner);
        for (int count = 0; count < 100; ++count) {
            own.push_back(heap::process().allocate(tagged_bytes));
            ASSERT_NE(own.back(), nullptr) << count;
        }
        EXPECT_EQ(heap::process().allocate(tagged_bytes), nullptr);
    }
    is_over.count_down();
    other.join();
    free_all(held);
    free_all(own);
    EXPECT_EQ(tagged_usage_of(owner).live_count, 0u);
    EXPECT_TRUE(tenure::set_budget(owner, {}));
}

}
