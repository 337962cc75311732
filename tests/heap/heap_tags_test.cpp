// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/tag.hpp>

#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using tenure::heap;
using tenure::tag;
using tenure::tag_scope;

std::size_t live_count(tag owner) {
    return tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_count;
}
std::size_t live_bytes(tag owner) {
    return tenure::detail::core_of(heap::process()).usage_of_tag(owner.id()).live_bytes;
}

TEST(heap_tags, count_what_is_allocated_inside_and_freed_anywhere) {
    const tag physics = tag::named("physics"), sound = tag::named("sound");
    std::vector<void*> blocks;
    void* const before = heap::process().allocate(64);
    {
        const tag_scope scope(physics);
        for (std::size_t bytes = 1; bytes < 100'000'000; bytes *= 2) {
            blocks.push_back(heap::process().allocate(bytes));
            std::memset(blocks.back(), 1, std::min<std::size_t>(bytes, 100'000));
        }
        EXPECT_EQ(live_count(physics), blocks.size());
        heap::process().deallocate(before); // of nobody
        EXPECT_EQ(live_count(physics), blocks.size());
        {
            const tag_scope inner(sound);
            blocks.push_back(heap::process().allocate(64));
            EXPECT_EQ(live_count(sound), 1u);
            EXPECT_EQ(heap::process().usage().thread_count, 1u) << "a thread, whatever its tags";
            heap::process().deallocate(blocks[3]); // of physics
        }
        EXPECT_EQ(live_count(physics), blocks.size() - 2);
    }
    EXPECT_GE(live_bytes(physics), 134'000'000u);
    EXPECT_LE(live_bytes(physics), 160'000'000u);
    EXPECT_EQ(live_count(tag{}), 0u) << "what has no tag is not asked for by it";
    void* const after = heap::process().allocate(64);
    EXPECT_EQ(live_count(sound), 1u);
    support::on_fresh_thread([&] {
        for (std::size_t each = 0; each < blocks.size(); ++each) {
            if (each != 3) heap::process().deallocate(blocks[each]);
        }
    });
    EXPECT_EQ(live_count(physics), 0u);
    EXPECT_EQ(live_bytes(physics), 0u);
    EXPECT_EQ(live_count(sound), 0u);
    heap::process().deallocate(after, 64);
    EXPECT_TRUE(heap::process().valid());
}

TEST(heap_tags, scopes_in_turn_and_before_a_threads_first_block_put_each_block_under_its_tag) {
    const tag one("one in turn"), two("two in turn");
    support::on_fresh_thread([&] {
        std::vector<void*> blocks;
        {
            const tag_scope early(one); // the thread has no cache yet
            blocks.push_back(heap::process().allocate(48));
        }
        blocks.push_back(heap::process().allocate(48));
        EXPECT_EQ(live_count(one), 1u);
        for (int turn = 0; turn < 10; ++turn) {
            const tag_scope outer(turn % 2 == 0 ? one : two);
            blocks.push_back(heap::process().allocate(48));
            {
                const tag_scope inner(two);
                const tag_scope none(tag{});
                blocks.push_back(heap::process().allocate(48)); // of nobody
            }
            blocks.push_back(heap::process().allocate(48));
        }
        EXPECT_EQ(live_count(one), 1u + 10u);
        EXPECT_EQ(live_count(two), 10u);
        for (void* const block : blocks) heap::process().deallocate(block);
        EXPECT_EQ(live_count(one) + live_count(two), 0u);
    });
}

TEST(heap_tags, random_operations_under_changing_tags_agree_with_a_model) {
    support::random numbers(support::new_seed());
    const tag owners[] = {tag{}, tag::named("a"), tag::named("b"), tag::named("c")};
    struct held {
        void* block;
        std::size_t bytes;
        std::size_t owner;
    };
    std::vector<held> alive;
    std::map<std::size_t, std::size_t> counts;
    for (int step = 0; step < 20'000; ++step) {
        const std::size_t current = numbers.below(std::size(owners));
        const tag_scope scope(owners[current]);
        for (int each = 0; each < 3; ++each) {
            if (numbers.one_in(2) && alive.size() < 2000) {
                const std::size_t bytes = numbers.one_in(100) ? numbers.below(200'000) : numbers.below(400);
                alive.push_back({heap::process().allocate(bytes), bytes, current});
                ++counts[current];
            } else if (!alive.empty()) {
                held& block = alive[numbers.below(alive.size())];
                if (numbers.one_in(10)) {
                    block.block = heap::process().reallocate(block.block, 2 * block.bytes + 1);
                    block.bytes = 2 * block.bytes + 1;
                    // Where it stays it keeps its owner; where it moves it gets the one of the moment.
                    --counts[block.owner];
                    std::size_t found = 0;
                    for (std::size_t owner = 1; owner < std::size(owners); ++owner)
                        found = live_count(owners[owner]) > counts[owner] ? owner : found;
                    block.owner = found;
                    ++counts[block.owner];
                    continue;
                }
                numbers.one_in(2) ? heap::process().deallocate(block.block)
                                  : heap::process().deallocate(block.block, block.bytes);
                --counts[block.owner];
                block = alive.back();
                alive.pop_back();
            }
        }
        if (step % 100 == 0) {
            for (std::size_t owner = 1; owner < std::size(owners); ++owner)
                ASSERT_EQ(live_count(owners[owner]), counts[owner]) << step;
        }
    }
    for (const held& block : alive) heap::process().deallocate(block.block);
    for (std::size_t owner = 1; owner < std::size(owners); ++owner) EXPECT_EQ(live_count(owners[owner]), 0u);
    EXPECT_TRUE(heap::process().valid());
}

TEST(heap_tags, a_thread_that_ends_inside_a_scope_leaves_its_count_exact) {
    const tag owner = tag::named("thread");
    for (int round = 0; round < 20; ++round) {
        void* kept = nullptr;
        support::on_fresh_thread([&] {
            auto* const scope = new tag_scope(owner); // ends with its thread alone
            std::vector<void*> blocks;
            for (int each = 0; each < 300; ++each) blocks.push_back(heap::process().allocate(100));
            for (void* const block : blocks) heap::process().deallocate(block);
            kept = heap::process().allocate(100);
            delete scope;
        });
        EXPECT_EQ(live_count(owner), 1u);
        heap::process().deallocate(kept);
        EXPECT_EQ(live_count(owner), 0u);
    }
}

std::size_t cached_of_tag(tag of) {
    std::size_t count = 0;
    const tenure::detail::thread_cache* each = tenure::detail::process_cache();
    for (each = each != nullptr ? each->main : nullptr; each != nullptr; each = each->next_of_thread) {
        if (each->tag != of.id()) continue;
        for (const tenure::detail::block_cache& blocks : each->of_class) count += blocks.count.load();
    }
    return count;
}

TEST(heap_tags, a_trim_empties_a_threads_caches_of_tags_that_it_does_not_use) {
    if (tenure::checks::caller) GTEST_SKIP() << "checked builds have no caches of tags";
    support::on_fresh_thread([] {
        const tag phase = tag::named("a phase that is over");
        {
            const tag_scope scope(phase);
            heap::process().deallocate(heap::process().allocate(100));
        }
        ASSERT_GT(cached_of_tag(phase), 0u);
        support::on_fresh_thread([] { heap::process().trim(); });
        heap::process().deallocate(heap::process().allocate(1'000'000)); // a slow call, of no tag
        EXPECT_EQ(cached_of_tag(phase), 0u);
    });
}

TEST(heap_tags, more_tags_than_have_pages_of_their_own_still_serve) {
    std::vector<void*> blocks;
    for (int each = 0; each < 400; ++each) {
        const tag_scope scope("tag " + std::to_string(each));
        blocks.push_back(heap::process().allocate(32));
        ASSERT_NE(blocks.back(), nullptr);
    }
    for (void* const block : blocks) heap::process().deallocate(block);
    EXPECT_TRUE(heap::process().valid());
}

}
